import { ALNUM, B64, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'aws-access-key-id': {
    match: ['id «AKIA[A-Z2-7]{16}»', '\x1b\\[32m«ASIA[A-Z2-7]{16}»\x1b\\[0m'],
    clean: ['AKIA[a-z]{16}', 'the AKIA prefix', 'AAKIAAAAAAAAAAAAAAAAAA'],
  },
  'aws-secret-access-key': {
    match: [
      `aws_secret_access_key = «${B64}{40}»`,
      `"SecretAccessKey": "«${B64}{40}»"`,
      `\\\\"secretKey\\\\":\\\\"«${B64}{40}»\\\\"`,
    ],
    clean: [`aws_secret_access_key = ${B64}{20}`, `secret_key_id: ${HEX}{64}`],
  },
  'aws-key-pair-line': { match: [`AKIA[A-Z2-7]{16},«${B64}{40}»`], clean: ['AKIA[A-Z2-7]{16}, name, group'] },
  'aws-session-token': { match: [`"SessionToken": "«${B64}{120}»"`], clean: [`session_token: ${B64}{20}`] },
  'google-api-key': { match: [`key=«AIza${URL64}{35}»`], clean: ['AIza...'] },
  'google-oauth-client-secret': { match: [`«GOCSPX-${URL64}{28}»`], clean: ['GOCSPX-secret'] },
  'google-oauth-token': { match: [`«ya29.${URL64}{60}»`, `«1//0${URL64}{40}»`], clean: ['ya29.', 'http://localhost'] },
  'gcp-private-key-id': {
    match: [`"private_key_id": "«${HEX}{40}»"`],
    clean: ['"private_key_id": "id"', `commit ${HEX}{40}`],
  },
  'azure-shared-key': {
    match: [`AccountName=a;AccountKey=«${B64}{86}==»;EndpointSuffix=x`, `SharedAccessKey=«${B64}{43}=»`],
    clean: ['AccountKey=<key>', 'AccountKey=$\\{KEY}'],
  },
  'azure-sas-signature': {
    match: [`https://a.blob.core.windows.net/c?sv=1&sig=«${ALNUM}{43}%3D»`],
    clean: ['?sig=x', '&sig=[a-z]{20}'],
  },
  'azure-client-secret': { match: [`secret «${ALNUM}{3}8Q~${ALNUM}{34}»`], clean: ['8Q~', 'abc8Q~short'] },
  'digitalocean-token': { match: [`«dop_v1_${HEX}{64}»`, `«doo_v1_${HEX}{64}»`], clean: ['dop_v1_token'] },
  'heroku-key': { match: [`«HRKU-${URL64}{60}»`], clean: ['HRKU-1'] },
  'heroku-legacy-key': { match: [`HEROKU_API_KEY=«${UUID}»`], clean: [`heroku release ${UUID}`, `id: ${UUID}`] },
  'databricks-token': { match: [`«dapi${HEX}{32}»`, `«dapi${HEX}{32}-2»`], clean: ['dapi.example', 'dapient'] },
  'vault-token': { match: [`«hvs.${URL64}{90}»`, `«hvb.${URL64}{120}»`], clean: ['hvs.token'] },
  'terraform-cloud-token': { match: [`«${ALNUM}{14}.atlasv1.${URL64}{67}»`], clean: ['x.atlasv1.y'] },
  'doppler-token': { match: [`«dp.pt.${ALNUM}{43}»`, `«dp.st.dev.${ALNUM}{43}»`], clean: ['dp.pt.x'] },
  'pulumi-token': { match: [`«pul-${HEX}{40}»`], clean: ['pul-request'] },
  'fly-token': { match: [`«fo1_${URL64}{43}»`, `«fm2_${B64}{100}==»`], clean: ['fo1_x', 'fm1_radio'] },
  'planetscale-token': { match: [`«pscale_tkn_${URL64}{43}»`], clean: ['pscale_pw_x'] },
  'supabase-key': {
    match: [`«sbp_${HEX}{40}»`, `«sb_secret_${URL64}{31}»`],
    clean: ['sb_secret_x', 'sb_publishable_[A-Za-z0-9]{31}'],
  },
  'tailscale-key': { match: [`«tskey-auth-${ALNUM}{12}-${ALNUM}{32}»`], clean: ['tskey-auth-x-y'] },
  'grafana-token': { match: [`«glsa_${ALNUM}{32}_${HEX}{8}»`, `«glc_${B64}{64}==»`], clean: ['glsa_x', 'glc_info'] },
  'new-relic-key': { match: ['«NRAK-[A-Z0-9]{27}»', `«NRII-${URL64}{32}»`], clean: ['NRAK-x'] },
  'sentry-token': { match: [`«sntrys_${B64}{80}»`, `«sntryu_${HEX}{64}»`], clean: ['sntrys_x'] },
};
