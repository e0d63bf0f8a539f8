import { base64, wrap } from './evasion-forms.ts';
import { generate, seededRandom } from './sample-patterns.ts';

/** Name, secret or secrets, text, and the pieces that must be gone if they differ from the secret. */
export type Row = [name: string, secret: string | string[], text: string, pieces?: string[]];

export interface Samples {
  pat: string;
  aws: string;
  generic: string;
  password: string;
  word: string;
  key: string;
  make(pattern: string): string;
}

export function makeSamples(seed: number): Samples {
  const random = seededRandom(seed);
  const make = (pattern: string): string => generate(pattern, random);
  return {
    pat: make('ghp_[A-Za-z0-9]{36}'),
    aws: make('AKIA[A-Z2-7]{16}'),
    generic: make('[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{10}[0-9]{2}[A-Za-z0-9]{8}'),
    password: make('[a-z]{4}[0-9]{2}[A-Z]{2}[a-z]{4}'),
    word: make('[bdfklmnprst]{1}[aeiou]{1}[bdfklmnprst]{1}[aeiou]{1}[lmnrst]{2}[aeiou]{1}[bdfklmnprst]{1}[aeiou]{1}ng'),
    key: makeKey(random),
    make,
  };
}

/** The first bytes are those of a private key (DER of a PKCS #8 RSA key); the rest is noise. */
function makeKey(random: () => number): string {
  const head = [0x30, 0x82, 4, 0xbd, 2, 1, 0, 0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0, 4];
  const noise = Array.from({ length: 1200 - head.length }, () => Math.floor(random() * 256));
  const body = wrap(Buffer.from([...head, ...noise]).toString('base64'), 64);
  return `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
}

export function linesOf(key: string): string[] {
  return key.split('\n').slice(1, -1);
}

/** Secrets in plain text, but in places that scanners skip. */
export function excused({ pat, generic, make }: Samples): Row[] {
  const stopped = make('[a-z]{2}[0-9]{4}[A-Z]{3}abstract[0-9]{3}[A-Za-z]{6}');
  return [
    ['gitleaks:allow on the line', pat, `pat ${pat} # gitleaks:allow\n`],
    ['gitleaks:allow on line 1, token on unterminated last line', pat, `a line # gitleaks:allow\nmore\npat ${pat}`],
    [
      'generic + "--mount=type=secret," on line 1, unterminated last line',
      generic,
      `RUN --mount=type=secret,id=npm true\napi_key = "${generic}"`,
    ],
    ['generic value containing a stopword', stopped, `api_key = "${stopped}"\n`],
  ];
}

export function contexts(samples: Samples): Row[] {
  const { pat, generic, password, word, make } = samples;
  const secretYaml = (value: string): string =>
    `apiVersion: v1\ndata:\n  password: ${value}\n  username: ${base64('app')}\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\n`;
  const [yaml, manifest] = [base64(password), base64(`${pat}\n`)];
  const basic = base64(`deploy:${password}`);
  const bearer = make('[A-Za-z0-9]{20}[0-9]{3}[A-Za-z0-9]{17}');
  const awsSecret = make('[A-Za-z0-9/+]{37}[0-9]{3}');
  const npm = make('npm_[A-Za-z0-9]{36}');
  const docker = base64(`deploy:${pat}`);
  const azure = [make('[A-Za-z0-9]{3}8Q~[A-Za-z0-9_.-]{33}x'), make('[A-Za-z0-9]{3}8Q~[A-Za-z0-9_.-]{33}x')];
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
  const hook = make(`${uuid}@${uuid}/IncomingWebhook/[0-9a-f]{32}/${uuid}`);
  return [
    [
      'table column (no key next to value)',
      generic,
      ` id | name  |            api_key\n----+-------+------------------------------\n  1 | alice | ${generic}\n(1 row)\n`,
    ],
    ['kubectl Secret yaml, path unknown', password, secretYaml(yaml), [password, yaml]],
    ['same, path=deploy.yaml', pat, `---\n${secretYaml(manifest)}---\n`, [pat, manifest]],
    ['database URL password', password, `connecting to postgres://app:${password}@db.internal:5432/app\n`],
    ['password=word (low entropy)', word, `password=${word}\n`],
    ['Authorization: Basic header (no curl)', password, `> Authorization: Basic ${basic}\n`, [password, basic]],
    ['Authorization: Bearer opaque (no curl)', bearer, `> Authorization: Bearer ${bearer}\n`],
    ['AWS secret access key in env', awsSecret, `AWS_SECRET_ACCESS_KEY=${awsSecret}\n`],
    ['.npmrc _authToken', npm, `//packages.example.com/:_authToken=${npm}\n`],
    ['docker config.json auth', pat, `{"auths":{"packages.example.com":{"auth":"${docker}"}}}\n`, [pat, docker]],
    ['git remote URL with token', pat, `origin\thttps://${pat}@git.example.com/acme/app.git (fetch)\n`],
    ['two secrets separated by one char (Azure)', azure, `${azure.join(' ')}\n`],
    ['MS Teams webhook (secret = last repeated group)', hook, `https://acme.webhook.office.com/webhookb2/${hook}\n`],
  ];
}
