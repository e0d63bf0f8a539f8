import { ALNUM, HEX, type RuleSamples, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'airtable-legacy-key': { match: [`AIRTABLE_API_KEY=«key[0-9]{2}${ALNUM}{12}»`], clean: ['airtable: base'] },
  'atlassian-legacy-token': { match: [`JIRA_TOKEN=«[0-9]{2}${ALNUM}{22}»`], clean: ['jira: PROJ-1'] },
  'brevo-key': { match: [`«xkeysib-${HEX}{64}-${ALNUM}{16}»`], clean: ['xkeysib-x'] },
  'resend-key': { match: [`«re_${ALNUM}{8}_[0-9]{2}${ALNUM}{22}»`], clean: ['re_compile_the_expression'] },
  'postmark-token': { match: [`POSTMARK_TOKEN=«${UUID}»`], clean: ['postmark: mail'] },
  'telnyx-key': { match: [`«KEY[0-9A-F]{32}_${ALNUM}{22}»`], clean: ['KEY_x'] },
  'typeform-token': { match: [`«tfp_${ALNUM}{59}»`], clean: ['tfp_x'] },
  'readme-key': { match: ['«rdme_[a-z0-9]{70}»'], clean: ['rdme_x'] },
  'frameio-token': { match: [`«fio-u-${ALNUM}{64}»`], clean: ['fio-u-x'] },
  'beamer-token': { match: [`BEAMER_KEY=«b_${ALNUM}{44}»`], clean: ['beamer: b_x'] },
  'maxmind-key': { match: [`«${ALNUM}{6}_${ALNUM}{29}_mmk»`], clean: ['x_mmk'] },
  'settlemint-token': { match: [`«sm_pat_${ALNUM}{16}»`], clean: ['sm_pat_x'] },
  'intra42-client-secret': { match: [`«s-s4t2ud-${HEX}{64}»`], clean: ['s-s4t2ud-x'] },
  'clickup-token': { match: ['«pk_[0-9]{8}_[A-Z0-9]{32}»'], clean: ['pk_1'] },
  'shortcut-token': { match: [`SHORTCUT_API_TOKEN=«${UUID}»`], clean: ['shortcut: ctrl'] },
  'zapier-webhook': {
    match: ['https://hooks.zapier.com/hooks/catch/«[0-9]{7}/[a-z0-9]{7}»'],
    clean: ['https://hooks.zapier.com/hooks/catch/'],
  },
  'recaptcha-secret': { match: [`RECAPTCHA_SECRET=«6L${ALNUM}{38}»`], clean: ['recaptcha: 6Lx'] },
  'salesforce-token': { match: [`«00D${ALNUM}{12}!${ALNUM}{96}»`], clean: ['00D!x'] },
  'zoho-token': { match: [`«1000.${HEX}{32}.${HEX}{32}»`], clean: ['1000.5'] },
  'pubnub-key': { match: [`«sub-c-${UUID}»`], clean: ['sub-c-x'] },
  'voiceflow-key': { match: [`«VF.DM.${HEX}{24}.${ALNUM}{16}»`], clean: ['VF.x'] },
  'ubidots-token': { match: [`«BBFF-${ALNUM}{30}»`], clean: ['BBFF-x'] },
  'one-password-secret-key': {
    match: [' «A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}»'],
    clean: ['A3-PAPER-SIZE'],
  },
  'dependency-track-key': { match: [`«odt_${ALNUM}{32}»`], clean: ['odt_x'] },
  'service-name-and-key': {
    match: [
      'mixpanel_api_secret: "«[a-z]{2}[0-9]{3}[A-Za-z0-9]{30}»"',
      'Cloudinary secret key «[0-9]{3}[A-Za-z0-9]{24}»',
    ],
    clean: ['mixpanel key: value', 'mixpanel_token = reportEventsToTheBackendService', 'rollbar access token is here'],
  },
  'sidekiq-url': {
    match: [`https://«${HEX}{8}:${HEX}{8}»@gems.contribsys.com/`],
    clean: ['https://gems.contribsys.com/'],
  },
  'teams-legacy-webhook': {
    match: [`https://outlook.office.com/webhook/«${UUID}@${UUID}/IncomingWebhook/${HEX}{32}/${UUID}»`],
    clean: ['https://outlook.office.com/webhook/'],
  },
};
