import { generate } from '../sample-patterns.ts';
import { camel, type Kind, number, one, ordinary, pascal, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

/** A question for a password, and what the program does with the answer on the same line. */
const PROMPTS: readonly ((question: string, random: Random) => [line: string, tail: string])[] = [
  (q) => [`    let secret = rpassword::prompt_password("${q}").unwrap();`, ').unwrap();'],
  (q) => [`    let password = prompt_password("${q}")?.trim().to_owned();`, ')?.trim().to_owned();'],
  (q) => [`        prompt_password("${q}").expect("${q}");`, ').expect('],
  (q) => [`    val password = System.console().readPassword("${q}").concatToString()`, ').concatToString()'],
  (q) => [`    let password = ask("${q}")!.trimmingCharacters(in: .whitespaces)`, ')!.trimmingCharacters(in:'],
  (q) => [`        var password = console.Prompt(new TextPrompt("${q}").Secret());`, ').Secret());'],
  (q) => [`    password = getpass.getpass("${q}").strip()`, ').strip()'],
  (q) => [`\tpassword, err := prompt.Hidden("${q}").Run(ctx)`, ').Run(ctx)'],
  (q) => [`  password = ask("${q}") { |question| question.echo = false }`, ') { |question|'],
  (q) => [`        $password = $this->secret('${q}') ?? exit(1);`, ') ?? exit(1);'],
  (q) => [`  final password = await ask('${q}').then(trimmed);`, ').then(trimmed);'],
  (q) => [`  const password = await question('${q}').catch(() => '');`, ').catch(() =>'],
  (q) => [`    password = Mix.shell().prompt("${q}") |> String.trim()`, ') |> String.trim()'],
  (q) => [`    let password = readPassword("${q}").stripLineEnd`, ').stripLineEnd'],
  (q) => [`    password <- getPassword (Just '*') "${q}" >>= maybe mempty pure`, ' >>= maybe mempty pure'],
  (q, random) => [`    ui.ask("${q}").map_err(${pascal(random)}::from)?;`, ').map_err('],
];

const QUESTIONS: readonly ((random: Random) => string)[] = [
  () => 'Password: ',
  () => 'Confirm Password: ',
  () => 'New password: ',
  (random) => `${title(random)} password: `,
  (random) => `Password (${word(random)}): `,
  () => 'Passphrase: ',
  (random) => `Please enter the ${word(random)} password: `,
];

/** A field or an argument for a password, whose value a type makes. */
const TYPED: readonly ((pack: string, type: string, random: Random) => string)[] = [
  (p, t) => `\t\t\t\t\t\tPassword: ${p}.${t}PasswordRef{`,
  (p, t) => `\t\t\t\tPassword: &${p}.${t}Selector{Name: "x"},`,
  (p, t) => `            password: ${p}::${t}::builder()`,
  (_p, t) => `        Password = new ${t}.${t}Options {`,
  (p, t) => `    password = ${p}.${t}Selector(`,
  (p, t) => `  password: ${p}.${t.toLowerCase()}.fetch(:value),`,
  (_p, t) => `            .password(${t}.builder().name("x").build())`,
  (_p, t) => `    public ${t}Holder Password { get; init; } = ${t}.Empty;`,
  (p, t) => `    token: ${p}.${t}Token<${t}>[],`,
  (p, t) => `  const password = z.object({ ${p}: ${t}Schema.min(8) });`,
  (p, t) => `  secret: ${p}.${t}Secret | undefined;`,
  (p, t) => `      'password' => ['required', '${p}', ${t}::class],`,
  (p, _t) => `      "password" => "required|string|${p}:8",`,
  (p, t) => `    PASSWORD: Final[${t}Password] = ${p}.${t}(`,
  (p, t) => `  apiKey: ${p}.${t}KeyResolver<${t}>;`,
];

/** Constants with numbers under names of secrets. */
const NUMBERED: readonly ((random: Random) => string)[] = [
  (random) => `    ${pascal(random)}Password = ${number(1000, 4999, random)},`,
  (random) => `    ${pascal(random)}TempPassword = ${number(1000, 4999, random)}, // ${word(random)}`,
  (random) => `  ${snake(random).toUpperCase()}_PASSWORD = ${number(1000, 4999, random)},`,
  (random) => `  static const int ${word(random)}Password = ${number(10_000, 49_999, random)};`,
];

function lines(count: number, random: Random): string {
  return Array.from({ length: count }, () => `${ordinary(random)}\n`).join('');
}

/** What a rule finds by its place is masked there; the session remembers only what is a credential by itself. */
export const spread: Kind = {
  name: 'a wrong value spreads',
  makers: {
    'code after a question': (random) => {
      const [line, tail] = one(PROMPTS, random)(one(QUESTIONS, random)(random), random);
      const used = `${lines(2, random)}    let x = ${camel(random)}(${word(random)}${tail} ${word(random)}\n`;
      return { texts: [`${lines(3, random)}${line}\n${lines(3, random)}`, used] };
    },
    'a type makes the value': (random) => {
      const [pack, type] = [word(random), pascal(random)];
      const line = one(TYPED, random)(pack, type, random);
      const used = `src/${pack}/${type}.kt\nsrc/${pack}/${type}Ref.kt\nuse ${pack}::${type};\n${type}PasswordRef ${type}Selector ${type}Options\n`;
      return { texts: [`${lines(3, random)}${line}\n${lines(3, random)}`, used] };
    },
    'numbers of constants': (random) => ({
      texts: [`enum ${pascal(random)} {\n${one(NUMBERED, random)(random)}\n${one(NUMBERED, random)(random)}\n}\n`],
    }),
    'a weak value stays at its place': (random) => {
      const value = `${word(random)}${number(10, 9999, random)}`;
      const first = one(
        [
          `db:\n  user: ${word(random)}\n  password: "«${value}»"\n`,
          `${word(random)} = Client(password="«${value}»")\n`,
          `ALTER USER app WITH PASSWORD '«${value}»';\n`,
        ],
        random,
      );
      return { texts: [first, `created ${value}.log\nlogin of ${value} at 10:11\nsrc/${value}/main.go\n`] };
    },
    'a value with a name of its own': (random) => {
      const value = `${one(['password', 'secret', 'token'], random)}_${number(100, 9999, random)}`;
      const used = `test_${value}_expires\n${value}: created\nGET /v1/${value}/status 200\n`;
      return { texts: [`assertEqual(password, "«${value}»")\n`, used] };
    },
    'a strong value is masked everywhere': (random) => {
      const value = strong(random);
      const first = one(
        [
          `db:\n  user: ${word(random)}\n  password: "«${value}»"\n`,
          `export ${word(random).toUpperCase()}_PASSWORD='«${value}»'\n`,
          `password = "«${value}»"\n`,
        ],
        random,
      );
      const used = one(
        [
          `connecting as ${word(random)} with «${value}»\n`,
          `["${word(random)}", "«${value}»", ${number(1, 90, random)}]\n`,
          `${word(random)} «${value}» ${word(random)}\n`,
        ],
        random,
      );
      return { texts: [first, used] };
    },
    'a generated password with signs': (random) => {
      const value = generate('[A-Z]{1}[a-z]{2}[0-9]{2}[!$%*]{1}[a-z]{2}[A-Z]{2}[0-9]{1}[#~^]{1}[a-z]{3}', random);
      return { texts: [`${word(random)}:\n  password: '«${value}»'\n`, `tried «${value}» twice\n`] };
    },
  },
};
