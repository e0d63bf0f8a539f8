import { generate } from '../sample-patterns.ts';
import { type Kind, kebab, number, one, snake, strong, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const chosen = (random: Random): string => `${word(random)}${number(10, 9999, random)}`;

const SECRET_NAMES =
  'DB_PASSWORD API_TOKEN CLIENT_SECRET ENCRYPTION_KEY SIGNING_KEY MASTER_KEY LDAP_BIND_PW SMTP_PASS JWT_SECRET STRIPE_API_KEY';
const nameOf = (random: Random): string => `${word(random).toUpperCase()}_${one(SECRET_NAMES.split(' '), random)}`;

/** Two values that a program takes by a name on the line above, with ordinary lines around. */
type Manifest = (value: string, random: Random) => string;

const MANIFESTS: readonly Manifest[] = [
  (v, r) =>
    `        - name: ${snake(r).toUpperCase()}\n          value: "${number(1, 99, r)}"\n        - name: ${nameOf(r)}\n          value: ${v}\n`,
  (v, r) => `            - name: "${nameOf(r)}"\n              value: "${v}"\n            - name: ${word(r)}\n`,
  (v, r) =>
    `        {\n          "name": "${nameOf(r)}",\n          "value": "${v}"\n        },\n        {\n          "name": "PORT",\n`,
  (v, r) =>
    `      environment = [\n        {\n          name  = "${nameOf(r)}"\n          value = "${v}"\n        },\n`,
  (v, r) => `stringData:\n  username: ${word(r)}\n  ${word(r)}: ${v}\ntype: Opaque\n`,
  (v, r) => `users:\n- name: ${word(r)}\n  user:\n    token: ${v}\n`,
];

/** The same lines as a program prints them. */
type Decorate = (lines: readonly string[], random: Random) => string;

const prefixed =
  (prefix: (at: number) => string): Decorate =>
  (lines) =>
    lines.map((line, at) => `${prefix(at)}${line}\n`).join('');

const DECORATIONS: Readonly<Record<string, Decorate>> = {
  'added lines of a diff': (lines, random) =>
    `diff --git a/k8s/${word(random)}.yaml b/k8s/${word(random)}.yaml\n--- /dev/null\n+++ b/k8s/${word(random)}.yaml\n@@ -0,0 +1,${lines.length} @@\n${prefixed(() => '+')(lines, random)}`,
  'removed lines of a diff': (lines, random) =>
    `@@ -4,${lines.length} +4,0 @@ spec:\n${prefixed(() => '-')(lines, random)}`,
  'lines around a change': (lines, random) =>
    `@@ -4,9 +4,9 @@ spec:\n${prefixed(() => ' ')(lines, random)}-  replicas: 1\n+  replicas: ${number(2, 9, random)}\n`,
  'added lines alone': prefixed(() => '+'),
  'a quotation': prefixed(() => '> '),
  'a quotation of a quotation': prefixed(() => '> > '),
  'a bar': prefixed(() => '| '),
  'lines of grep -n': (lines, random) => {
    const first = number(5, 120, random);
    return prefixed((at) => `${first + at}:`)(lines, random);
  },
  'lines of grep -n -A': prefixed((at) => (at === 0 ? '31:' : `${31 + at}-`)),
  'lines of grep over files': (lines, random) => {
    const file = `k8s/${kebab(random)}.yaml`;
    return prefixed((at) => (at === 0 ? `${file}:31:` : `${file}-${31 + at}-`))(lines, random);
  },
  'lines of grep without numbers': (lines, random) => {
    const file = `./${word(random)}/${kebab(random)}.yaml`;
    return prefixed((at) => (at === 0 ? `${file}:` : `${file}-`))(lines, random);
  },
  'numbers of cat -n': prefixed((at) => `${String(at + 8).padStart(6)}\t`),
  'numbers with a bar': prefixed((at) => `${String(at + 8).padStart(4)} | `),
  'numbers of bat': prefixed((at) => `${String(at + 98).padStart(4)} │ `),
  'the log of a service': (lines, random) => {
    const service = `${word(random)}-${number(1, 3, random)}  | `;
    return prefixed(() => service)(lines, random);
  },
  'a side of a diff without a header': prefixed(() => '< '),
  'lines of a diff with context': prefixed(() => '! '),
  'the log of a pod': (lines, random) => {
    const pod = `[pod/${word(random)}-${generate('[0-9a-f]{9}', random)}-${generate('[a-z0-9]{5}', random)}/${word(random)}] `;
    return prefixed(() => pod)(lines, random);
  },
  'the log of Maven': prefixed(() => '[INFO] '),
  'git blame': (lines, random) => {
    const [first, author] = [number(5, 90, random), `${word(random)} ${word(random)}`];
    return prefixed(
      (at) =>
        `${generate('[0-9a-f]{8}', random)} (${author} 2026-11-${number(10, 30, random)} 10:11:${number(10, 59, random)} +0100 ${first + at}) `,
    )(lines, random);
  },
  'git blame of a renamed file': (lines, random) => {
    const [first, file] = [number(5, 90, random), `k8s/${kebab(random)}.yaml`];
    return prefixed(
      (at) => `^${generate('[0-9a-f]{7}', random)} ${file} (${word(random)} 2026-11-02 10:11:12 +0100 ${first + at}) `,
    )(lines, random);
  },
  'git grep at a revision': (lines, random) => {
    const file = `${one(['HEAD', 'HEAD~2', 'v1.2.0', 'origin/main'], random)}:k8s/${kebab(random)}.yaml`;
    return prefixed((at) => (at === 0 ? `${file}:31:` : `${file}-${31 + at}-`))(lines, random);
  },
  'a diff with numbers of lines': (lines, random) => prefixed((at) => `${at + 31}:+`)(lines, random),
  'a diff in a quotation': (lines, random) => `> @@ -1 +1,9 @@\n${prefixed(() => '> +')(lines, random)}`,
};

function decorated(decorate: Decorate, random: Random): string {
  const value = `«${one([quiet, quiet, chosen], random)(random)}»`;
  return decorate(one(MANIFESTS, random)(value, random).trimEnd().split('\n'), random);
}

/** What a value of a name is that is no secret. */
const ORDINARY: readonly ((random: Random) => string)[] = [
  (r) =>
    `        - name: ${nameOf(r)}\n          valueFrom:\n            secretKeyRef:\n              name: ${kebab(r)}\n              key: ${word(r)}\n`,
  (r) => `        - name: ${nameOf(r)}\n          value: \${${nameOf(r)}}\n`,
  (r) => `        - name: ${snake(r).toUpperCase()}\n          value: ${quiet(r)}\n`,
  (r) =>
    `        {\n          "name": "${nameOf(r)}",\n          "valueFrom": "arn:aws:ssm:eu-west-1:1:parameter/${word(r)}"\n        }\n`,
  (r) => `    /** The ${word(r)} of a token. */\n    private ${word(r)} = ${word(r)}(token);\n    return password;\n`,
  (r) => `  password:\n    description: ${word(r)} ${word(r)}\n    type: string\n`,
];

/** A name and its value are a pair whatever a program writes before each of their lines. */
export const decoratedLines: Kind = {
  name: 'lines that a program decorated',
  makers: {
    ...Object.fromEntries(
      Object.entries(DECORATIONS).map(([name, decorate]) => [
        name,
        (random: Random) => ({ texts: [decorated(decorate, random)] }),
      ]),
    ),
    'a value that was changed': (random) => {
      const name = nameOf(random);
      return {
        texts: [
          `@@ -4,5 +4,5 @@ spec:\n         - name: ${name}\n-          value: «${quiet(random)}»\n+          value: «${quiet(random)}»\n         - name: PORT\n`,
        ],
      };
    },
    'a name that was changed': (random) => ({
      texts: [
        `@@ -4,5 +4,5 @@ spec:\n-        - name: ${nameOf(random)}\n+        - name: ${nameOf(random)}\n           value: «${quiet(random)}»\n         - name: PORT\n`,
      ],
    }),
    'a value that was taken out': (random) => ({
      texts: [
        `@@ -4,5 +4,8 @@ spec:\n         - name: ${nameOf(random)}\n-          value: «${quiet(random)}»\n+          valueFrom:\n+            secretKeyRef:\n+              name: ${kebab(random)}\n+              key: ${word(random)}\n`,
      ],
    }),
    'what is no secret, decorated': (random) => ({
      texts: [one(Object.values(DECORATIONS), random)(one(ORDINARY, random)(random).trimEnd().split('\n'), random)],
    }),
    'lines that grep found apart': (random) => ({
      texts: [
        `7:        - name: ${nameOf(random)}\n98:          value: ${kebab(random)}-${generate('[a-z]{3}[0-9]{3}', random)}\n`,
      ],
    }),
    'a list': (random) => ({
      texts: [
        `${one(['- ', '+ '], random)}${[`name: ${nameOf(random)}`, `the password of ${word(random)}`, `token of ${word(random)}`].join(`\n${one(['- ', '- '], random)}`)}\n- ${kebab(random)}-${number(100, 999, random)}\n`,
      ],
    }),
    'a table': (random) => ({
      texts: [
        `| name | ${word(random)} |\n|---|---|\n| password | ${word(random)} ${word(random)} |\n| token | ${word(random)} |\n`,
      ],
    }),
    'changed words': (random) => ({
      texts: [
        one(
          [
            (a: string, b: string) => `  password: [-${a}-]{+${b}+}\n`,
            (a: string, b: string) => `DB_PASSWORD=[-${a}-]{+${b}+}\n`,
            (a: string, b: string) => `    "api_key": [-"${a}",-]{+"${b}",+}\n`,
            (a: string, b: string) => `        - name: ${nameOf(random)}\n          value: [-${a}-]{+${b}+}\n`,
          ],
          random,
        )(`«${quiet(random)}»`, `«${quiet(random)}»`),
      ],
    }),
    'changed words that are no secret': (random) => ({
      texts: [
        one(
          [
            () => `  password: [-\${${nameOf(random)}}-]{+{{ ${snake(random)} }}+}\n`,
            () => `  token: [-${snake(random)}-]{+get${word(random)}()+}\n`,
            () => `  secretName: [-${kebab(random)}-]{+${kebab(random)}+}\n`,
            () => `  [-password-]{+passphrase+}: ''\n`,
            () => `  The token of {+the ${word(random)} of+} a session [-is-]{+was+} ${word(random)}.\n`,
          ],
          random,
        )(),
      ],
    }),
  },
};
