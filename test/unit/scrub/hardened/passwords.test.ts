import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { engine } from '../../../helpers/test-rules.ts';

function masked(text: string): string[] {
  return engine.scan(text).map(({ start, end }) => text.slice(start, end));
}

const LETTERS = [...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ'];
const DIGITS = [...'0123456789'];
const SIGNS = [...'!#$%&()*+,-./:;<=>?@[]^_{|}~'];
const WORDS = 'amber copper dragon falcon garden kernel lemon marble orchid winter monkey lamp'.split(' ');
const word = fc.constantFrom(...WORDS);
const title = word.map((text) => `${text[0]?.toUpperCase()}${text.slice(1)}`);
const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));

/** What stands between quotes in a file of settings or in code; the value is closed. */
const QUOTED: readonly ((value: string) => string)[] = [
  (v) => `{"user":"app","password":"${v}","port":5432}\n`,
  (v) => `{\n  "user": "app",\n  "password": "${v}"\n}\n`,
  (v) => `password = "${v}"\nconnect(password)\n`,
  (v) => `settings = {'user': 'app', 'password': '${v}'}\n`,
  (v) => `connect(host="db", user="app", password="${v}")\n`,
  (v) => `const dbPassword = '${v}';\n`,
  (v) => `db:\n  user: app\n  password: "${v}"\n`,
  (v) => `DB_PASSWORD="${v}"\n`,
  (v) => `{"name": "DB_PASSWORD", "value": "${v}"}\n`,
  (v) => `map.put("password", "${v}");\n`,
  (v) => `{ :user => "app", :password => "${v}" }\n`,
  (v) => `if (password == "${v}") {\n`,
];

describe('SEC-1.1 a sign of code hides no password between quotes', () => {
  const generated = fc
    .array(fc.constantFrom(...LETTERS, ...LETTERS, ...DIGITS, ...DIGITS, ...SIGNS), { minLength: 14, maxLength: 24 })
    .map((characters) => characters.join(''))
    .filter((text) => /[0-9].*[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text));
  const signFirst = fc
    .tuple(
      fc.constantFrom(...SIGNS),
      generated.filter((text) => /^[A-Za-z0-9]/.test(text)),
    )
    .map((parts) => parts.join(''));
  const calls = fc.tuple(title, digits(4)).map(([name, number]) => `${name}(${number})`);

  it.each([
    ['random characters', generated],
    ['a sign first', signFirst],
    ['a word and a number in brackets', calls],
  ])('%s', (_, values) => {
    fc.assert(
      fc.property(values, fc.constantFrom(...QUOTED), (value, write) => {
        expect(masked(write(value))).toEqual([value]);
      }),
    );
  });

  it('but code and templates stay', () => {
    const name = fc
      .tuple(word, title, fc.constantFrom('', '.', '_'))
      .map(([left, right, joint]) => (joint === '' ? left + right : `${left}${joint}${right.toLowerCase()}`));
    const code: readonly ((name: string) => string)[] = [
      (n) => `var body = 'user='+user+'&password='+${n}+'&x=1';\n`,
      (n) => `form.find('input[name=password]:not(.${n})')\n`,
      (n) => `{"password": "${n}()"}\n`,
      (n) => `{"password": "get(${n})"}\n`,
      (n) => `password: "\${${n}}"\n`,
      (n) => `password: "{{ ${n} }}"\n`,
      (n) => `password = "Bearer \${${n}} from {${n}}"\n`,
      (n) => `password = "<${n.replaceAll(/[._]/g, '-')}>"\n`,
      (n) => `{"password":"$${n.replaceAll('.', '_')}"}\n`,
      (n) => `password = "%s-${n}"\n`,
      (n) => `export PASSWORD="$(cat "\${${n.toUpperCase().replaceAll('.', '_')}}")"\n`,
    ];
    fc.assert(
      fc.property(name, fc.constantFrom(...code), (n, write) => {
        expect(masked(write(n))).toEqual([]);
      }),
    );
  });
});

describe('SEC-1.1 a password that a person made of a telling word', () => {
  const telling = fc.constantFrom('Password', 'password', 'Secret', 'Token', 'Admin', 'Passw0rd');
  const chosen = fc.oneof(
    fc.tuple(title, telling, digits(4)).map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom('Super', 'My', 'Top', 'test', ''), telling, digits(2))
      .map((parts) => `${parts.join('')}!`),
    fc.tuple(telling, digits(3)).map((parts) => parts.join('')),
    fc.tuple(title, telling).map((parts) => `${parts.join('')}!`),
    fc.tuple(word, word, digits(4)).map(([left, right, number]) => `${left}_${right}_${number}`.toUpperCase()),
  );
  const lines: readonly ((value: string) => string)[] = [
    ...QUOTED,
    (v) => `DB_PASSWORD=${v}\n`,
    (v) => `db:\n  user: app\n  password: ${v}\n`,
    (v) => `[db]\nuser = app\npassword = ${v}\n`,
    (v) => `DATABASE_URL=postgres://app:${v}@db.example.com/shop\n`,
    (v) => `mysql -u app -p'${v}' shop\n`,
  ];

  it('is one', () => {
    fc.assert(
      fc.property(chosen, fc.constantFrom(...lines), (value, write) => {
        expect(masked(write(value))).toEqual([value]);
      }),
    );
  });

  it.each([
    'your_password_here',
    'your_password_123',
    'changeme',
    'changeme!',
    'change_this',
    '<password>',
    'EXAMPLE_PASSWORD',
    'example-password',
    'mysecretpassword',
    'UberSecretPassword',
    'db-password',
    'DB_PASSWORD',
    'password2',
    'sk-xxxxxxxx',
    'pass-****',
  ])('but a placeholder stays: %s', (value) => {
    for (const write of lines) expect(masked(write(value)), write(value)).toEqual([]);
  });
});

describe('SEC-1.1 a dollar sign between letters begins no variable', () => {
  it('whatever follows it', () => {
    const value = fc
      .tuple(word, fc.constantFrom(...LETTERS, ...DIGITS), digits(2), word)
      .map(([left, first, number, right]) => `${left}$${first}${number}${right}`);
    fc.assert(
      fc.property(value, fc.constantFrom(...QUOTED), (secret, write) => {
        expect(masked(write(secret))).toEqual([secret]);
      }),
    );
  });
});

describe('SEC-1.1 a published value has its form, and another value under the same name is a secret', () => {
  const random = (pattern: string) => fc.stringMatching(new RegExp(`^${pattern}$`));
  it.each<[string, fc.Arbitrary<string>, (value: string) => string]>([
    ['a date', random('[12][0-9][.]1[0-2][.]19[0-9]{2}'), (v) => `password: "${v}"\n`],
    ['a date', random('[12][0-9][.]1[0-2][.]19[0-9]{2}'), (v) => `DB_PASSWORD=${v}\n`],
    [
      'a run of characters in a longer value',
      random('[a-z]{3}[0-9]{4}x{8}[A-Z]{3}[0-9]{4}[a-z]{3}'),
      (v) => `DB_PASSWORD=${v}\n`,
    ],
    ['the name of an algorithm', random('sha256-[a-z]{4}[0-9]{4}[A-Z]{3}'), (v) => `password: "${v}"\n`],
    ['my-', random('my-[a-z]{3}[aeiou][a-z]{2}-[0-9]{4}[A-Z]{3}'), (v) => `DB_PASSWORD=${v}\n`],
    ['realm=', random('realm=[0-9][A-Z][a-z]{4}[0-9]{4}'), (v) => `{"password": "${v}"}\n`],
    ['GPG_KEY', random('[a-z]{4}[0-9]{4}[A-Z]{4}[a-z]{4}[0-9]{2}-x'), (v) => `PRIVATE_GPG_KEY_PASSWORD=${v}\n`],
  ])('%s', (_, values, write) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(masked(write(value))).toEqual([value]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});

describe('SEC-1.1 a secret that a person made of words', () => {
  const phrase = fc.array(word, { minLength: 3, maxLength: 5 }).map((words) => words.join('-'));
  const lines: readonly ((value: string) => string)[] = [
    (v) => `JWT_SECRET=${v}\n`,
    (v) => `const JWT_SECRET = '${v}';\n`,
    (v) => `DEBUG = True\nSECRET_KEY = '${v}'\nALLOWED_HOSTS = []\n`,
    (v) => `production:\n  secret_key_base: ${v}\n`,
    (v) => `app.config['SECRET_KEY'] = '${v}'\n`,
    (v) => `{"client_secret": "${v}"}\n`,
    (v) => `app.use(session({ secret: '${v}', resave: false }));\n`,
    (v) => `password => ${v}\n`,
    (v) => `password: ${v} # for now\n`,
  ];

  it('is found under its name', () => {
    fc.assert(
      fc.property(phrase, fc.constantFrom(...lines), (value, write) => {
        expect(masked(write(value))).toEqual([value]);
      }),
    );
  });

  it.each([
    'token: purple-monkey-lamp\n',
    'existingSecret: purple-monkey-lamp\n',
    'secretName: purple-monkey-lamp\n',
    "const SECRET_NAME = 'purple-monkey-lamp';\n",
  ])('and a name stays: %j', (text) => {
    expect(masked(text)).toEqual([]);
  });
});

describe('SEC-1.1 a password in files of settings', () => {
  it('is no call if a remark in brackets follows', () => {
    fc.assert(
      fc.property(title, digits(2), (name, number) => {
        const secret = `${name}${number}`;
        expect(masked(`db:\n  user: app\n  password: ${secret} (change this soon)\n`)).toEqual([secret]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  const value = fc.oneof(
    fc.tuple(word, digits(2)).map((parts) => parts.join('')),
    fc.tuple(title, digits(4)).map((parts) => parts.join('')),
    fc.stringMatching(/^[a-z][A-Z]{2}[a-z]{2}[A-Z]{3}[a-z][A-Z]{2}[a-z]$/),
  );
  it.each<[string, (value: string) => string]>([
    ['of Logstash', (v) => `output {\n  elasticsearch {\n    user => "app"\n    password => "${v}"\n  }\n}\n`],
    ['as grep prints it', (v) => `config/app.yml:12:  password: ${v}\n`],
    ['as grep prints it without numbers', (v) => `app/settings.ini:password = ${v}\n`],
    ['of a variable as grep prints it', (v) => `./.env:3:DB_PASSWORD=${v}\n`],
    ['of a variable of a script', (v) => `if [ -z "$X" ]; then\n  exit 1\nfi\nDB_PASS=${v}\nrun "$DB_PASS"\n`],
    ['of FreeRADIUS', (v) => `client router {\n\tipaddr = 10.0.0.1\n\tsecret = ${v}\n}\n`],
    ['of Dovecot', (v) => `hosts = ldap.example.com\ndnpass = ${v}\n`],
  ])('%s', (_, write) => {
    fc.assert(
      fc.property(value, (secret) => {
        expect(masked(write(secret))).toEqual([secret]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});
