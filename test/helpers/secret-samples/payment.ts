import { ALNUM, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'stripe-key': {
    match: [`«sk_live_${ALNUM}{24}»`, `«rk_test_${ALNUM}{99}»`],
    clean: ['sk_live_...', 'pk_live_[A-Za-z0-9]{24}'],
  },
  'stripe-webhook-secret': { match: [`«whsec_${ALNUM}{32}»`], clean: ['whsec_test'] },
  'square-token': { match: [`«sq0atp-${URL64}{22}»`, `«sq0csp-${URL64}{43}»`], clean: ['sq0atp-x'] },
  'square-access-token': {
    match: [`"«EAAA${URL64}{60}»"`],
    clean: [`EAAA${URL64}{10}`, 'EAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  },
  'shopify-token': { match: [`«shpat_${HEX}{32}»`, `«shpss_${HEX}{32}»`], clean: ['shpat_token'] },
};
