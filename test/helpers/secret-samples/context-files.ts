import type { RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'netrc-password': {
    match: ['machine h.example login me password «[a-z]{6}[0-9]{2}»\n', 'machine h\n  login me\n  password «[a-z]{8}»'],
    clean: ['machine learning login', 'machine h login me'],
  },
  'netrc-password-first': {
    match: ['machine h password «[a-z]{8}» login me'],
    clean: ['machine h login me', 'the machine password'],
  },
  'netrc-line': {
    match: ['login me password «[a-z]{6}[0-9]{2}»'],
    clean: ['login me', 'login with password authentication'],
  },
  'pgpass-line': {
    match: ['db.example:5432:app:me:«[a-z]{8}»', '*:*:*:me:«[a-z]{8}»'],
    clean: ['10:20:30:40:50', '127.0.0.1:5432:', 'a:1234:b:c:d'],
  },
  'git-credential': {
    match: ['protocol=https\nusername=me\npassword=«[a-z]{8}»\n'],
    clean: ['username=me\n', 'password=x'],
  },
  'client-file-password': {
    match: ['[client]\nuser=root\npassword=«[a-z]{8}»', '[pypi]\nusername = me\npassword = «[a-z]{8}»'],
    clean: ['[client]\nuser=root\n', '[mysqld]\npassword = $\\{PW}', '[database]\npassword = os.environ'],
  },
  'composer-auth': {
    match: [
      '{"http-basic": {"r.example": {"username": "me", "password": "«[a-z]{6}[0-9]{2}»"}}}',
      '"github-oauth": {"github.com": "«[0-9a-f]{40}»"}',
    ],
    clean: ['"http-basic": {}', '"bearer": {"format": "JWT"}'],
  },
  'maven-server-password': {
    match: ['<server>\n  <id>r</id>\n  <username>me</username>\n  <password>«[a-z]{8}»</password>'],
    clean: ['<server><id>r</id></server>', '<server>\n  <password>$\\{env.PW}</password>'],
  },
  'nuget-clear-text-password': {
    match: ['<add key="ClearTextPassword" value="«[a-z]{6}[0-9]{2}»" />'],
    clean: ['<add key="ClearTextPassword" value="%PW%" />', '<add key="nuget.org" value="https://x" />'],
  },
  'docker-identity-token': {
    match: ['"identitytoken": "«[A-Za-z0-9]{40}»"'],
    clean: ['"identitytoken": ""', '"identitytoken": "short"'],
  },
  'docker-legacy-auth': {
    match: ['  auth: «[A-Za-z0-9+/]{21}7A==»', '  "auth": "«[A-Za-z0-9+/]{21}7A==»",'],
    clean: ['auth: required', 'auth: oauth/authorize/endpoint', '"auth": {}'],
  },
  'minisign-secret-key': {
    match: ['untrusted comment: minisign encrypted secret key\n«RWRTY0Iy[A-Za-z0-9+/]{120}=»'],
    clean: ['minisign public key\nRWQx', 'secret key\n'],
  },
  'wifi-passphrase': {
    match: [
      'wpa_passphrase=«[a-z]{6}[0-9]{4}»',
      '\tpsk="«[a-z]{6}[0-9]{4}»"',
      '<keyMaterial>«[a-z]{6}[0-9]{4}»</keyMaterial>',
    ],
    clean: ['psk=get_psk', 'wpa_passphrase=<passphrase>', 'psk=short'],
  },
  'wireguard-key': {
    match: ['PrivateKey = «[A-Za-z0-9+/]{43}=»', 'PresharedKey=«[A-Za-z0-9+/]{43}=»'],
    clean: ['PublicKey = [A-Za-z0-9+/]{43}=', 'PrivateKey = <key>'],
  },
  'network-device-secret': {
    match: [
      'enable secret 5 «$1$[a-z]{4}$[A-Za-z0-9]{22}»',
      'snmp-server community «[a-z]{5}[0-9]{3}» RO',
      'username admin privilege 15 password 7 «[0-9A-F]{12}»',
    ],
    clean: ['enable secret', 'username me password', 'snmp-server community public RO', 'key 1 value.'],
  },
  'service-directive': {
    match: ['requirepass «[a-z]{8}»', 'masterauth «[a-z]{6}[0-9]{2}»', 'rpcpassword=«[a-z]{8}»'],
    clean: ['requirepass', '# requirepass foobared is the default', 'requirepass $PW'],
  },
  'rails-credential': {
    match: ['secret_key_base: «[0-9a-f]{128}»', 'APP_KEY=«base64:[A-Za-z0-9+/]{43}=»'],
    clean: ['secret_key_base: <%= ENV["X"] %>', 'primary_key: identifier', 'app_key: name_of_the_application_key'],
  },
  'wordpress-salt': {
    match: ["define('AUTH_KEY', '«[a-z]{4}!@#$%^&* ()[A-Z]{4} {x};[0-9]{4}»');"],
    clean: ["define('AUTH_KEY', 'put your unique phrase here');", "define('AUTH_KEY', 'short');"],
  },
  'django-secret-key': {
    match: ["SECRET_KEY = '«[a-z]{4}(&[0-9]{3}=[a-z]{8}+@!)[a-z]{6}»'"],
    clean: ["SECRET_KEY = 'short'", "SECRET_KEY = os.environ['X']", "SECRET_KEY = 'change this to a real key'"],
  },
  'crypt-hash': {
    match: [
      'root:«$6$[A-Za-z0-9]{16}$[A-Za-z0-9]{86}»:19000:',
      '"«$2y$10$[A-Za-z0-9]{53}»"',
      '«$apr1$[A-Za-z0-9]{8}$[A-Za-z0-9]{22}»',
    ],
    clean: ['$1$2', 'a $6$ note', 'costs $10$ or $20'],
  },
  'argon2-hash': {
    match: ['«$argon2id$v=19$m=65536,t=3,p=4$[A-Za-z0-9]{22}$[A-Za-z0-9]{43}»'],
    clean: ['$argon2id', '$scrypt$short'],
  },
  'framework-hash': {
    match: ['«pbkdf2_sha256$600000$[A-Za-z0-9]{22}$[A-Za-z0-9]{43}=»', 'userPassword: «{SSHA}[A-Za-z0-9+/]{32}»'],
    clean: ['pbkdf2_sha256', '{SHA}', 'scrypt:32768'],
  },
  'kerberos-hash': {
    match: ['«$krb5asrep$23$me@x:[0-9a-f]{32}$[0-9a-f]{64}»', '«me:1000:[0-9a-f]{32}:[0-9a-f]{32}:::»'],
    clean: ['$krb5asrep', 'a:::b'],
  },
  'radius-client-secret': {
    match: [
      'client router \\{\n\tipaddr = 10.0.0.1\n\tsecret = «[a-z]{8}»\n\\}',
      'home_server auth1 \\{\n  type = auth\n  ipaddr = 10.0.0.2\n  port = 1812\n  secret = "«[A-Za-z0-9]{12}»"\n\\}',
    ],
    clean: ['client router \\{\n\tipaddr = 10.0.0.1\n\\}\nsecret = x', 'client x \\{ secret = y \\}'],
  },
};
