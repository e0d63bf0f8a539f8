import { ALNUM, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'pypi-token': { match: [`«pypi-AgEI${URL64}{70}»`], clean: ['pypi-publish'] },
  'crates-io-token': { match: [`token «cio${ALNUM}{32}»`], clean: ['cion', `fascio${ALNUM}{32}`] },
  'docker-hub-token': { match: [`«dckr_pat_${URL64}{27}»`], clean: ['dckr_pat_x'] },
  'nuget-key': { match: ['«oy2[a-z0-9]{43}»'], clean: ['oy2x'] },
  'json-web-token-cut': { match: [`«ey${ALNUM}{40}.ey${ALNUM}{40}.${ALNUM}{12}»`], clean: ['key.eyes.x'] },
};
