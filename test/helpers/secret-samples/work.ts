import { ALNUM, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'adafruit-io-key': { match: [`«aio_${ALNUM}{28}»`], clean: ['aio_read'] },
  'dropbox-token': {
    match: [`«sl.${URL64}{135}»`, 'DROPBOX_KEY=«[0-9]{2}[a-z0-9]{13}»'],
    clean: ['sl.x', 'dropbox: x'],
  },
  'facebook-token': { match: [`«EAAM${ALNUM}{110}»`, `«[0-9]{15}|${ALNUM}{27}»`], clean: ['EAAx', '1|2'] },
  'hubspot-private-app-token': { match: [`«pat-na1-${UUID}»`], clean: ['pat-na1-x'] },
  'new-relic-browser-or-user-id': {
    match: [`NEW_RELIC_LICENSE=«${HEX}{40}»`, `newrelic_key="«NRJS-${HEX}{19}»"`],
    clean: ['newrelic: agent'],
  },
  'brevo-key': { match: [`«xkeysib-${HEX}{64}-${ALNUM}{16}»`], clean: ['xkeysib-x'] },
  'resend-key': { match: [`«re_${ALNUM}{8}_[0-9]{2}${ALNUM}{22}»`], clean: ['re_compile_the_expression'] },
  'telnyx-key': { match: [`«KEY[0-9A-F]{32}_${ALNUM}{22}»`], clean: ['KEY_x'] },
  'typeform-token': { match: [`«tfp_${ALNUM}{59}»`], clean: ['tfp_x'] },
  'clickup-token': { match: ['«pk_[0-9]{8}_[A-Z0-9]{32}»'], clean: ['pk_1'] },
  'zapier-webhook': {
    match: ['https://hooks.zapier.com/hooks/catch/«[0-9]{7}/[a-z0-9]{7}»'],
    clean: ['https://hooks.zapier.com/hooks/catch/'],
  },
  'salesforce-token': { match: [`«00D${ALNUM}{12}!${ALNUM}{96}»`], clean: ['00D!x'] },
  'zoho-token': { match: [`«1000.${HEX}{32}.${HEX}{32}»`], clean: ['1000.5'] },
  'pubnub-key': { match: [`«sub-c-${UUID}»`], clean: ['sub-c-x'] },
  'voiceflow-key': { match: [`«VF.DM.${HEX}{24}.${ALNUM}{16}»`], clean: ['VF.x'] },
  'ubidots-token': { match: [`«BBFF-${ALNUM}{30}»`], clean: ['BBFF-x'] },
  'dependency-track-key': { match: [`«odt_${ALNUM}{32}»`], clean: ['odt_x'] },
  'service-name-and-key': {
    match: [
      'mixpanel_api_secret: "«[a-z]{2}[0-9]{3}[A-Za-z0-9]{30}»"',
      'Cloudinary secret key «[0-9]{3}[A-Za-z0-9]{24}»',
    ],
    clean: ['mixpanel key: value', 'mixpanel_token = reportEventsToTheBackendService', 'rollbar access token is here'],
  },
  'teams-legacy-webhook': {
    match: [`https://outlook.office.com/webhook/«${UUID}@${UUID}/IncomingWebhook/${HEX}{32}/${UUID}»`],
    clean: ['https://outlook.office.com/webhook/'],
  },
};
