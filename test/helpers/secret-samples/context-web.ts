import { ALNUM, B64, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
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
  'oauth-code': {
    match: [
      '/callback?code=«[A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}»&state=xyz',
      'https://example.com/cb?state=abc&code=«[A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}»',
    ],
    clean: [
      '?code=[0-9]{6}&state=open',
      '?code=invalid_request&state=x',
      '?code=$\\{code}&state=x',
      '?code=[A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}&page=2',
    ],
  },
  'form-parameter': {
    match: [
      'username=me&password=«[a-z]{6}[0-9]{2}»&next=%2F',
      'client_secret=«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»&grant_type=x',
    ],
    clean: ['password=password&x=1', 'token=$\\{t}&x=1', 'password={pw}&x=1'],
  },
  'otpauth-secret': {
    match: ['otpauth://totp/x:me?secret=«[A-Z2-7]{16}»&issuer=x'],
    clean: ['otpauth://totp/x:me', 'otpauth://hotp/x?counter=1'],
  },
  'totp-seed': {
    match: ['totp_secret: «[A-Z]{4}[2-7]{2}[A-Z]{10}»', 'MFA_SEED="«[A-Z]{4}[2-7]{2}[A-Z]{26}»"'],
    clean: ['totp: required', 'otp = 123456', 'mfa_secret: ABCDEFGHIJKLMNOPQR'],
  },
  'basic-auth-user-colon': {
    match: ["proxy_auth = 'me:«[a-z]{6}[0-9]{2}»'", 'curl_setopt($c, CURLOPT_USERPWD, "me:«[a-z]{6}[0-9]{2}»")'],
    clean: ['basic_auth = "user:password"', 'basic_auth: "me:$PW"', 'auth = "none"'],
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
  'authorization-value': {
    match: ['Authorization: «[A-Za-z0-9]{22}7»', '"authorization": "«[A-Za-z0-9]{30}7»"'],
    clean: [
      'Authorization: Bearer',
      'authorization: this.headers.authorization',
      'Authorization = authorizationHeaderValue',
      'Authorization: $\\{token}',
    ],
  },
  'digest-authorization': {
    match: [
      'Authorization: Digest username="me", realm="x", nonce="n", response="«[0-9a-f]{32}»"',
      'Authorization: AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature=«[0-9a-f]{64}»',
    ],
    clean: ['Authorization: Digest realm="x"', 'WWW-Authenticate: Digest nonce="1"'],
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
  'session-cookie-first': {
    match: ['Cookie: sessionid=«[A-Za-z0-9]{31}7»; auth_token=x'],
    clean: ['Cookie: theme=dark; sessionid=x', 'cookie: session=x'],
  },
  'session-id': {
    match: ['JSESSIONID=«[0-9A-F]{31}7»', 'PHPSESSID: «[a-z0-9]{25}7»'],
    clean: ['JSESSIONID', 'PHPSESSID=x'],
  },
  'cookie-value': {
    match: ['.example.com\tTRUE\t/\tTRUE\t1700000000\tsessionid\t«[A-Za-z0-9]{20}»'],
    clean: ['.example.com\tTRUE\t/\tTRUE\t1700000000\ttheme\tdark_blue_mode', 'a\tTRUE\tb'],
  },
};
