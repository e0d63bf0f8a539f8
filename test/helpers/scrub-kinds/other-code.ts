import { type Kind, kebab, number, one, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const NAMES = 'client_secret resource_owner_secret DB_PASSWORD api_token passphrase';

/** Lines of a file as grep and git grep print them, or as they are. */
function printed(lines: readonly string[], random: Random): string {
  const path = `${word(random)}/${snake(random)}${number(1, 9, random)}/${word(random)}.py`;
  const first = number(8, 400, random);
  const prefix = one(
    [
      (at: number) => `${path}:${first + at}:`,
      (at: number) => `${path}-${first + at}-`,
      (at: number) => (at === 0 ? `${path}:${first}:` : `${path}-${first + at}-`),
      () => `${path}:`,
      () => '',
    ],
    random,
  );
  return lines.map((line, at) => `${prefix(at)}${line}\n`).join('');
}

const WITHOUT: readonly ((random: Random) => string)[] = [
  (r) => printed([`    ${one(NAMES.split(' '), r)} = \\`, `        ${word(r)}.${snake(r)}`], r),
  (r) =>
    printed(
      [
        '  {',
        '    "kty": "RSA",',
        `    "n": ${snake(r)}_uint(numbers.n).decode(),`,
        `    "d": ${snake(r)}_uint(numbers.d)`,
        '  }',
      ],
      r,
    ),
  (r) =>
    `if ${word(r)}.compare(${word(r)}):\n    token = ${snake(r)}(token, "${one(['UTF-8', 'latin-1', 'utf-16'], r)}")\n`,
  (r) => `${printed([`  PASSWORD: 0x${number(1, 9, r)}000,`, `  ${word(r).toUpperCase()}: 0x2000,`], r)}`,
  (r) =>
    `remember_me=Recuérdame\nforgot_password=He olvidado mi contraseña\nforget_password=¿${title(r)} olvidado tu contraseña?\nsign_up=¿Necesitas una cuenta? Regístrate ahora.\n`,
  (r) => `    parser.add_argument("--${word(r)}-password", help="${word(r)}")\n`,
];

const WITH: readonly ((value: string, random: Random) => string)[] = [
  (v, r) => printed([`    ${one(NAMES.split(' '), r)} = \\`, `        '${v}'`], r),
  (v) => `DB_PASSWORD=\\\n${v}\n`,
  (v) => `{"kty":"oct","kid":"1","k":"${v}${v}"}\n`.replace('»«', ''),
  (v, r) => `if (strcmp(${word(r)}_password, "${v}") == 0) return 1;\n`,
  (v, r) => `  if (${word(r)}Password.equals("${v}")) {\n`,
];

/** A secret on the last line of a text, which has no end. */
const LAST: readonly ((value: string, random: Random) => string)[] = [
  (v, r) => `> the token of ${word(r)}\n> password: ${v}`,
  (v, r) => `${kebab(r)}.md:84:> ${word(r)} of a token\n${kebab(r)}.md:85:> \`PASSWORD = ${v}\`.`,
  (v) => `+  - name: DB_PASSWORD\n+    value: ${v}`,
];

/** What a reader of three more repositories found. */
export const otherCode: Kind = {
  name: 'what three more repositories hold',
  makers: {
    'no secret': (random) => ({ texts: [one(WITHOUT, random)(random)] }),
    'a secret in the same syntax': (random) => ({ texts: [one(WITH, random)(`«${quiet(random)}»`, random)] }),
    'a secret on the last line': (random) => ({ texts: [one(LAST, random)(`«${quiet(random)}»`, random)] }),
    'and the rest of a session': (random) => {
      const path = `${word(random)}/${word(random)}1/${word(random)}/${word(random)}.py`;
      return {
        texts: [
          `${path}:219:    client_secret = \\\n${path}:220:        request.client_secret\n`,
          `${path}:11:from ${word(random)} import ${word(random)}\n--\n${path}-12-import ${word(random)}\n`,
        ],
      };
    },
  },
};
