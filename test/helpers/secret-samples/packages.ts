import { ALNUM, B64, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'npm-token': { match: [`«npm_${ALNUM}{36}»`], clean: ['npm_config_registry', 'npm_package_version'] },
  'npmrc-credential': {
    match: [`//registry.example.com/:_authToken=«${ALNUM}{20}»`, `_auth = "«${B64}{24}»"`],
    clean: ['_authToken=$\\{NPM_TOKEN}', '//registry.example.com/:always-auth=true'],
  },
  'pypi-token': { match: [`«pypi-AgEI${URL64}{70}»`], clean: ['pypi-publish'] },
  'rubygems-key': { match: [`«rubygems_${HEX}{48}»`], clean: ['rubygems_version'] },
  'crates-io-token': { match: [`token «cio${ALNUM}{32}»`], clean: ['cion', `fascio${ALNUM}{32}`] },
  'docker-hub-token': { match: [`«dckr_pat_${URL64}{27}»`], clean: ['dckr_pat_x'] },
  'docker-registry-auth': {
    match: [`"auth": "«${B64}{28}»"`, `"auths":{"r":{"auth":"«${B64}{24}»"}}`],
    clean: ['"auth": "required"', '"auth": {}'],
  },
  'clojars-token': { match: [`«CLOJARS_${HEX}{60}»`], clean: ['CLOJARS_USERNAME'] },
  'nuget-key': { match: ['«oy2[a-z0-9]{43}»'], clean: ['oy2x'] },
  'nuget-config-password': {
    match: ['<add key="ClearTextPassword" value="«[a-z]{8}[0-9]{2}»" />'],
    clean: ['<add key="Source" value="https://x" />'],
  },
  'yarn-registry-token': { match: [`npmAuthToken: «${ALNUM}{36}»`], clean: ['npmAuthToken: x'] },
  'json-web-token-cut': { match: [`«ey${ALNUM}{40}.ey${ALNUM}{40}.${ALNUM}{12}»`], clean: ['key.eyes.x'] },
};
