import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMadeOfWords } from '#src/scrub/words.js';
import { engine } from '../../../helpers/test-rules.ts';

function masked(text: string): string[] {
  return engine.scan(text).map(({ start, end }) => text.slice(start, end));
}

const PYTHON = `def create_user(session, user_in):
    """Creates a user."""
    LINE
    session.add(user)
    return user
`;

const GO = `func Dial(config *Config) (*Conn, error) {
	if config == nil {
		return nil, errors.New("no config")
	}
	LINE
	return conn, nil
}
`;

/** Right sides that are computed, by the source around them. */
const EXPRESSIONS: readonly [code: string, lines: readonly string[]][] = [
  [
    PYTHON,
    [
      'hashed_password = get_password_hash(user_in.password)',
      'old_auth = self.session.auth',
      'user = User(email=email, hashed_password=password_hash)',
      'if body.current_password == body.new_password:',
      'index_url_user_password = index_info',
      'secret_password = user_pass',
      'self._password = parsed.password',
      'key_password=None,',
      'api_key = settings.API_KEY',
      'token = tokens[0]',
      'access_token = create_access_token(user.id, expires_delta=delta)',
      'r = client.post(f"{settings.API}/login/access-token", data=login_data)',
      'auth_token = await fetch_token()',
      'password = password or default_password',
      'req.headers["Authorization"] = "Basic " + encoded_credentials',
    ],
  ],
  [
    GO,
    [
      'PrivateKey: testP256PrivateKey,',
      'password := os.Getenv("DB_PASSWORD")',
      'req.Header.Set("Authorization", "Basic "+basicAuth(username, password))',
      'config.Certificates[0].PrivateKey = testEd25519PrivateKey',
      'token := claims.Token',
      'secretKey = []byte(cfg.SecretKey)',
    ],
  ],
];

describe('SEC-1.1 what code computes is no secret', () => {
  it.each(EXPRESSIONS.flatMap(([code, lines]) => lines.map((line) => [line, code] as const)))('%s', (line, code) => {
    expect(masked(code.replace('LINE', line))).toEqual([]);
  });

  it('nor is any identifier, call, member or index made of words', () => {
    const word = fc.constantFrom('user', 'session', 'hash', 'build', 'current', 'request', 'config', 'hidden', 'store');
    const name = fc
      .tuple(fc.array(word, { minLength: 2, maxLength: 3 }), fc.constantFrom('_', ''))
      .map(([words, joint]) =>
        words.map((one, at) => (joint === '' && at > 0 ? one[0]?.toUpperCase() + one.slice(1) : one)).join(joint),
      );
    const value = fc.oneof(
      name,
      fc.tuple(name, name).map(([a, b]) => `${a}.${b}`),
      fc.tuple(name, name).map(([a, b]) => `${a}(${b})`),
      fc.tuple(name, fc.nat(9)).map(([a, at]) => `${a}[${at}]`),
    );
    const key = fc.constantFrom('password', 'api_key', 'auth_token', 'client_secret', 'self.password', '_password');
    fc.assert(
      fc.property(key, value, fc.constantFrom(PYTHON, GO), (left, right, code) => {
        expect(masked(code.replace('LINE', `${left} = ${right}`))).toEqual([]);
      }),
    );
  });

  it('nor is the working directory in PWD and OLDPWD, wherever the project lies', () => {
    const part = fc.stringMatching(/^[a-z][a-z0-9@+._-]{0,11}$/);
    const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);
    const line = fc.constantFrom(
      'PWD=%',
      'OLDPWD=%',
      'export PWD=%',
      'export OLDPWD="%"',
      'declare -x PWD="%"',
      "PWD: '%',",
    );
    fc.assert(
      fc.property(path, line, (value, form) => {
        const text = `HOME=/home/ann\n${form.replace('%', value)}\nLANG=C\n`;
        expect(masked(text), text).toEqual([]);
      }),
    );
    expect(masked('DB_PWD=/kT7wq2mX9sLp4\n')).toEqual(['/kT7wq2mX9sLp4']);
    expect(masked('pwd=/kT7wq2mX9sLp4\n')).toEqual(['/kT7wq2mX9sLp4']);
  });

  it('but a literal is, in code and in settings', () => {
    const literal = fc
      .array(fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'), {
        minLength: 14,
        maxLength: 40,
      })
      .map((characters) => characters.join(''))
      .filter((text) => /[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text) && !isMadeOfWords(text));
    fc.assert(
      fc.property(literal, (value) => {
        expect(masked(PYTHON.replace('LINE', `password = "${value}"`))).toEqual([value]);
        expect(masked(GO.replace('LINE', `apiKey := "${value}"`))).toEqual([value]);
        expect(masked(`[client]\nuser = app\npassword = ${value}\n`)).toEqual([value]);
        expect(masked(`DB_HOST=db\nDB_PASSWORD=${value}\n`)).toEqual([value]);
      }),
    );
  });
});

/** Texts that name a secret and contain none, by the rule that says so. */
const CLEAN: readonly [why: string, text: string][] = [
  ['a version', '"pbkdf2-password": "1.2.1",'],
  ['a version after a name', 'google-cloud-cli-gke-gcloud-auth-plugin=528.0.0-0 kubectl'],
  [
    'a checksum of go.sum',
    `github.com/hashicorp/vault/api v1.23.0 h1:${'gXgluBsSECfRWTSW9niY2jwg2e9mMJc4WoHNv4g3'}h6A=`,
  ],
  ['a closed template', '"github_password": "ENC[AES256_GCM,data:wtyRyrcYh1AaoA==,iv:lJKpAd==,tag:NrrARD==,type:str]"'],
  ['a closed template', 'password: "{{ .Values.auth.password }}"'],
  ['a closed template', `DB_PASSWORD=$\{DB_PASSWORD_FROM_VAULT}`],
  ['a template in code', "return f'machine {host} login {self.username} password {self.password}'"],
  ['a path', '      - DATABASE_PASSWORD=/run/secrets/db-password'],
  ['a name of its own', 'kubectl create secret generic x --from-literal=keydb-password=KEYDB_PASSWORD'],
  ['a placeholder', 'password = "UberSecretPassword"'],
  ['a placeholder', 'POSTGRES_PASSWORD=mysecretpassword'],
  ['a placeholder', 'SECRET_KEY=changethis'],
  ['a name', 'existingSecretPasswordKey: "db-password"'],
  ['a name', 'displayName = "PasswordInput"'],
  ['a name', 'key := "float32-slice"'],
  ['a word that is used otherwise', 'MYSQL_USER=petclinic\nMYSQL_PASSWORD=petclinic\nMYSQL_DATABASE=petclinic'],
  ['a word that is used otherwise', 'image: postgres:16\nenvironment:\n  - POSTGRES_PASSWORD=postgres'],
  ['a sequence', "params: { user: { password: '12345678' } }"],
  ['equal characters', `--from-literal=key='AQBQ${'y'.repeat(34)}=='`],
  ['a source of names', 'passwd:         compat\ngroup:          compat'],
  ['a public key', `GPG_KEY=${'A035C8C19219BA821ECEA86B64E628F8D684696D'}`],
  ['a public key', 'publicKeyToken="b77a5c561934e089"'],
  ['the nonce of a handshake', 'c.Request.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")'],
  ['an ARN', `secret_arn = "arn:aws:secretsmanager:eu-west-1:${'123456789012'}:secret:db-Ab12Cd"`],
  ['a scheme of authorization', 'Authorization: OAuth realm="Example",'],
];

describe('SEC-1.1 what everyone may read is no secret', () => {
  it.each(CLEAN)('%s: %s', (_why, text) => {
    expect(masked(text)).toEqual([]);
  });
});

describe('SEC-1.1 an open brace or a dollar sign hides no password', () => {
  it.each(['DB_PASSWORD=x7{Kq2$mW9', "password: 'a{b7Kq2mW9'"])('%s', (text) => {
    expect(masked(text)).toHaveLength(1);
  });
});

/** The part of each text between « and » is masked, and nothing else. */
const VALUES: readonly string[] = [
  "ALTER USER me IDENTIFIED BY '«copper-lantern»';",
  'DB_PASSWORD=«copper-lantern»',
  'resource "aws_db_instance" "x" {\n  password = "«kT7wq2mX9sLp4»"\n}',
  'f.write("machine example.com login me password «kT7wq2mX»\\n")',
  'git remote -v\norigin\thttps://me:«kT7wq2mX9sLp4»@git.example.com/team/app.git (fetch)',
  'apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: «a1Q3d3EybVg5c0xwNA==»\n',
  'DATABASE_URL=postgres://app:«kT7wq2mX9sLp4»@db.example.com:5432/shop?sslmode=require',
  'Server=db.example.com;Database=shop;User Id=app;Password=«kT7wq2mX9sLp4»;Encrypt=true',
  '//registry.example.com/:_authToken=«kT7wq2mX-9sLp4-aaQ2»',
];

describe('SEC-1.1 only the value is masked', () => {
  it.each(VALUES)('%s', (marked) => {
    const [before = '', value = ''] = marked.split(/[«»]/);
    const text = marked.replace(/[«»]/g, '');
    const found = engine.scan(text);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([value]);
    expect(found[0]?.start).toBe(before.length);
  });
});
