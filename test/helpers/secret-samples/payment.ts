import { ALNUM, B64, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

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
  'paypal-braintree-token': { match: [`«access_token$production$[0-9a-z]{16}$${HEX}{32}»`], clean: ['access_token$x'] },
  'paypal-secret': {
    match: [`PAYPAL_SECRET=«${ALNUM}{80}»`, `paypal_secret: "«${ALNUM}{80}»"`],
    clean: ['paypal: x', 'PAYPAL_SECRET=value_of_the_name'],
  },
  'flutterwave-key': { match: [`«FLWSECK_TEST-${HEX}{32}-X»`, `«FLWSECK_TEST-${HEX}{12}»`], clean: ['FLWSECK_TEST-x'] },
  'gocardless-token': { match: [`GOCARDLESS_TOKEN=«live_${ALNUM}{40}»`], clean: ['gocardless: live_x'] },
  'shippo-token': { match: [`«shippo_live_${HEX}{40}»`], clean: ['shippo_test_x'] },
  'easypost-key': { match: [`«EZAK${ALNUM}{54}»`], clean: ['EZAK'] },
  'duffel-token': { match: [`«duffel_test_${URL64}{43}»`], clean: ['duffel_test_x'] },
  'razorpay-key': { match: [`«rzp_live_${ALNUM}{14}»`], clean: ['rzp_live_x'] },
  'paystack-key': { match: [`«sk_live_${HEX}{40}»`], clean: ['sk_live_x'] },
  'checkout-key': { match: ['«sk_sbox_[0-9]{2}[a-z0-9]{24}#»'], clean: ['sk_x'] },
  'adyen-key': { match: [`«AQE${ALNUM}{40}-${B64}{44}-${ALNUM}{16}»`], clean: ['AQE-x'] },
  'freemius-secret-key': { match: [`'secret_key' => '«sk_${ALNUM}{29}»'`], clean: ["'secret_key' => 'sk_x'"] },
};
