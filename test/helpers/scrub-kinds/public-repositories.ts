import { B64, generate, HEX, UUID } from '../sample-patterns.ts';
import { camel, type Kind, kebab, number, one, pascal, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const decimal = (random: Random): string => String(number(100_000_000, 2_147_483_647, random));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A page that a generator of documents made: ids with escapes around the name of a password. */
function generatedPage(random: Random): string {
  const rows = Array.from({ length: number(2, 6, random) }, () => {
    const [id, name] = [`${decimal(random)}%2F${title(random)}%2F-${decimal(random)}`, passwordName(random)];
    return one(
      [
        `<a data-name="${id}" anchor-label="${name}" id="${id}" data-filterable-set=":${kebab(random)}"></a>\n<div class="anchor-wrapper"><a href="#${id}">${name}</a></div>\n`,
        `<td title="${name}" id="${id}" class="${kebab(random)}">${word(random)}%20${word(random)}</td>\n`,
        `<li data-kind='${name}' data-key='${id}'><code>${camel(random)}</code></li>\n`,
      ],
      random,
    );
  });
  return rows.join('');
}

const passwordName = (random: Random): string =>
  one(
    [() => 'password', () => `${word(random)}Password`, () => `${word(random)}_password`, () => 'passphrase'],
    random,
  )();

/** A URL that a store of objects signed: only the signature opens it. */
function signedUrl(random: Random): string {
  const day = `2024${generate('[0-1]{1}', random)}${number(1, 9, random)}${number(10, 28, random)}`;
  const account = `${kebab(random)}%40${word(random)}.iam.gserviceaccount.com%2F${day}%2Fauto%2Fstorage%2Fgoog4_request`;
  return (
    `https://storage.googleapis.com/${kebab(random)}/${word(random)}%2F${generate(UUID, random)}.pdf?X-Goog-Algorithm=GOOG4-RSA-SHA256` +
    `&X-Goog-Credential=${account}&X-Goog-Date=${day}T133503Z&X-Goog-Expires=3600&X-Goog-SignedHeaders=host` +
    `&response-content-type=application%2Fpdf&X-Goog-Signature=«${generate(`${HEX}{256}`, random)}»`
  );
}

/** What grep prints of a chart: a name, a placeholder, and the path of the next line. */
function grepOfChart(random: Random): string {
  const path = `charts/${kebab(random)}-exporter/README.md`;
  const value = (): string => one(['password1', 'passwd2', 'password3', 'NOT_USED'], random);
  const line = one(
    [(v: string) => `password=${v}`, (v: string) => `        password: ${v}`, (v: string) => `db_passwd = ${v}`],
    random,
  );
  return Array.from({ length: number(2, 5, random) }, (_, at) => `${path}:${70 + 3 * at}:${line(value())}\n`).join('');
}

const CLUSTER_NAMES =
  'existingSecret existingSecretName secretName secretRef tls.secret.secretName passwordPolicy password_policy credential_provider secretStore existingPasswordSecret tokenRef secret_namespace';

/** Words that stand for what belongs there. */
const STAND_INS: readonly ((random: Random) => string)[] = [
  (r) => `${one(['my', 'very', 'super', 'some', 'our'], r)}${one(['secure', 'long', 'new', ''], r)}password`,
  (r) => `${one(['session', 'shared', 'supersecure', 'itsa', 'cookie'], r)}secret`,
  (r) => `A_${one(['HEX', 'BASE64', 'LONG'], r)}_STRING_OF_${one(['32', '64'], r)}_CHARACTERS_HERE`,
  () => 'long-and-random-string',
  () => 'random-unique-alphanumeric-string',
  () => 'motdepasse',
  () => 'MotDePasse',
];

const ENCRYPTED: readonly ((random: Random) => string)[] = [
  (r) => `EJ[1:${generate(`${B64}{43}`, r)}=:${generate(`${B64}{32}`, r)}:${generate(`${B64}{60}`, r)}==]`,
  (r) => `ENC[AES256_GCM,data:${generate(`${B64}{24}`, r)},iv:${generate(`${B64}{40}`, r)},type:str]`,
  (r) => `{cipher}${generate(`${HEX}{64}`, r)}`,
  (r) => `vault:v1:${generate(`${B64}{60}`, r)}`,
  (r) => `op://${generate('[a-z0-9]{26}', r)}/${generate('[a-z0-9]{26}', r)}/${one(['credential', 'password'], r)}`,
  (r) => `vault://${word(r)}/${one(['team', 'prod-cluster', 'kv-store'], r)}/password`,
  (r) => `\\u0024{${snake(r).toUpperCase()}_SECRET}`,
];

const ASSIGNED: readonly ((name: string, value: string) => string)[] = [
  (n, v) => `  "${n}": "${v}",\n`,
  (n, v) => `export ${n.toUpperCase()}="${v}"\n`,
  (n, v) => `    ${n} = "${v}"\n`,
  (n, v) => `${n}: '${v}'\n`,
];

const SECRET_NAMES = 'password db_password client_secret api_key auth_token secret_key_base encryption_key';

/** Code and settings in which something else stands beside the name of a secret. */
const OTHER_CODE: readonly ((random: Random) => string)[] = [
  (r) =>
    `            Password::Sha${one(['256', '512'], r)} { ${word(r)}, salt } => {\n                ${camel(r)}();\n`,
  (r) => `    let kind = Password::${pascal(r)};\n    match kind { Password::${title(r)} => {} }\n`,
  (r) =>
    `    case invalid${pascal(r)}Passphrase = -${number(10_000, 99_999, r)}\n    case missing${pascal(r)}Password = -${number(10_000, 99_999, r)}\n`,
  (r) => `cfg := Config{\n\t${title(r)}:     name,\n\tSkipK8sSecret: skipK8sSecret,\n\tE2eToken: e2eToken,\n}\n`,
  (r) => `src/${word(r)}/main.tf:18:            password = data.aws_ssm_parameter.${snake(r)}_password[0].value\n`,
  (r) =>
    `resource.TestCheckResourceAttr("${snake(r)}_jwt_auth_token.role",\n\t"${snake(r)}_audiences.0", "https://example.com"),\n`,
  (r) =>
    `        $rules = ['${word(r)}' => 'required|email', 'password' => 'required|string|min:${number(8, 16, r)}|confirmed'];\n`,
  (r) =>
    `        $rules = ['password' => 'required|confirmed|min:${number(8, 16, r)}|${one(['secure_password', 'not_in_history', 'strong_enough'], r)}'];\n`,
  (r) =>
    `ENV ${snake(r).toUpperCase()}_AUTH='{"path": "./${word(r)}/auth.mts:auth", "${word(r)}": ${number(1, 9, r)}}'\n`,
  (r) => `mysqlx://${word(r)}@db.example.com/${word(r)}?auth=sha256_mem&tls=1\n`,
  (r) => `[${word(r)}](https://example.com/channel/detail?sid=${number(10_000, 9_999_999, r)})\n`,
  (r) => `    request(withAuthorization: "Basic not-base-64"),\n    user: "${word(r)}"\n`,
  (r) => `$conn = oci_connect('${word(r)}', $password, '${word(r)}/XE');\n`,
  (r) => `        XCTAssertEqual(password.count, "xxx-xxx-xxx-xxx".count, "${word(r)}")\n`,
  (r) => `    prefs.set(${camel(r)}, forKey: "${camel(r)}${title(r)}TTSAllowBluetoothA2DPStream")\n`,
  (r) => `    certificate-authority-data: ${base64(word(r))}\n    server: https://localhost:6443\n`,
  (r) => `headers = {'Authorization': 'Basic ${base64(one(['foo:bar', 'bar:baz'], r))}'}\n`,
  () => '-----PLACEHOLDER OPENSSH PRIVATE KEY-----\nFAKEKEY==\n-----END OPENSSH PRIVATE KEY-----\n',
  (r) =>
    `"component::${snake(r)}::step::data::password" = "${one(['Salasõna', 'סיסמה', 'Passordið', 'รหัสผ่าน'], r)}";\n`,
];

/** The same syntaxes with a value that opens something. */
const SECRET_CODE: readonly ((v: string, random: Random) => string)[] = [
  (v, r) => `<a data-name="${word(r)}%2F${word(r)}" password="${v}" id="${word(r)}%2F1">x</a>\n`,
  (v, r) => `charts/${kebab(r)}/README.md:12:password=${v}\ncharts/${kebab(r)}/README.md:14:user=${word(r)}\n`,
  (v, r) => `  existingSecret: ${kebab(r)}\n  password: ${v}\n`,
  (v, r) => `$conn = oci_connect('${word(r)}', '${v}', '${word(r)}/XE');\n`,
  (v, r) =>
    `ENV ${snake(r).toUpperCase()}_AUTH='${v.replace('«', `«{"path": "./${word(r)}", "token": "`).replace('»', '"}»')}'\n`,
  (v, r) => `https://example.com/${word(r)}?sid=${number(1, 99, r)}&token=${v}\n`,
  (v) => `    let m = Password::new("${v}");\n    client.password = "${v}";\n`,
  (v, r) => `  password_policy = "${kebab(r)}"\n  db_password     = "${v}"\n`,
  (v, r) => `{"secretName": "${kebab(r)}", "secret_value": "${v}"}\n`,
];

/** What was wrong in repositories that no rule was written from, in other words: bench/public-repositories.md. */
export const publicRepositories: Kind = {
  name: 'what repositories hold that nobody tuned to',
  makers: {
    'a generated page': (random) => ({ texts: [generatedPage(random), generatedPage(random)] }),
    'a signed URL': (random) => {
      const url = signedUrl(random);
      return {
        texts: [
          `"[${word(random)}](${url})\\n",\n`,
          `{'created_on': '2024-06-17T13:32:45.9Z', 'status': 'Available'}\n`,
        ],
      };
    },
    'grep over a chart': (random) => ({
      texts: [grepOfChart(random), `cat charts/${kebab(random)}-exporter/README.md\n`],
    }),
    'what is said about a secret': (random) => ({
      texts: [
        one(ASSIGNED.slice(0, 1), random)(
          one(CLUSTER_NAMES.split(' '), random),
          `${kebab(random)}-tls-${generate('[a-z]{3}[0-9]{3}', random)}`,
        ),
        one(ASSIGNED, random)(
          one(['existingSecret', 'tls.secret.existingSecret', 'secret.secretName'], random),
          `${one(['new', 'es', 'old', 'os', 'db'], random)}-${one(['secret', 'tls', 'certificates', 'console'], random)}-${generate('[a-z]{3}[0-9]{3}', random)}`,
        ),
      ],
    }),
    'words for what belongs there': (random) => ({
      texts: [one(ASSIGNED, random)(one(SECRET_NAMES.split(' '), random), one(STAND_INS, random)(random))],
    }),
    'rows in the place of a token': (random) => ({
      texts: [
        one(ASSIGNED, random)(
          one(['api_token', 'access_key', 'api_key'], random),
          one(['abc123', '123456abcdefg', '123456789012', '1234abcd', 'abc123xyz'], random),
        ),
      ],
    }),
    'an encrypted value, a reference': (random) => ({
      texts: [one(ASSIGNED, random)(one(SECRET_NAMES.split(' '), random), one(ENCRYPTED, random)(random))],
    }),
    'other code': (random) => ({ texts: [one(OTHER_CODE, random)(random)] }),
    'a mark in a wrapped image': (random) => {
      const line = (): string => generate(`${B64}{75}[A-Za-z]{1}`, random);
      const marked = `${one(['ycn', 'AKIA', 'AKCp'], random)}${generate('[A-Z2-7]{20}', random)}`.padEnd(76, line());
      const end = one(['\\n",\n    "', '\\n', '\n'], random);
      return { texts: [`"image/png": "${[line(), line(), marked, line()].join(end)}"\n`] };
    },
    'a secret in the same syntax': (random) => ({
      texts: [one(SECRET_CODE, random)(`«${quiet(random)}»`, random)],
    }),
    'a token after a line of base64': (random) => ({
      texts: [
        `${generate(`${B64}{64}`, random)}\nAK${'IA'}`.replace(/AKIA$/, '') +
          `«AK${'IA'}${generate('[A-Z2-7]{16}', random)}»\n`,
      ],
    }),
    'a password of a row': (random) => ({
      texts: [`  password: «abc${number(100, 999, random)}${word(random)}»\n`],
    }),
  },
};
