import { ALNUM, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'github-token': {
    match: [
      `«ghp_${ALNUM}{36}»`,
      `x«gho_${ALNUM}{36}»`,
      `"«ghs_${ALNUM}{36}»"`,
      `«ghu_${ALNUM}{36}»`,
      `«ghr_${ALNUM}{76}»`,
    ],
    clean: ['ghp_example', 'ghx_[A-Za-z0-9]{36}'],
  },
  'github-fine-grained-token': { match: [`«github_pat_${ALNUM}{22}_${ALNUM}{59}»`], clean: ['github_pat_your_token'] },
  'gitlab-token': {
    match: [`«glpat-${URL64}{20}»`, `«gldt-${URL64}{20}»`, `«glpat-${URL64}{27}.[0-9a-z]{2}.[0-9a-z]{9}»`],
    clean: ['glpat-token', 'gldt-[a-z]{5}'],
  },
};
