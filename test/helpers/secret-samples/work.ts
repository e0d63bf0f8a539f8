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
};
