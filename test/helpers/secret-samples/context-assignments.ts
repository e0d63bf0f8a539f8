import { B64, MIXED, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
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
  'quoted-word-secret': {
    match: ['api_key = "«[a-z]{12}»"', "clientSecret: '«[a-z]{10}»'"],
    clean: ['api_key = "function"', 'accessToken: "currentToken"', 'secret_key = "string"', 'apiKey: "yourapikey"'],
  },
  'quoted-key': {
    match: ['"key": "«[0-9a-f]{31}7»"', "salt = '«[A-Za-z0-9+/]{40}+7Aa=»'"],
    clean: [
      'publicKey: "[A-Za-z0-9+/]{43}="',
      'cache_key = "[0-9a-f]{32}"',
      'key: "user-profile-settings-of-the-person"',
      '"key": "short"',
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
      '--- PASS: TestReset/invalid_token_7 (0.00s)',
    ],
  },
  'password-line': {
    match: [
      'password: «[a-z]{8}»',
      '  db_password = «[a-z]{8}»',
      'smtp.password: «[a-z]{4}&[a-z]{3}=[0-9]{2}»',
      '+  password: «[a-z]{8}»  # a word',
    ],
    clean: [
      'password: required',
      'password: string',
      'password = userPassword',
      'password = hash',
      '  password: new_password',
      'password = get_password',
      'password: /run/secrets/x',
      'password: $PW',
    ],
  },
  'login-pair': {
    match: [
      'user = aladdin\npassword = «open_[a-z]{5}»',
      "username: 'me', password: '«open [a-z]{6}»'",
      'user=me\npass=«[a-z]{8}»',
    ],
    clean: [
      'username: string\npassword: string',
      'user = user\npassword = password',
      'username = self.username\npassword = self.password',
      'user: me, password: <password>',
      "email: 'Email', password: 'Password'",
    ],
  },
  'setting-line': {
    match: [
      'password: «[a-z]{2}#[a-z]!d[0-9]{2}\\|[A-Z]{4}»\n',
      '  client_secret: «[A-Z]{3}[0-9]{2}[a-z]{3};[A-Z]&[a-z]{3}»\n',
      'spring.datasource.password=«[a-z]{3}[0-9]{2}[A-Z]{3}\\][a-z]{3}»\r\n',
      'api_key = «[A-Za-z]{6}[0-9]{2}~\\?[A-Za-z]{6}»\n',
    ],
    clean: [
      'token = self._lookahead_token(0)',
      'secret = hmac(key1, key2)',
      'token: Map<string,Token2>;',
      'token=abc123def456ghi&token_type_hint=refresh_token',
      'token: https://example.com/a?b=1',
      'password: $\\{PASSWORD2}!',
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
  'symbols-password': {
    match: [
      'password: «[A-Z]{1}[a-z]{3}\\$[0-9]{2}\\{[a-z]{3}»\n',
      'setx DB_PASSWORD "«[a-z]{4}\\$[0-9]{3}!»"\r\n',
      'requirepass «[a-z]{3}\\{[0-9]{4}%»\n',
    ],
    clean: ['password: $\\{DB_PASSWORD}', 'PASSWORD=$(pass show db)', 'password: *anchor', 'password = String?'],
  },
  'worded-password': {
    match: [
      'password: "«[a-z]{6}-[a-z]{5}-[a-z]{7}»"',
      '<password>«[a-z]{5}-[a-z]{6}»</password>',
      'password = «[a-z]{6}-[a-z]{5}»\n',
      "CREATE USER me WITH PASSWORD '«[a-z]{6}-[a-z]{5}»'",
    ],
    clean: [
      'password: "current-password"',
      'password: "eye-outline"',
      '<password>not-set</password>',
      'password-field',
    ],
  },
  'spaced-password': {
    match: ['  password "«[a-z]{4}[0-9]{4}»";\n', "set -x API_TOKEN '«[a-z]{4}[0-9]{4}»'\n"],
    clean: ['  password "required";', 'token "Name"', "set -x TOKEN '$\\{X}'", 'print password "a b"'],
  },
  'aligned-secret': {
    match: [
      'Key         Value\npassword    «[a-z]{4}[0-9]{2}[a-z]{4}»\n',
      'token       «[A-Za-z]{4}[0-9]{2}[a-z]{4}»\n',
    ],
    clean: ['password    string', 'token       int64', 'token  2026-11-22', 'secret      db-1'],
  },
  'constructed-secret': {
    match: [
      'std::string secret("«[a-z]{5}[0-9]{3}»");',
      'public string Password { get; set; } = "«[a-z]{5}[0-9]{3}»";',
    ],
    clean: ['std::string password("password");', 'string Token(string value)', 'auto secret = load("path");'],
  },
  'compared-secret': {
    match: ['if ("«[a-z]{5}[0-9]{3}»" == password)', "'«[a-z]{5}[0-9]{3}»' === user.password)"],
    clean: ['"password" == passwd', 'if ("POST" == method)', '"[a-z]{5}[0-9]{3}" == passwords.length'],
  },
  'password-next-line': {
    match: ['password:\n  «[a-z]{5}[0-9]{3}»\n', 'db_password: |\n    «[a-z]{4}\\$[0-9]{3}x»\n'],
    clean: ['password:\n  - value', 'password:\n  length: 12', 'password:\n  required\n', 'password:\n  $\\{PW}\n'],
  },
  'secret-next-line': {
    match: [`API key:\n«${MIXED}»\n`, `token =\n  "«${MIXED}»"\n`],
    clean: [
      'token:\n  string\n',
      'secret:\n  enabled: true\n',
      'token:\n2026-11-22T12:30\n',
      'api_key:\n  your_api_key_here\n',
    ],
  },
  'continued-secret': {
    match: ['API_KEY=\\\\\n«[a-z]{4}[0-9]{4}»', 'password = \\\\\n  "«[a-z]{4}[0-9]{4}»"'],
    clean: ['API_KEY=\\\\\n  $\\{KEY}', 'TOKEN=\\\\\npassword'],
  },
  'tuple-password': {
    match: ['{password, "«[a-z]{4}[0-9]{4}»"}', '{ db_password, <<"«[a-z]{4}[0-9]{4}»">>}'],
    clean: ['{password, "password"}', '{password, Value}', '(password, "eye-icon")'],
  },
  'plain-word-password': {
    match: ['tool --password=«[a-z]{10}» --x', 'DB_PASSWORD := «[a-z]{10}»\n', 'config.setPassword("«[a-z]{10}»");'],
    clean: ['tool --password=required', 'set("password")', 'setPassword(value)', 'PASSWORD := placeholder'],
  },
  'passphrase-words': {
    match: [
      'mnemonic: "«[a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5} [a-z]{5}»"',
      'passphrase = "«[a-z]{7} [a-z]{5} [a-z]{7} [a-z]{6}»"',
    ],
    clean: ['passphrase: enter the passphrase of the key', 'mnemonic: short', 'passphrase: the words must be in order'],
  },
  'password-comparison': {
    match: [
      'if (password.equals("«[a-z]{6}[0-9]{2}»"))',
      'strcmp(password, "«[a-z]{6}[0-9]{2}»")',
      'token.equalsIgnoreCase("«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»")',
    ],
    clean: ['password.equals("password")', 'strcmp(password, other)', 'strcmp(token, "end")', 'password.equals("")'],
  },
  'worded-secret': {
    match: [
      'JWT_SECRET=«purple-monkey-[a-z]{5}-lamp»',
      "const JWT_SECRET = '«copper-kernel-[a-z]{6}»';",
      "SECRET_KEY = '«copper kernel orchid [a-z]{6}»'",
      'secret_key_base: «copper-kernel-[a-z]{6}» # for now',
      "app.use(session({ secret: '«amber_birch_[a-z]{6}_lamp»' }));",
      'var jwtSecret = \\[\\]byte("«copper-kernel-[a-z]{6}»")',
    ],
    clean: [
      'existingSecret: my-release-postgresql',
      'client_secret: client-secret-label',
      'secret: two-words',
      'auth: basic-auth-login',
      'pullSecret: "team-registry-pull"',
    ],
  },
  'hashed-password': {
    match: [
      `password = sha256("«Tr0ub4dor&[0-9]{1}x9»")`,
      `user.password = bcrypt.hashSync('«Kangaroo[0-9]{3}»', 10)`,
      `PASSWORD: md5("«[A-Z]{1}[a-z]{4}[0-9]{4}»")`,
      `password=generate_password_hash("«[A-Z]{1}[a-z]{4}[0-9]{4}»")`,
    ],
    clean: [
      `password = createHash("sha256")`,
      `password = hash("password")`,
      `passwordHash = sha256(value)`,
      `password = hmac('sha512', key)`,
    ],
  },
  'chosen-secret': {
    match: [
      'jwt_secret: «[A-Z]{1}[a-z]{5}[0-9]{4}»',
      'secret_key_base: «Acme[a-z]{4}[0-9]{2}!»',
      '  client-secret = "«[A-Z]{1}[a-z]{6}[0-9]{3}»"',
    ],
    clean: ['secret: my-release-2024', 'secret = token12', 'client_secret: SHA256', 'existingSecret: db-v12'],
  },
};
