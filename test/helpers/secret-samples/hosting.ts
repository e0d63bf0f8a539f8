import { ALNUM, B64, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'aws-bedrock-key': {
    match: [`«ABSK${B64}{120}=»`, `«bedrock-api-key-${B64}{60}»`],
    clean: ['ABSK', 'bedrock-api-key-x'],
  },
  'alibaba-access-key-id': { match: [`id «LTAI[0-9]{1}${ALNUM}{19}»`], clean: ['LTAI', 'voltairean'] },
  'tencent-secret-id': { match: [`«AKID[0-9]{2}${ALNUM}{30}»`], clean: ['AKID'] },
  'yandex-key': { match: [`«AQVN${URL64}{36}»`, `«t1.${URL64}{60}.${ALNUM}{86}»`], clean: ['AQVN', 'YCbCr'] },
  'scaleway-key': { match: ['«SCW[A-Z0-9]{17}»', `SCW_SECRET_KEY=«${UUID}»`], clean: ['scaleway: region fr-par'] },
  'netlify-token': {
    match: [`«nfp_${ALNUM}{36}»`, `NETLIFY_AUTH_TOKEN=«[0-9]{2}${ALNUM}{41}»`],
    clean: ['netlify: deploy', 'nfp_x'],
  },
  'vercel-token': {
    match: [`VERCEL_TOKEN=«[0-9]{2}${ALNUM}{22}»`, `«vcp_${ALNUM}{56}»`],
    clean: ['vercel: deploy --prod'],
  },
  'render-key': { match: [`«rnd_[0-9]{2}${ALNUM}{30}»`], clean: ['rnd_seed'] },
  'prefect-key': { match: [`«pnu_${ALNUM}{36}»`], clean: ['pnu_x'] },
  'buildkite-token': { match: [`«bkua_${HEX}{40}»`], clean: ['bkua_token'] },
  'circleci-token': { match: [`«CCIPAT_${ALNUM}{22}_${HEX}{40}»`], clean: ['CCIPAT_x'] },
  'sonar-token': { match: [`«squ_${HEX}{40}»`, `sonar.login=«${HEX}{40}»`], clean: ['sonar.host.url=x', 'squ_x'] },
  'codeclimate-token': { match: [`CC_TEST_REPORTER_ID: «${HEX}{64}»`], clean: ['CC_TEST_REPORTER_ID: x'] },
  'sourcegraph-token': { match: [`«sgp_${HEX}{16}_${HEX}{40}»`, `«slk_${HEX}{64}»`], clean: ['sgp_x'] },
  'rancher-token': { match: ['«token-[a-z0-9]{5}:[a-z0-9]{54}»'], clean: ['token-abcde:x'] },
  'dynatrace-token': { match: ['«dt0c01.[A-Z0-9]{24}.[A-Z0-9]{64}»'], clean: ['dt0c01.x.y'] },
  'honeycomb-key': { match: ['«hcaik_[a-z0-9]{58}»'], clean: ['hcaik_x'] },
  'axiom-token': { match: [`«xaat-${UUID}»`], clean: ['xaat-x'] },
  'posthog-key': { match: [`«phx_[0-9]{2}${ALNUM}{43}»`], clean: ['phx_new', `phc_${ALNUM}{43}`] },
  'logfire-token': { match: [`«pylf_v1_us_${ALNUM}{43}»`], clean: ['pylf_v1'] },
  'launchdarkly-key': {
    match: [`«sdk-${UUID}»`, `LAUNCHDARKLY_TOKEN=«[0-9]{2}${ALNUM}{38}»`],
    clean: ['sdk-version', 'launchdarkly: flag'],
  },
  'clerk-key': { match: [`«ak_live_${ALNUM}{32}»`], clean: ['ak_live_x'] },
  'workos-key': { match: [`«sk_a2V5[0-9]{2}${ALNUM}{60}»`], clean: ['sk_x', `risk_${ALNUM}{44}`] },
  'defined-networking-key': { match: [`«dnkey-${ALNUM}{26}-${ALNUM}{52}»`], clean: ['dnkey-x-y'] },
  'neon-key': { match: ['«napi_[a-z0-9]{64}»'], clean: ['napi_create_function'] },
  'xata-key': { match: [`«xau_${ALNUM}{40}»`], clean: ['xau_x'] },
  'mongodb-atlas-key': { match: [`«mdb_sa_sk_${URL64}{40}»`], clean: ['mdb_sa_sk_x'] },
  'confluent-key': {
    match: [`CONFLUENT_API_SECRET=«[0-9]{2}${ALNUM}{62}»`, 'confluent_key: «[A-Z0-9]{14}[0-9]{2}»'],
    clean: ['confluent: kafka'],
  },
  'aiven-password': { match: [`«AVNS_${URL64}{19}»`], clean: ['AVNS_x'] },
  'contentful-token': {
    match: [`«CFPAT-${URL64}{43}»`, `CONTENTFUL_TOKEN=«[0-9]{2}${ALNUM}{41}»`],
    clean: ['CFPAT-x', 'contentful: space'],
  },
  'azure-devops-token': { match: ['AZURE_DEVOPS_PAT=«[a-z2-7]{52}»'], clean: ['azure: eu'] },
};
