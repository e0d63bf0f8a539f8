import { ALNUM, B64, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'aws-access-key-id': {
    match: ['id «AKIA[A-Z2-7]{16}»', '\x1b\\[32m«ASIA[A-Z2-7]{16}»\x1b\\[0m'],
    clean: ['AKIA[a-z]{16}', 'the AKIA prefix', 'AAKIAAAAAAAAAAAAAAAAAA'],
  },
  'aws-key-pair-line': { match: [`AKIA[A-Z2-7]{16},«${B64}{40}»`], clean: ['AKIA[A-Z2-7]{16}, name, group'] },
  'google-oauth-client-secret': { match: [`«GOCSPX-${URL64}{28}»`], clean: ['GOCSPX-secret'] },
  'google-oauth-token': { match: [`«ya29.${URL64}{60}»`, `«1//0${URL64}{40}»`], clean: ['ya29.', 'http://localhost'] },
  'gcp-private-key-id': {
    match: [`"private_key_id": "«${HEX}{40}»"`],
    clean: ['"private_key_id": "id"', `commit ${HEX}{40}`],
  },
  'heroku-key': { match: [`«HRKU-${URL64}{60}»`], clean: ['HRKU-1'] },
  'vault-token': { match: [`«hvs.${URL64}{90}»`, `«hvb.${URL64}{120}»`], clean: ['hvs.token'] },
  'doppler-token': { match: [`«dp.pt.${ALNUM}{43}»`, `«dp.st.dev.${ALNUM}{43}»`], clean: ['dp.pt.x'] },
  'fly-token': { match: [`«fo1_${URL64}{43}»`, `«fm2_${B64}{100}==»`], clean: ['fo1_x', 'fm1_radio'] },
  'supabase-key': {
    match: [`«sbp_${HEX}{40}»`, `«sb_secret_${URL64}{31}»`],
    clean: ['sb_secret_x', 'sb_publishable_[A-Za-z0-9]{31}'],
  },
  'tailscale-key': { match: [`«tskey-auth-${ALNUM}{12}-${ALNUM}{32}»`], clean: ['tskey-auth-x-y'] },
  'new-relic-key': { match: ['«NRAK-[A-Z0-9]{27}»', `«NRII-${URL64}{32}»`], clean: ['NRAK-x'] },
  'sentry-token': { match: [`«sntrys_${B64}{80}»`, `«sntryu_${HEX}{64}»`], clean: ['sntrys_x'] },
};
