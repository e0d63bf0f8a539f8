import { ALNUM, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'adafruit-token': {
    match: ['ADAFRUIT_KEY=«[0-9]{2}[a-z0-9]{30}»', 'adafruit_key: "«[0-9]{2}[a-z0-9]{30}»"'],
    clean: ['adafruit: x', 'ADAFRUIT_KEY=value_of_the_name'],
  },
  'adafruit-io-key': { match: [`«aio_${ALNUM}{28}»`], clean: ['aio_read'] },
  'adobe-client-secret': { match: [`«p8e-${ALNUM}{32}»`], clean: ['p8e-x'] },
  'adobe-token': {
    match: [`ADOBE_CLIENT=«${HEX}{32}»`, `adobe_client: "«${HEX}{32}»"`],
    clean: ['adobe: x', 'ADOBE_CLIENT=value_of_the_name'],
  },
  'asana-token': {
    match: ['ASANA_TOKEN=«[0-9]{2}[a-z0-9]{30}»', 'asana_token: "«[0-9]{2}[a-z0-9]{30}»"'],
    clean: ['asana: x', 'ASANA_TOKEN=value_of_the_name'],
  },
  'bitbucket-token': {
    match: ['BITBUCKET_SECRET=«[0-9]{2}[a-z0-9]{30}»', 'bitbucket_secret: "«[0-9]{2}[a-z0-9]{30}»"'],
    clean: ['bitbucket: x', 'BITBUCKET_SECRET=value_of_the_name'],
  },
  'bittrex-token': {
    match: ['BITTREX_KEY=«[0-9]{2}[a-z0-9]{30}»', 'bittrex_key: "«[0-9]{2}[a-z0-9]{30}»"'],
    clean: ['bittrex: x', 'BITTREX_KEY=value_of_the_name'],
  },
  'coinbase-token': {
    match: ['COINBASE_SECRET=«[0-9]{2}[a-z0-9]{62}»', 'coinbase_secret: "«[0-9]{2}[a-z0-9]{62}»"'],
    clean: ['coinbase: x', 'COINBASE_SECRET=value_of_the_name'],
  },
  'kraken-token': {
    match: [`KRAKEN_SECRET=«${ALNUM}{86}»`, `kraken_secret: "«${ALNUM}{86}»"`],
    clean: ['kraken: x', 'KRAKEN_SECRET=value_of_the_name'],
  },
  'kucoin-token': {
    match: [`KUCOIN_SECRET=«${UUID}»`, `kucoin_secret: "«${UUID}»"`],
    clean: ['kucoin: x', 'KUCOIN_SECRET=value_of_the_name'],
  },
  'binance-token': {
    match: [`BINANCE_SECRET=«${ALNUM}{64}»`, `binance_secret: "«${ALNUM}{64}»"`],
    clean: ['binance: x', 'BINANCE_SECRET=value_of_the_name'],
  },
  'etsy-token': {
    match: ['ETSY_KEY=«[0-9]{2}[a-z0-9]{22}»', 'etsy_key: "«[0-9]{2}[a-z0-9]{22}»"'],
    clean: ['etsy: x', 'ETSY_KEY=value_of_the_name'],
  },
  'dropbox-token': {
    match: [`«sl.${URL64}{135}»`, 'DROPBOX_KEY=«[0-9]{2}[a-z0-9]{13}»'],
    clean: ['sl.x', 'dropbox: x'],
  },
  'facebook-token': { match: [`«EAAM${ALNUM}{110}»`, `«[0-9]{15}|${ALNUM}{27}»`], clean: ['EAAx', '1|2'] },
  'facebook-secret': {
    match: [`FACEBOOK_SECRET=«${HEX}{32}»`, `facebook_secret: "«${HEX}{32}»"`],
    clean: ['facebook: x', 'FACEBOOK_SECRET=value_of_the_name'],
  },
  'finicity-token': {
    match: [`FINICITY_KEY=«${HEX}{32}»`, `finicity_key: "«${HEX}{32}»"`],
    clean: ['finicity: x', 'FINICITY_KEY=value_of_the_name'],
  },
  'finnhub-token': {
    match: ['FINNHUB_KEY=«[0-9]{2}[a-z0-9]{18}»', 'finnhub_key: "«[0-9]{2}[a-z0-9]{18}»"'],
    clean: ['finnhub: x', 'FINNHUB_KEY=value_of_the_name'],
  },
  'flickr-token': {
    match: [`FLICKR_KEY=«${HEX}{32}»`, `flickr_key: "«${HEX}{32}»"`],
    clean: ['flickr: x', 'FLICKR_KEY=value_of_the_name'],
  },
  'freshbooks-token': {
    match: [`FRESHBOOKS_KEY=«${HEX}{64}»`, `freshbooks_key: "«${HEX}{64}»"`],
    clean: ['freshbooks: x', 'FRESHBOOKS_KEY=value_of_the_name'],
  },
  'gitter-token': {
    match: [`GITTER_TOKEN=«${HEX}{40}»`, `gitter_token: "«${HEX}{40}»"`],
    clean: ['gitter: x', 'GITTER_TOKEN=value_of_the_name'],
  },
  'hubspot-private-app-token': { match: [`«pat-na1-${UUID}»`], clean: ['pat-na1-x'] },
  'hubspot-token': {
    match: [`HUBSPOT_KEY=«${UUID}»`, `hubspot_key: "«${UUID}»"`],
    clean: ['hubspot: x', 'HUBSPOT_KEY=value_of_the_name'],
  },
  'intercom-token': {
    match: [`INTERCOM_TOKEN=«${ALNUM}{60}»`, `intercom_token: "«${ALNUM}{60}»"`],
    clean: ['intercom: x', 'INTERCOM_TOKEN=value_of_the_name'],
  },
  'linkedin-token': {
    match: ['LINKEDIN_SECRET=«[0-9]{2}[a-z0-9]{12}»', 'linkedin_secret: "«[0-9]{2}[a-z0-9]{12}»"'],
    clean: ['linkedin: x', 'LINKEDIN_SECRET=value_of_the_name'],
  },
  'linear-client-secret': { match: [`LINEAR_CLIENT_SECRET=«${HEX}{32}»`], clean: ['linear-gradient(1, 2)'] },
  'lob-key': { match: [`LOB_API_KEY=«test_${HEX}{35}»`], clean: ['blob: test_x'] },
  'looker-token': {
    match: ['LOOKER_SECRET=«[0-9]{2}[a-z0-9]{22}»', 'looker_secret: "«[0-9]{2}[a-z0-9]{22}»"'],
    clean: ['looker: x', 'LOOKER_SECRET=value_of_the_name'],
  },
  'mattermost-token': {
    match: ['MATTERMOST_TOKEN=«[0-9]{2}[a-z0-9]{24}»', 'mattermost_token: "«[0-9]{2}[a-z0-9]{24}»"'],
    clean: ['mattermost: x', 'MATTERMOST_TOKEN=value_of_the_name'],
  },
  'messagebird-token': {
    match: ['MESSAGEBIRD_TOKEN=«[0-9]{2}[a-z0-9]{23}»', 'messagebird_token: "«[0-9]{2}[a-z0-9]{23}»"'],
    clean: ['messagebird: x', 'MESSAGEBIRD_TOKEN=value_of_the_name'],
  },
  'new-relic-browser-or-user-id': {
    match: [`NEW_RELIC_LICENSE=«${HEX}{40}»`, `newrelic_key="«NRJS-${HEX}{19}»"`],
    clean: ['newrelic: agent'],
  },
  'nytimes-token': {
    match: ['NYTIMES_KEY=«[0-9]{2}[a-z0-9]{30}»', 'nytimes_key: "«[0-9]{2}[a-z0-9]{30}»"'],
    clean: ['nytimes: x', 'NYTIMES_KEY=value_of_the_name'],
  },
  'plaid-token': {
    match: ['PLAID_SECRET=«[0-9]{2}[a-z0-9]{28}»', 'plaid_secret: "«[0-9]{2}[a-z0-9]{28}»"'],
    clean: ['plaid: x', 'PLAID_SECRET=value_of_the_name'],
  },
  'privateai-token': {
    match: [`PRIVATEAI_KEY=«${HEX}{32}»`, `privateai_key: "«${HEX}{32}»"`],
    clean: ['privateai: x', 'PRIVATEAI_KEY=value_of_the_name'],
  },
  'rapidapi-token': {
    match: [`RAPIDAPI_KEY=«[0-9]{2}${ALNUM}{48}»`, `rapidapi_key: "«[0-9]{2}${ALNUM}{48}»"`],
    clean: ['rapidapi: x', 'RAPIDAPI_KEY=value_of_the_name'],
  },
  'sendbird-token': {
    match: [`SENDBIRD_TOKEN=«${HEX}{40}»`, `sendbird_token: "«${HEX}{40}»"`],
    clean: ['sendbird: x', 'SENDBIRD_TOKEN=value_of_the_name'],
  },
  'sentry-legacy-token': { match: [`SENTRY_AUTH_TOKEN=«${HEX}{64}»`], clean: ['sentry: release'] },
  'squarespace-token': {
    match: [`SQUARESPACE_KEY=«${UUID}»`, `squarespace_key: "«${UUID}»"`],
    clean: ['squarespace: x', 'SQUARESPACE_KEY=value_of_the_name'],
  },
  'trello-token': {
    match: [`TRELLO_KEY=«${HEX}{32}»`, `trello_key: "«${HEX}{32}»"`],
    clean: ['trello: x', 'TRELLO_KEY=value_of_the_name'],
  },
  'twitch-token': {
    match: ['TWITCH_SECRET=«[0-9]{2}[a-z0-9]{28}»', 'twitch_secret: "«[0-9]{2}[a-z0-9]{28}»"'],
    clean: ['twitch: x', 'TWITCH_SECRET=value_of_the_name'],
  },
  'twitter-token': {
    match: [`TWITTER_SECRET=«[0-9]{2}${ALNUM}{48}»`, `twitter_secret: "«[0-9]{2}${ALNUM}{48}»"`],
    clean: ['twitter: x', 'TWITTER_SECRET=value_of_the_name'],
  },
  'zendesk-token': {
    match: ['ZENDESK_KEY=«[0-9]{2}[a-z0-9]{38}»', 'zendesk_key: "«[0-9]{2}[a-z0-9]{38}»"'],
    clean: ['zendesk: x', 'ZENDESK_KEY=value_of_the_name'],
  },
  'spotify-token': {
    match: [`SPOTIFY_SECRET=«${HEX}{32}»`, `spotify_secret: "«${HEX}{32}»"`],
    clean: ['spotify: x', 'SPOTIFY_SECRET=value_of_the_name'],
  },
  'sidekiq-token': {
    match: [
      `BUNDLE_GEMS__CONTRIBSYS__COM=«${HEX}{8}:${HEX}{8}»`,
      `bundle_gems__contribsys__com: "«${HEX}{8}:${HEX}{8}»"`,
    ],
    clean: ['contribsys: x', 'BUNDLE_GEMS__CONTRIBSYS__COM=value_of_the_name'],
  },
  'discord-secret': {
    match: [`DISCORD_KEY=«${HEX}{64}»`, `discord_key: "«${HEX}{64}»"`],
    clean: ['discord: x', 'DISCORD_KEY=value_of_the_name'],
  },
  'telegram-token': { match: [`TELEGRAM_TOKEN=«[0-9]{10}:${ALNUM}{35}»`], clean: ['telegram: bot'] },
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
