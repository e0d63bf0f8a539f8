import { ALNUM, HEX, type RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'clojars-token': { match: [`«CLOJARS_${HEX}{60}»`], clean: ['CLOJARS_USERNAME'] },
  'nuget-key': { match: ['«oy2[a-z0-9]{43}»'], clean: ['oy2x'] },
  'nuget-config-password': {
    match: ['<add key="ClearTextPassword" value="«[a-z]{8}[0-9]{2}»" />'],
    clean: ['<add key="Source" value="https://x" />'],
  },
  'yarn-registry-token': { match: [`npmAuthToken: «${ALNUM}{36}»`], clean: ['npmAuthToken: x'] },
  'json-web-token-cut': { match: [`«ey${ALNUM}{40}.ey${ALNUM}{40}.${ALNUM}{12}»`], clean: ['key.eyes.x'] },
};
