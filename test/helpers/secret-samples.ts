/**
 * Samples for every rule of the pack, as patterns: literal text, `[class]`, `{n}` or `{n,m}` after a class, `\` before
 * a character that is meant as it is, `«»` around what must be masked. Nothing here looks like a real secret; the
 * texts are made at run time from a seed.
 */
export interface RuleSamples {
  /** Each holds one part between « and » that the rule must find, exactly. */
  match: readonly string[];
  /** The rule must find nothing in these, whatever its keywords. */
  clean: readonly string[];
}

const B64 = '[A-Za-z0-9+/]';
const URL64 = '[A-Za-z0-9_-]';
const ALNUM = '[A-Za-z0-9]';
const HEX = '[0-9a-f]';
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
/** Letters and digits that begin like no word and hold a digit for sure. */
const MIXED = '[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}';

export const RULE_SAMPLES: Readonly<Record<string, RuleSamples>> = {
  'aws-access-key-id': {
    match: ['id «AKIA[A-Z2-7]{16}»', '\x1b\\[32m«ASIA[A-Z2-7]{16}»\x1b\\[0m'],
    clean: ['AKIA[a-z]{16}', 'the AKIA prefix', 'AAKIAAAAAAAAAAAAAAAAAA'],
  },
  'aws-secret-access-key': {
    match: [
      `aws_secret_access_key = «${B64}{40}»`,
      `"SecretAccessKey": "«${B64}{40}»"`,
      `\\\\"secretKey\\\\":\\\\"«${B64}{40}»\\\\"`,
    ],
    clean: [`aws_secret_access_key = ${B64}{20}`, `secret_key_id: ${HEX}{64}`],
  },
  'aws-key-pair-line': { match: [`AKIA[A-Z2-7]{16},«${B64}{40}»`], clean: ['AKIA[A-Z2-7]{16}, name, group'] },
  'aws-session-token': { match: [`"SessionToken": "«${B64}{120}»"`], clean: [`session_token: ${B64}{20}`] },
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
  'gitlab-runner-registration-token': { match: [`«GR1348941${URL64}{20}»`], clean: ['GR1348941'] },
  'slack-token': {
    match: [
      '«xoxb-[0-9]{11}-[0-9]{11}-[A-Za-z0-9]{24}»',
      '«xoxp-[0-9]{11}-[0-9]{11}-[0-9]{11}-[0-9a-f]{32}»',
      '«xoxe.xoxp-1-[A-Za-z0-9]{60}»',
    ],
    clean: ['xoxb-...', 'xoxb-token'],
  },
  'slack-app-token': { match: ['«xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[a-f0-9]{64}»'], clean: ['xapp-1-AAA-1-b'] },
  'slack-webhook': {
    match: [`https://hooks.slack.com/services/«T[A-Z0-9]{8}/B[A-Z0-9]{8}/${ALNUM}{24}»`],
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
  'teams-webhook': {
    match: [`https://acme.webhook.office.com/webhookb2/«${UUID}@${UUID}/IncomingWebhook/${HEX}{32}/${UUID}»`],
    clean: ['https://acme.webhook.office.com/webhookb2/'],
  },
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
  'google-api-key': { match: [`key=«AIza${URL64}{35}»`], clean: ['AIza...'] },
  'google-oauth-client-secret': { match: [`«GOCSPX-${URL64}{28}»`], clean: ['GOCSPX-secret'] },
  'google-oauth-token': { match: [`«ya29.${URL64}{60}»`, `«1//0${URL64}{40}»`], clean: ['ya29.', 'http://localhost'] },
  'gcp-private-key-id': {
    match: [`"private_key_id": "«${HEX}{40}»"`],
    clean: ['"private_key_id": "id"', `commit ${HEX}{40}`],
  },
  'openai-key': {
    match: [`«sk-proj-${URL64}{60}»`, `«sk-svcacct-${URL64}{40}»`],
    clean: ['sk-proj-name', 'sk-admin-key'],
  },
  'openai-legacy-key': {
    match: [`key «sk-${ALNUM}{48}»`, `\x1b\\[1m«sk-${ALNUM}{48}»`],
    clean: [`task-${HEX}{32}`, 'sk-loading-spinner-container-element-wide'],
  },
  'anthropic-key': {
    match: [`«sk-ant-api03-${URL64}{93}AA»`, `«sk-ant-oat01-${URL64}{60}»`],
    clean: ['sk-ant-api03-...'],
  },
  'hugging-face-token': {
    match: [`«hf_${ALNUM}{34}»`],
    clean: ['hf_hub_download', 'hf_model_name_or_path_of_the_user'],
  },
  'groq-key': { match: [`«gsk_${ALNUM}{52}»`], clean: ['gsk_container'] },
  'xai-key': { match: [`«xai-${ALNUM}{80}»`], clean: ['xai-sdk'] },
  'perplexity-key': { match: [`«pplx-${ALNUM}{48}»`], clean: ['pplx-70b-online'] },
  'replicate-token': { match: [`«r8_${ALNUM}{37}»`], clean: ['r8_unorm'] },
  'npm-token': { match: [`«npm_${ALNUM}{36}»`], clean: ['npm_config_registry', 'npm_package_version'] },
  'npmrc-credential': {
    match: [`//registry.example.com/:_authToken=«${ALNUM}{20}»`, `_auth = "«${B64}{24}»"`],
    clean: ['_authToken=$\\{NPM_TOKEN}', '//registry.example.com/:always-auth=true'],
  },
  'pypi-token': { match: [`«pypi-AgEI${URL64}{70}»`], clean: ['pypi-publish'] },
  'rubygems-key': { match: [`«rubygems_${HEX}{48}»`], clean: ['rubygems_version'] },
  'crates-io-token': { match: [`token «cio${ALNUM}{32}»`], clean: ['cion', `fascio${ALNUM}{32}`] },
  'docker-hub-token': { match: [`«dckr_pat_${URL64}{27}»`], clean: ['dckr_pat_x'] },
  'docker-registry-auth': {
    match: [`"auth": "«${B64}{28}»"`, `"auths":{"r":{"auth":"«${B64}{24}»"}}`],
    clean: ['"auth": "required"', '"auth": {}'],
  },
  'azure-shared-key': {
    match: [`AccountName=a;AccountKey=«${B64}{86}==»;EndpointSuffix=x`, `SharedAccessKey=«${B64}{43}=»`],
    clean: ['AccountKey=<key>', 'AccountKey=$\\{KEY}'],
  },
  'azure-sas-signature': {
    match: [`https://a.blob.core.windows.net/c?sv=1&sig=«${ALNUM}{43}%3D»`],
    clean: ['?sig=x', '&sig=[a-z]{20}'],
  },
  'azure-client-secret': { match: [`secret «${ALNUM}{3}8Q~${ALNUM}{34}»`], clean: ['8Q~', 'abc8Q~short'] },
  'digitalocean-token': { match: [`«dop_v1_${HEX}{64}»`, `«doo_v1_${HEX}{64}»`], clean: ['dop_v1_token'] },
  'heroku-key': { match: [`«HRKU-${URL64}{60}»`], clean: ['HRKU-1'] },
  'heroku-legacy-key': { match: [`HEROKU_API_KEY=«${UUID}»`], clean: [`heroku release ${UUID}`, `id: ${UUID}`] },
  'databricks-token': { match: [`«dapi${HEX}{32}»`, `«dapi${HEX}{32}-2»`], clean: ['dapi.example', 'dapient'] },
  'vault-token': { match: [`«hvs.${URL64}{90}»`, `«hvb.${URL64}{120}»`], clean: ['hvs.token'] },
  'terraform-cloud-token': { match: [`«${ALNUM}{14}.atlasv1.${URL64}{67}»`], clean: ['x.atlasv1.y'] },
  'doppler-token': { match: [`«dp.pt.${ALNUM}{43}»`, `«dp.st.dev.${ALNUM}{43}»`], clean: ['dp.pt.x'] },
  'pulumi-token': { match: [`«pul-${HEX}{40}»`], clean: ['pul-request'] },
  'fly-token': { match: [`«fo1_${URL64}{43}»`, `«fm2_${B64}{100}==»`], clean: ['fo1_x', 'fm1_radio'] },
  'planetscale-token': { match: [`«pscale_tkn_${URL64}{43}»`], clean: ['pscale_pw_x'] },
  'supabase-key': {
    match: [`«sbp_${HEX}{40}»`, `«sb_secret_${URL64}{31}»`],
    clean: ['sb_secret_x', 'sb_publishable_[A-Za-z0-9]{31}'],
  },
  'tailscale-key': { match: [`«tskey-auth-${ALNUM}{12}-${ALNUM}{32}»`], clean: ['tskey-auth-x-y'] },
  'grafana-token': { match: [`«glsa_${ALNUM}{32}_${HEX}{8}»`, `«glc_${B64}{64}==»`], clean: ['glsa_x', 'glc_info'] },
  'new-relic-key': { match: ['«NRAK-[A-Z0-9]{27}»', `«NRII-${URL64}{32}»`], clean: ['NRAK-x'] },
  'sentry-token': { match: [`«sntrys_${B64}{80}»`, `«sntryu_${HEX}{64}»`], clean: ['sntrys_x'] },
  'sendgrid-key': { match: [`«SG.${URL64}{22}.${URL64}{43}»`], clean: ['SG.name.of'] },
  'mailgun-key': {
    match: [`"«key-${HEX}{32}»"`, `mailgun «${HEX}{32}-${HEX}{8}-${HEX}{8}»`],
    clean: [`${HEX}{32}`, UUID, `monkey-${HEX}{32}`],
  },
  'mailchimp-key': { match: [`«${HEX}{32}-us[1-9]{1}»`], clean: [`${HEX}{32}`, 'en-us1'] },
  'twilio-key': { match: [`"«SK${HEX}{32}»"`], clean: [`TASK${HEX}{32}`, 'SK'] },
  'twilio-auth-token': {
    match: [`TWILIO_AUTH_TOKEN=«${HEX}{32}»`, `twilio token: «${HEX}{32}»`],
    clean: [`md5 ${HEX}{32}`, 'twilio = require'],
  },
  'linear-token': { match: [`«lin_api_${ALNUM}{40}»`], clean: ['lin_api_key'] },
  'notion-token': {
    match: [`«ntn_${ALNUM}{46}»`, `=«secret_${ALNUM}{43}»`],
    clean: ['secret_access_key', `my_secret_${ALNUM}{43}`],
  },
  'airtable-token': { match: [`«pat${ALNUM}{14}.${HEX}{64}»`], clean: ['pattern.replace', 'path.join'] },
  'atlassian-token': { match: [`«ATATT3${URL64}{180}=${HEX}{8}»`, `«ATBB${ALNUM}{32}»`], clean: ['ATBB', 'ATATT3x'] },
  'postman-key': { match: [`«PMAK-${HEX}{24}-${HEX}{34}»`], clean: ['PMAK-x-y'] },
  'figma-token': { match: [`«figd_${URL64}{40}»`], clean: ['figd_x'] },
  'one-password-token': { match: [`«ops_eyJ${B64}{200}»`], clean: ['ops_eyJ'] },
  'mapbox-secret-token': {
    match: [`«sk.eyJ${URL64}{80}.${URL64}{22}»`],
    clean: ['sk.eyJ', 'pk.eyJ[A-Za-z0-9]{80}.[A-Za-z0-9]{22}'],
  },
  'private-key': {
    match: [
      `«-----BEGIN RSA PRIVATE KEY-----\n${B64}{64}\n${B64}{64}\n${B64}{20}==\n-----END RSA PRIVATE KEY-----»\n`,
      `"private_key": "«-----BEGIN PRIVATE KEY-----\\\\n${B64}{64}\\\\n${B64}{30}=\\\\n-----END PRIVATE KEY-----»\\\\n"`,
      `«-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,${HEX}{32}\n\n${B64}{64}\n-----END EC PRIVATE KEY-----»`,
      `«-----BEGIN PRIVATE KEY-----\n${B64}{64}\n${B64}{64}»\n$ ls\n`,
      `«-----BEGIN PRIVATE KEY-----\n${B64}{64}\n${B64}{31}»`,
    ],
    clean: [
      '-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/]{64}\n-----END PUBLIC KEY-----',
      '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
      '`-----BEGIN PRIVATE KEY-----\\\\n$\\{der.toString()}\\\\n-----END PRIVATE KEY-----`',
    ],
  },
  'putty-private-key': {
    match: [`Private-Lines: 2\n«${B64}{64}\n${B64}{40}»\nPrivate-MAC: ${HEX}{40}\n`],
    clean: ['Private-Lines: 2', 'Public-Lines: 1\n[A-Za-z0-9]{64}\n'],
  },
  'age-secret-key': { match: ['«AGE-SECRET-KEY-1[A-Z0-9]{58}»'], clean: ['AGE-SECRET-KEY-1'] },
  'json-web-token': {
    match: [
      `Cookie: «eyJhbGciOi${URL64}{20}.eyJzdWIi${URL64}{40}.${URL64}{43}»`,
      `«eyJlbmMi${URL64}{30}..${URL64}{16}.${URL64}{60}.${URL64}{22}»`,
    ],
    clean: ['eyJhbGciOiJIUzI1NiJ9', 'eyJ.eyJ.x'],
  },
  'json-web-token-base64': { match: [`token «ZXlK${B64}{80}==»`], clean: ['ZXlK', 'ZXlKhbGciOi'] },
  'kubeconfig-key': {
    match: [`    client-key-data: «${B64}{200}==»`],
    clean: ['client-key-data: ""', `client-certificate-data: ${B64}{80}`],
  },
  'shadow-password-hash': {
    match: [`root:«$6$${ALNUM}{16}$${ALNUM}{86}»:19000:0:99999:7:::`, `web:«$2y$10$${ALNUM}{53}»`],
    clean: ['root:x:0:0:root:/root:/bin/bash', 'a:$1$2'],
  },
  'env-password': {
    match: [
      'DB_PASSWORD=«hunter[0-9]{1}»\n',
      "export PGPASSWORD='«correct horse [a-z]{5}»'",
      'docker run -e MYSQL_ROOT_PASSWORD=«[a-z]{7}» mysql',
      '\\["SMTP_PASS=«[a-z]{6}»","PATH=/usr/bin"\\]',
      '\\\\nREDIS_PASSWORD=«[a-z]{4}[0-9]{4}»\\\\nX=1',
      '\x1b\\[32mDB_PASSWORD=«[a-z]{6}[0-9]{2}»\x1b\\[0m',
    ],
    clean: [
      'PWD=/home/me',
      'OLDPWD=/tmp',
      'PASSWORD=$1',
      'PASSWORD="$\\{PW}"',
      'DB_PASSWORD=',
      'COMPASS=north',
      'PASSWORD_MIN_LENGTH=12',
      'DB_PASSWORD=\\[SECRET_3\\]',
      'DB_PASSWORD=****',
    ],
  },
  'env-secret': {
    match: [
      'API_KEY=«[a-z]{2}[0-9]{2}[A-Z]{2}[a-z0-9]{2}»\n',
      `STRIPE_SECRET_KEY_LIVE="«${MIXED}»"`,
      `NPM_TOKEN=«${MIXED}» npm publish`,
      `'JWT_SECRET=«${MIXED}»'`,
    ],
    clean: [
      'MAX_TOKEN=4096',
      'API_KEY=$API_KEY',
      'TOKEN=$\\{{ secrets.TOKEN }}',
      'API_KEY=process.env',
      'SSH_PRIVATE_KEY=~/.ssh/id',
      'API_KEY=your_api_key_here',
      'API_KEY=<your-key>',
      'TOKEN_TTL=360000',
      'PRIMARY_KEY=identifier',
    ],
  },
  'env-line': {
    match: ['DB_PASSWORD=«p;&|(\\[a-z]{4}»', `  export API_KEY=«${MIXED}&x=(y)»`, '+ADMIN_PASSWORD=«[a-z]{8}»'],
    clean: [
      'DB_PASSWORD=$(pass show db)',
      'TOKEN=$\\{TOKEN:-}',
      'const PASSWORD=required',
      'API_TOKEN=\\[SECRET_12\\]',
    ],
  },
  'env-default': {
    match: ['image: x\n  POSTGRES_PASSWORD: $\\{POSTGRES_PASSWORD:-«[a-z]{6}»}', '$\\{API_KEY-«[a-z0-9]{12}»}'],
    clean: ['$\\{DB_PASSWORD:-}', '$\\{DB_PASSWORD}', '$\\{DB_PASSWORD:?}'],
  },
  'env-call': {
    match: ["define('DB_PASSWORD', '«[a-z]{5}[0-9]{2}»')", `setenv("API_KEY", "«${MIXED}»", 1)`],
    clean: ['getenv("TOKEN", "default")', 't("password", "Password")', 'foo("API_KEY", key)'],
  },
  'quoted-secret': {
    match: [
      `const apiKey = "«${MIXED}»";`,
      `"api_key": "«${MIXED}»"`,
      `{\\\\"api_key\\\\": \\\\"«${MIXED}»\\\\"}`,
      `{\\\\\\\\\\\\"token\\\\\\\\\\\\":\\\\\\\\\\\\"«${MIXED}»\\\\\\\\\\\\"}`,
      `apiKey: string = '«${MIXED}»'`,
      `client_secret => '«${MIXED}»'`,
      `var apiToken string = "«${MIXED}»"`,
      `token ?= "«${MIXED}»\r\nnext line`,
      `config\\["token"\\] = "«${MIXED}»"`,
    ],
    clean: [
      'api_key="function"',
      'token: "string"',
      'apiKey: "your-api-key"',
      '"jsonwebtoken": "^9.0.20"',
      '"token": "https://example.com/token1"',
      'token = "$\\{TOKEN_1234}"',
      'tokenType = "urn:1234-abcd:x9"',
      `"integrity": "sha512-${B64}{86}=="`,
      'secret: "\\[SECRET_12\\]"',
      'token === "--import"',
    ],
  },
  'quoted-password': {
    match: [
      'password = "«hunter[0-9]{1}»"',
      '"password": "«[a-z]{8}»"',
      "passwd='«[a-z]{4}[!#%]{1}[0-9]{2}»'",
      '\\\\"password\\\\":\\\\"«[a-z]{6}[0-9]{2}»\\\\"',
      'auth: { user, smtp_pass: "«[a-z]{6}[0-9]{2}»" }',
    ],
    clean: [
      'type: "password"',
      'password: "string"',
      '"password": "Passwort"',
      'password: "required"',
      "password = 'currentPassword'",
      'password: "$\\{pw}"',
      'password: "Enter your password"',
      'password: "\\[SECRET_1\\]"',
      'password: ""',
    ],
  },
  'plain-secret': {
    match: [
      `api_key: «${MIXED}»`,
      `  token = «${MIXED}»\n`,
      `secret:«${MIXED}», x`,
      `token:\t«${URL64}{10}[0-9]{4}${URL64}{20}»`,
    ],
    clean: [
      'token: string',
      'token: Uint8Array',
      'const token = readToken(x)',
      'const secret = sha256(input1234)',
      'token = process.env.TOKEN_1234',
      'api_key: required',
      'key: [A-Za-z0-9]{40}',
      'token: \\[SECRET_3\\]',
      'max_tokens: 4096',
    ],
  },
  'plain-password': {
    match: [
      'password: «hunter[0-9]{1}»',
      'spring.datasource.password=«[a-z]{5}[0-9]{3}»',
      'PASSWD = «[a-z]{4}![a-z]{2}[0-9]{1}»',
      'url?password=«[a-z]{5}[0-9]{2}»&x=1',
    ],
    clean: [
      'password: required',
      'password: string;',
      'password = await hash2(x)',
      'password: z.string().min(8)',
      'password = user.password',
      'password: ****',
      'password: \\[SECRET_1\\]',
      'password: /run/secrets/db1',
      'password: 12',
    ],
  },
  'property-line': {
    match: ['db.password=«[a-z]{7}»', 'export api_key=«[a-z]{4}[0-9]{4}»\n', 'password=«letmein»\r\nx=1'],
    clean: [
      'password=password',
      '    password=password,',
      'token=get_token()',
      'tokens=4096',
      'password=$\\{PW}',
      'keyboard=us1',
    ],
  },
  'connection-string-password': {
    match: ['Server=db;User Id=sa;Password=«[a-z]{6}[0-9]{2}»;Encrypt=true', '"Pwd=«[a-z]{8}»;Server=x"'],
    clean: ['Server=db;Password=;', 'a; password = password;', 'if (x) { y; password = getPassword(); }'],
  },
  'xml-secret': {
    match: ['<password>«[a-z]{6}[0-9]{2}»</password>', '<server:apiKey> «[a-z0-9]{20}1» </server:apiKey>'],
    clean: ['<password>$\\{env.PW}</password>', '<token>string</token>', '<password></password>'],
  },
  'flag-secret': {
    match: [
      'mytool --password «hunter[0-9]{1}» --verbose',
      'x --api-key=«[a-z]{6}[0-9]{6}»',
      'y --auth-token "«[a-z]{6}[0-9]{6}»"',
    ],
    clean: [
      '--password-stdin',
      '--token string',
      '--token $TOKEN',
      '--password=$\\{PW}',
      '--api-key <key>',
      '--token=TOKEN',
      '--password ./file1',
    ],
  },
  'client-password': {
    match: [
      'mysql -u root -p«[a-z]{6}[0-9]{2}» db',
      'sshpass -p «[a-z]{6}[0-9]{2}» ssh x',
      'curl -s -u me:«[a-z]{6}[0-9]{2}» https://x',
      'redis-cli -h x -a «[a-z]{8}» ping',
    ],
    clean: ['mysql -u root -p db', 'curl -u me:$PW https://x', 'curl -u "$USER:$PW" https://x', 'mysql --port=3306'],
  },
  'authorization-header': {
    match: [
      `Authorization: Bearer «${URL64}{20}1»`,
      `authorization: basic «${B64}{18}==»`,
      `-H "Authorization: token «${ALNUM}{15}7»"`,
      `"Authorization": "Bearer «${ALNUM}{15}7»"`,
    ],
    clean: [
      'Authorization: Bearer <token>',
      'Authorization: Bearer $TOKEN',
      'Authorization: Bearer $\\{token}',
      'Authorization: Bearer YOUR_TOKEN',
      'Authorization: Bearer \\[SECRET_2\\]',
      'Authorization: Basic',
    ],
  },
  'bearer-token': { match: [`bearer «${URL64}{39}1»`], clean: ['bearer of the news', 'Bearer realm="x"'] },
  'api-key-header': {
    match: [`X-Api-Key: «${ALNUM}{15}7»`, `PRIVATE-TOKEN: «${ALNUM}{15}7»`, `'x-auth-token': '«${ALNUM}{15}7»'`],
    clean: ['X-Api-Key: <key>', 'X-Api-Key: $KEY', 'x-auth-token: required'],
  },
  'session-cookie': {
    match: [`Cookie: theme=dark; sessionid=«${ALNUM}{31}7»`, `set-cookie: JSESSIONID=«[0-9A-F]{31}7»; Path=/`],
    clean: ['Cookie: theme=dark', 'cookie: session=x'],
  },
  'url-password': {
    match: [
      'postgres://app:«[a-z]{6}[0-9]{2}»@db:5432/x',
      'https://me:«[a-z]{4}/[a-z]{4}»@host',
      'redis://:«[a-z]{8}»@cache:6379',
      '"url":"https:\\\\/\\\\/me:«[a-z]{8}»@host"',
    ],
    clean: [
      'https://user:password@host',
      'http://localhost:8080/a@b',
      'postgres://u:$\\{PW}@h',
      'postgres://u:<password>@h',
      'https://example.com/@scope/pkg',
      'https://u:\\[SECRET_1\\]@h',
      'git@github.com:a/b.git',
    ],
  },
  'url-token': {
    match: [`https://«${ALNUM}{39}1»@github.com/a/b`],
    clean: ['https://user@github.com/a', 'ssh://git@github.com/a'],
  },
  'url-parameter': {
    match: [
      'https://x.com/?access_token=«[a-z0-9]{20}»&b=1',
      'GET /a?api_key=«[a-z0-9]{10}» HTTP/1.1',
      '&amp;X-Amz-Signature=«[0-9a-f]{64}»',
    ],
    clean: [
      '?token=$\\{t}',
      '?token=<token>',
      '?keyboard=abcdef1',
      '?key=abcdefg1',
      '&token={token}',
      'a&password=password',
    ],
  },
  'netrc-password': {
    match: ['machine h.example login me password «[a-z]{6}[0-9]{2}»\n', 'machine h\n  login me\n  password «[a-z]{8}»'],
    clean: ['machine learning login', 'machine h login me'],
  },
  'netrc-password-first': {
    match: ['machine h password «[a-z]{8}» login me'],
    clean: ['machine h login me', 'the machine password'],
  },
  'pgpass-line': {
    match: ['db.example:5432:app:me:«[a-z]{8}»', '*:*:*:me:«[a-z]{8}»'],
    clean: ['10:20:30:40:50', '127.0.0.1:5432:', 'a:1234:b:c:d'],
  },
  'git-credential': {
    match: ['protocol=https\nusername=me\npassword=«[a-z]{8}»\n'],
    clean: ['username=me\n', 'password=x'],
  },
  'kubernetes-secret': {
    match: ['kind: Secret\ndata:\n  user: YWRtaW4=\n  password: «[A-Za-z0-9]{16}==»\n'],
    clean: ['data:\n  name: abc\n', 'data:\n  replicas: 3\n  image: nginx\n'],
  },
};

/** Texts of ordinary work in which no rule may find anything. */
export const CLEAN_TEXTS: readonly string[] = [
  'const token = readToken(x);',
  'api_key="function"',
  'token: string',
  'password: required',
  'export interface Login { password: string; token?: string; apiKey: ApiKey }',
  'password=<your-token>',
  'TOKEN=$\\{TOKEN}',
  'TOKEN=$TOKEN',
  'apiKey: process.env.X',
  'const apiKey = process.env.API_KEY ?? "";',
  'DB_PASSWORD=****',
  'API_KEY=\\[SECRET_3\\]',
  'password: \\[SECRET_3\\]',
  '{"password":"\\[SECRET_3\\]"}',
  'API_KEY=\\[SECRET\\]',
  `"integrity": "sha512-${B64}{86}==",`,
  `"resolved": "https://registry.example.com/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz",`,
  `commit ${HEX}{40}`,
  `index ${HEX}{7}..${HEX}{7} 100644`,
  `id: ${UUID}`,
  `sha256:${HEX}{64}`,
  `${HEX}{64}  contextd.tar.gz`,
  'The token budget of the answer is 2000 tokens; 1536 tokens are left.',
  'Enter password for user root: ',
  "error TS2322: Type 'Token' is not assignable to type 'string'.",
  'PWD=/home/me\nOLDPWD=/\nSSH_AUTH_SOCK=/tmp/agent.1\nLANG=C.UTF-8',
  'drwxr-xr-x 2 me me 4096 Jan  1 00:00 secrets',
  'grep -rn "password" src | head -20',
  'keyboard: us, monkey: 1, tokenizer: cl100k_base',
  'if (token === null || password.length < 8) throw new Error("bad token");',
  'Authorization: Bearer <token>',
  'https://github.com/owner/repo/blob/main/src/token.ts#L10',
];

/** A generator of numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A text of a pattern; « and » stay in it. */
export function generate(pattern: string, random: () => number): string {
  let text = '';
  for (const part of pattern.matchAll(/\\([\s\S])|\[((?:\\.|[^\]])+)\]\{(\d+)(?:,(\d+))?\}|([\s\S])/gu)) {
    const [, literal, members, low, high, character] = part;
    if (members === undefined) text += literal ?? character ?? '';
    else text += pick(expand(members), between(Number(low), Number(high ?? low), random), random);
  }
  return text;
}

export interface Sample {
  text: string;
  /** What must be masked, and where it begins in `text`. */
  secret: string;
  start: number;
}

/** A text of a pattern with one «secret» in it. */
export function generateSample(pattern: string, random: () => number): Sample {
  const marked = generate(pattern, random);
  const start = marked.indexOf('«');
  const end = marked.indexOf('»');
  if (start === -1 || end < start) throw new Error(`the sample ${pattern} marks no secret`);
  return { text: marked.replace(/[«»]/g, ''), secret: marked.slice(start + 1, end), start };
}

function expand(members: string): string {
  return members.replace(/(.)-(.)/g, (_range, from: string, to: string) => {
    const first = from.charCodeAt(0);
    return String.fromCharCode(...Array.from({ length: to.charCodeAt(0) - first + 1 }, (_, i) => first + i));
  });
}

function pick(characters: string, count: number, random: () => number): string {
  return Array.from({ length: count }, () => characters[Math.floor(random() * characters.length)]).join('');
}

function between(low: number, high: number, random: () => number): number {
  return low + Math.floor(random() * (high - low + 1));
}
