import { generate } from '../sample-patterns.ts';
import { type Kind, kebab, number, one, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const chosen = (random: Random): string => `${word(random)}${number(100, 9999, random)}`;
const passwordOf = (random: Random): string => `«${one([quiet, quiet, chosen], random)(random)}»`;
const keyValue = (random: Random): string => `«${quiet(random)}${generate('[A-Za-z0-9]{6}[0-9]{2}', random)}»`;
const upper = (random: Random): string => word(random).toUpperCase();
const nameOf = (random: Random): string =>
  `${upper(random)}_${one(['PASSWORD', 'API_TOKEN', 'CLIENT_SECRET', 'ENCRYPTION_KEY', 'DB_PASSWD'], random)}`;
const numbered = (random: Random): string =>
  `${nameOf(random)}${one(['_1', '_2', '2', '_OLD', '_PROD', '_TEST'], random)}`;
const anyName = (random: Random): string => one([nameOf, numbered], random)(random);

/** A name and a value with something between them, or in the other order. */
const PAIRS: readonly ((name: string, value: string, random: Random) => string)[] = [
  (n, v) => `{"value":"${v}","name":"${n}"}\n`,
  (n, v) => `  { "Value": "${v}", "Name": "${n}" },\n`,
  (n, v) => `        - value: ${v}\n          name: ${n}\n`,
  (n, v) => `        {\n          value = "${v}"\n          name  = "${n}"\n        },\n`,
  (n, v, r) => `        - name: ${n} # ${word(r)} ${word(r)}\n          value: ${v}\n`,
  (n, v, r) => `        - name: ${n}\n          # ${word(r)} ${word(r)}\n          value: ${v}\n`,
  (n, v) => `{"name":"${n}","type":"string","value":"${v}"}\n`,
  (n, v, r) => `  {\n    "name": "${n}",\n    "${word(r)}": true,\n    "value": "${v}"\n  }\n`,
  (n, v) => `        - name: ${n}\n          value: ${v}\n`,
  (n, v) => `{"Name":"/${n.toLowerCase()}","Type":"SecureString","Value":"${v}","Version":1}\n`,
];

/** A value one level below its name. */
const NESTED: readonly ((name: string, value: string) => string)[] = [
  (n, v) => `${n}:\n  value: ${v}\n`,
  (n, v) => `  ${n.toLowerCase()}:\n    value: "${v}"\n    type: string\n`,
  (n, v) => `    "${n.toLowerCase()}": {\n      "value": "${v}"\n    },\n`,
  (n, v) => `  ${n}:\n    required: true\n    default: ${v}\n`,
  (n, v) => `  ${n.toLowerCase()} = {\n    value = "${v}"\n  }\n`,
];

const ROWS: readonly ((name: string, value: string, random: Random) => string)[] = [
  (n, v, r) =>
    `┌──────────────┬────────┐\n│ NAME         │ VALUE  │\n├──────────────┼────────┤\n│ ${n} │ ${v} │\n│ ${upper(r)} │ ${word(r)} │\n└──────────────┴────────┘\n`,
  (n, v) => `│ ${n} │ ${v} │\n`,
  (n, v, r) => `| name | value | ${word(r)} |\n|---|---|---|\n| ${n} | ${v} | ${word(r)} |\n`,
  (n, v) => `┃ ${n} ┃ ${v} ┃\n`,
  (n, v) => `║ ${n} ║ ${v} ║\n`,
];

const CHANGES: readonly ((name: string, before: string, after: string) => string)[] = [
  (n, a, b) => `${n}: "${a}"->"${b}"\n`,
  (n, a, b) => `${n}: '${a}'->'${b}'\n`,
  (n, a, b) => `${n}: "${a}" → "${b}"\n`,
  (n, a, b) => `${n}: '${a}' → '${b}'\n`,
  (n, a, b) => `${n} = "${a}"=>"${b}"\n`,
];
const FROM_NOTHING: readonly ((name: string, after: string) => string)[] = [
  (n, b) => `${n}: null → "${b}"\n`,
  (n, b) => `${n}: (sensitive) -> "${b}"\n`,
  (n, b) => `  ~ ${n} = (sensitive value) -> "${b}"\n`,
  (n, b) => `${n}: nil -> '${b}'\n`,
  (n, b) => `${n}: null->"${b}"\n`,
];

/** Keys of kinds that no list names. */
const KEY_NAMES: readonly ((random: Random) => string)[] = [
  (r) => `${upper(r)}_KEY`,
  () => 'FERNET_KEY',
  () => 'COOKIE_KEY',
  (r) => `${word(r)}_key`,
];
const KEY_PAIRS: readonly ((name: string, value: string) => string)[] = [
  (n, v) => `- name: ${n}\n  value: ${v}\n`,
  (n, v) => `{"name":"${n}","value":"${v}"}\n`,
  (n, v) => `{"name": "${n}", "type": "string", "value": "${v}"}\n`,
];

const WITHOUT: readonly ((random: Random) => string)[] = [
  (r) => `[{"value":"${word(r)}","name":"COLOR"},{"value":"5","name":"${nameOf(r)}_LENGTH"}]\n`,
  (r) => `- value: ${quiet(r)}\n  name: ${upper(r)}\n- name: ${nameOf(r)}\n  valueFrom: x\n`,
  (r) => `{"value":"${kebab(r)}-${number(1, 9, r)}","name":"${upper(r)}"},{"name":"${nameOf(r)}"}\n`,
  (r) =>
    `              key: ${upper(r)}_LICENSE_KEY\n            - name: ${upper(r)}\n              value: "${word(r)}"\n            - name: PORT\n`,
  (r) => `- name: ${one(['SORT', 'CACHE', 'PARTITION', 'PUBLIC'], r)}_KEY\n  value: ${quiet(r)}${quiet(r)}\n`,
  (r) => `- name: ${upper(r)}_KEY\n  value: ${kebab(r)}\n`,
  (r) => `  password:\n    value: {{ ${word(r)} }}\n  ${word(r)}Token:\n    value: \${${upper(r)}}\n`,
  (r) => `  password:\n    description: ${word(r)}\n    type: string\n`,
  (r) => `  max_tokens:\n    value: ${number(100, 9000, r)}\n  token:\n    default: ${word(r)}\n`,
  (r) => `| ${nameOf(r)} | ${word(r)} ${word(r)} | yes |\n| token | varchar255 | ${word(r)} |\n`,
  (r) => `│ ${snake(r)}_token │ ${word(r)} │\n│ password_length │ ${number(8, 64, r)} │\n`,
  (r) => `| max_token | ${number(100, 9000, r)}tokens |\n| secret | 2026-11-${number(10, 30, r)} |\n`,
  (r) => `password: '{{ ${word(r)} }}' -> '\${${upper(r)}}'\ntoken: "\${${upper(r)}}" → "{{ ${word(r)} }}"\n`,
  (r) => ` count \n-------\n    ${number(1, 99, r)}\n(1 row)\n token \n-------\n ${word(r)}\n(1 row)\n`,
  (r) => `Password\n--------\nThe ${word(r)} of a ${word(r)} has ${number(8, 20, r)} characters.\n`,
  (r) => `Token\n-----\n\n${word(r)}${number(100, 999, r)}x\n`,
];

const CODES: readonly ((code: string, random: Random) => string)[] = [
  (c, r) => `GET /${word(r)}/callback?code=${c}&state=${generate('[a-z0-9]{10}', r)} 302\n`,
  (c, r) => `Location: https://${word(r)}.example.com/cb?state=${generate('[a-z0-9]{12}', r)}&code=${c}\n`,
  (c, r) => `https://localhost:3000/cb?code=${c}&scope=openid%20email&state=${word(r)}\n`,
];
const NO_CODES: readonly ((random: Random) => string)[] = [
  (r) => `GET /items?code=${number(100, 99_999, r)}&state=open\n`,
  (r) => `https://example.com/?code=${word(r)}&state=${word(r)}\n`,
  (r) => `/shop?code=${upper(r)}${number(2020, 2026, r)}&state=BY\n`,
  (r) => `/err?code=invalid_${snake(r)}_${number(1, 9, r)}&state=x\n`,
  () => `/cb?code=\${code}&state=\${state}\n`,
];

/** A name and its value, in the ways that programs order and draw them. */
export const otherPairs: Kind = {
  name: 'names and values in other orders',
  makers: {
    'a pair': (random) => ({ texts: [one(PAIRS, random)(anyName(random), passwordOf(random), random)] }),
    'a value below its name': (random) => ({ texts: [one(NESTED, random)(nameOf(random), passwordOf(random))] }),
    'a row of a table': (random) => ({ texts: [one(ROWS, random)(anyName(random), passwordOf(random), random)] }),
    'a table of one column': (random) => {
      const name = one(['password', 'api_token', 'secret'], random);
      const rows = Array.from({ length: number(1, 4, random) }, () => ` «${quiet(random)}»\n`);
      return {
        texts: [
          `${word(random)}=# select ${name} from ${word(random)};\n ${name} \n${'-'.repeat(name.length + 2)}\n${rows.join('')}(${rows.length} row${rows.length === 1 ? '' : 's'})\n\n`,
        ],
      };
    },
    'a value that was changed': (random) => ({
      texts: [
        one(CHANGES, random)(
          one(['password', 'db_password', 'api_key'], random),
          `«${quiet(random)}»`,
          `«${quiet(random)}»`,
        ),
      ],
    }),
    'a value where there was none': (random) => ({
      texts: [
        one(FROM_NOTHING, random)(one(['password', 'auth_token', 'client_secret'], random), `«${quiet(random)}»`),
      ],
    }),
    'a key of any kind': (random) => ({
      texts: [one(KEY_PAIRS, random)(one(KEY_NAMES, random)(random), keyValue(random))],
    }),
    'a password before a template': (random) => ({
      texts: [
        one(
          [
            (v: string) => `DB_PASSWORD=${v}\${${upper(random)}}\n`,
            (v: string) => `db_password: "${v}\${${word(random)}}"\n`,
            (v: string) => `--password=${v}\${${upper(random)}} --host ${word(random)}\n`,
            (v: string) => `API_TOKEN=${v}$(hostname)\n`,
          ],
          random,
        )(`«${quiet(random)}»`),
      ],
    }),
    'a template with words beside it': (random) => ({
      texts: [
        one(
          [
            () => `DB_PASSWORD=${word(random)}-\${${upper(random)}}\n`,
            () => `password: ${word(random)}${number(1, 9, random)}\${${upper(random)}}\n`,
            () => `DB_PASSWORD=\${${upper(random)}}${word(random)}${number(10, 99, random)}\n`,
            () => `TOKEN=\${${upper(random)}}\${${title(random)}}\n`,
          ],
          random,
        )(),
      ],
    }),
    'the code of an authorization': (random) => ({
      texts: [
        one(CODES, random)(
          `«${generate(one(['4/0AX[A-Za-z0-9_-]{20}[0-9]{3}[A-Z]{3}[a-z]{3}', '[A-Za-z0-9]{24}[0-9]{3}[A-Z]{3}'], random), random)}»`,
          random,
        ),
      ],
    }),
    'a code of another kind': (random) => ({ texts: [one(NO_CODES, random)(random)] }),
    'what is no secret': (random) => ({ texts: [one(WITHOUT, random)(random)] }),
  },
};
