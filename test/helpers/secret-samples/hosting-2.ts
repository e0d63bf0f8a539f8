import { ALNUM, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'bugsnag-key': { match: [`BUGSNAG_API_KEY=«${HEX}{32}»`], clean: ['bugsnag: js'] },
  'pagerduty-key': { match: [`PAGERDUTY_API_KEY="«u+[0-9]{2}${ALNUM}{16}»"`], clean: ['pagerduty: schedule'] },
  'opsgenie-key': { match: [`OPSGENIE_API_KEY=«${UUID}»`], clean: ['opsgenie: alert'] },
  'meraki-key': { match: [`MERAKI_DASHBOARD_API_KEY=«${HEX}{40}»`], clean: ['meraki: switch'] },
  'okta-token': { match: [`OKTA_API_TOKEN=«00${URL64}{40}»`], clean: ['okta: org'] },
  'auth0-secret': { match: [`AUTH0_CLIENT_SECRET=«${URL64}{64}»`], clean: ['auth0: domain'] },
  'clerk-key': { match: [`«ak_live_${ALNUM}{32}»`], clean: ['ak_live_x'] },
  'workos-key': { match: [`«sk_a2V5[0-9]{2}${ALNUM}{60}»`], clean: ['sk_x', `risk_${ALNUM}{44}`] },
  'authress-key': { match: [`«sc_[a-z0-9]{20}.[a-z0-9]{4}.acc_[a-z0-9]{16}.${ALNUM}{44}»`], clean: ['sc_x.y.acc'] },
  'defined-networking-key': { match: [`«dnkey-${ALNUM}{26}-${ALNUM}{52}»`], clean: ['dnkey-x-y'] },
  'clickhouse-key': { match: [`«4b1d${ALNUM}{38}»`], clean: [`4b1d${HEX}{10}`] },
  'neon-key': { match: ['«napi_[a-z0-9]{64}»'], clean: ['napi_create_function'] },
  'xata-key': { match: [`«xau_${ALNUM}{40}»`], clean: ['xau_x'] },
  'mongodb-atlas-key': { match: [`«mdb_sa_sk_${URL64}{40}»`], clean: ['mdb_sa_sk_x'] },
  'confluent-key': {
    match: [`CONFLUENT_API_SECRET=«[0-9]{2}${ALNUM}{62}»`, 'confluent_key: «[A-Z0-9]{14}[0-9]{2}»'],
    clean: ['confluent: kafka'],
  },
  'aiven-password': { match: [`«AVNS_${URL64}{19}»`], clean: ['AVNS_x'] },
  'algolia-key': { match: [`ALGOLIA_API_KEY=«${HEX}{32}»`], clean: ['algolia: index'] },
  'contentful-token': {
    match: [`«CFPAT-${URL64}{43}»`, `CONTENTFUL_TOKEN=«[0-9]{2}${ALNUM}{41}»`],
    clean: ['CFPAT-x', 'contentful: space'],
  },
  'jfrog-key': { match: [`«AKCp${ALNUM}{69}»`, `«cmVmd${ALNUM}{59}»`], clean: ['AKCp'] },
  'jfrog-token': { match: [`ARTIFACTORY_TOKEN=«[0-9]{2}${ALNUM}{62}»`], clean: ['xray: scan'] },
  'cloudsmith-key': { match: [`CLOUDSMITH_API_KEY=«${HEX}{40}»`], clean: ['cloudsmith: push'] },
  'azure-devops-token': { match: ['AZURE_DEVOPS_PAT=«[a-z2-7]{52}»'], clean: ['azure: eu'] },
  'azure-key-beside-name': { match: [`AZURE_OPENAI_KEY=«${HEX}{32}»`], clean: ['azure: x'] },
  'vault-legacy-token': {
    match: [`VAULT_TOKEN=«s.[0-9]{2}${ALNUM}{22}»`],
    clean: ['s.length', 's.someLongMethodNameOfIt()'],
  },
  'grafana-legacy-key': { match: [`«eyJrIjoi${ALNUM}{80}»`], clean: ['eyJrIjoi'] },
};
