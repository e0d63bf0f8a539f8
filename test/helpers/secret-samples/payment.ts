import { ALNUM, B64, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'shopify-token': { match: [`«shpat_${HEX}{32}»`, `«shpss_${ALNUM}{32}»`], clean: ['shpat_x', 'shpca_token'] },
  'stripe-webhook-secret': { match: [`«whsec_${ALNUM}{32}»`], clean: ['whsec_test'] },
  'square-token': { match: [`«sq0atp-${URL64}{22}»`, `«sq0csp-${URL64}{43}»`], clean: ['sq0atp-x'] },
  'paypal-braintree-token': { match: [`«access_token$production$[0-9a-z]{16}$${HEX}{32}»`], clean: ['access_token$x'] },
  'flutterwave-key': { match: [`«FLWSECK_TEST-${HEX}{32}-X»`, `«FLWSECK_TEST-${HEX}{12}»`], clean: ['FLWSECK_TEST-x'] },
  'razorpay-key': { match: [`«rzp_live_${ALNUM}{14}»`], clean: ['rzp_live_x'] },
  'checkout-key': { match: ['«sk_sbox_[0-9]{2}[a-z0-9]{24}#»'], clean: ['sk_x'] },
  'adyen-key': { match: [`«AQE${ALNUM}{40}-${B64}{44}-${ALNUM}{16}»`], clean: ['AQE-x'] },
};
