import { ALNUM, B64, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'mailgun-key': {
    match: [`"«key-${HEX}{32}»"`, `mailgun «${HEX}{32}-${HEX}{8}-${HEX}{8}»`],
    clean: [`${HEX}{32}`, UUID, `monkey-${HEX}{32}`],
  },
  'mailchimp-key': { match: [`«${HEX}{32}-us[1-9]{1}»`], clean: [`${HEX}{32}`, 'en-us1'] },
  'contextd-token': { match: [`«ctxd_${URL64}{43}»`], clean: ['ctxd_home', 'ctxd_http_token_file'] },
  'linear-token': { match: [`«lin_api_${ALNUM}{40}»`], clean: ['lin_api_key'] },
  'notion-token': {
    match: [`«ntn_${ALNUM}{46}»`, `=«secret_${ALNUM}{43}»`],
    clean: ['secret_access_key', `my_secret_${ALNUM}{43}`],
  },
  'airtable-token': { match: [`«pat${ALNUM}{14}.${HEX}{64}»`], clean: ['pattern.replace', 'path.join'] },
  'atlassian-token': { match: [`«ATATT3${URL64}{180}=${HEX}{8}»`, `«ATBB${ALNUM}{32}»`], clean: ['ATBB', 'ATATT3x'] },
  'figma-token': { match: [`«figd_${URL64}{40}»`], clean: ['figd_x'] },
  'one-password-token': { match: [`«ops_eyJ${B64}{200}»`], clean: ['ops_eyJ'] },
  'mapbox-secret-token': {
    match: [`«sk.eyJ${URL64}{80}.${URL64}{22}»`],
    clean: ['sk.eyJ', 'pk.eyJ[A-Za-z0-9]{80}.[A-Za-z0-9]{22}'],
  },
  'cockroach-key': { match: [`«CCDB1_${ALNUM}{22}_${ALNUM}{40}»`], clean: ['CCDB1_key'] },
  'configcat-key': {
    match: [`"«configcat-sdk-1/${URL64}{22}/${URL64}{22}»"`],
    clean: ['configcat-sdk-1/key', 'npm install configcat-node'],
  },
  'devin-key': {
    match: [`«apk_user_${B64}{60}==»`, `«cog_${ALNUM}{40}»`],
    clean: ['apk_path', 'apk_user_install_directory'],
  },
  'aws-ecr-password': { match: [`«eyJwYXlsb2FkIjoi${B64}{300}==»`], clean: ['eyJwYXlsb2FkIjoi'] },
  'slack-token': {
    match: [
      '«xoxb-[0-9]{11}-[0-9]{11}-[A-Za-z0-9]{24}»',
      '«xoxp-[0-9]{11}-[0-9]{11}-[0-9]{11}-[0-9a-f]{32}»',
      '«xoxe.xoxp-1-[A-Za-z0-9]{60}»',
    ],
    clean: ['xoxb-...', 'xoxb-token'],
  },
  'slack-webhook': {
    match: [`«https://hooks.slack.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{8}/${ALNUM}{24}»`],
    clean: ['https://hooks.slack.com/services/', 'https://api.slack.com/messaging/webhooks'],
  },
  'discord-bot-token': {
    match: [`discord «M${URL64}{23}.${URL64}{6}.${URL64}{27}»`],
    clean: ['Most.things.matter', 'a bot of Node.module.name'],
  },
  'discord-webhook': {
    match: [`https://discord.com/api/webhooks/[0-9]{18}/«${URL64}{68}»`],
    clean: ['https://discord.com/api/webhooks/123'],
  },
  'telegram-bot-token': { match: [`bot «[0-9]{9}:AA${URL64}{33}»`], clean: ['12:AA:00', '[0-9]{9}:AA'] },
  'asana-personal-token': {
    match: [`asana_pat = «1/[0-9]{16}:[0-9a-f]{32}»`],
    clean: ['asana 1/2', 'asana 1/[0-9]{16}'],
  },
  'ionic-token': { match: [`ionic «ion_${ALNUM}{42}»`], clean: ['ion_icon', 'selection_changed'] },
  'jenkins-setup-password': {
    match: [`Please use the following password to proceed to installation:\n\n«${HEX}{32}»\n`],
    clean: ['proceed to installation: read the manual'],
  },
  'maxmind-license-key': { match: [`LicenseKey «${ALNUM}{6}_${ALNUM}{29}_mmk»`], clean: ['read_mmk'] },
  'new-relic-license-key': {
    match: [`license_key: «${HEX}{36}NRAL»`, `license: «eu01xx${HEX}{30}NRAL»`],
    clean: ['GENRAL', `${HEX}{12}NRAL`],
  },
  'postmark-token': { match: [`postmark: "«${UUID}»",`], clean: ['postmark: "https://postmark.example.com"'] },
  'teamwork-token': { match: [`teamwork «tkn.v1_${ALNUM}{78}»`], clean: ['tkn.v1_short'] },
  'thingsboard-token': {
    match: ['http://thingsboard.example.com:8080/api/v1/«[a-z0-9]{20}»/telemetry'],
    clean: ['http://thingsboard.example.com/api/v1/devices/list'],
  },
  'truenas-key': {
    match: [`"method":"auth.login_with_api_key", "params" : \\[ "«8-${ALNUM}{64}»" \\]`],
    clean: ['"method":"auth.login_with_api_key", "params": \\[key\\]'],
  },
  'twitch-stream-key': { match: [`rtmp «live_[0-9]{9}_${ALNUM}{30}»`], clean: ['live_2024_stream'] },
  'vault-unseal-key': {
    match: [`vault operator unseal «${B64}{44}»`],
    clean: ['vault operator unseal -migrate', 'vault operator unseal $KEY'],
  },
  'docker-swarm-token': {
    match: ['docker swarm join --token «SWMTKN-1-[0-9a-z]{50}-[0-9a-z]{25}» 10.0.0.1:2377', `«SWMKEY-1-${B64}{43}»`],
    clean: ['SWMTKN-1-token', 'SWMKEY-1-'],
  },
  'llamacloud-key': { match: [`llama «llx-${ALNUM}{48}»`], clean: ['llx-client'] },
  'postman-access-token': { match: ['access_key=«PMAT-[0-9A-Z]{26}»'], clean: ['PMAT-1'] },
  'together-key': { match: [`together «tgp_v1_${ALNUM}{43}»`], clean: ['tgp_v1_key'] },
};
