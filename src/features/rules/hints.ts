import { hasHole } from './pattern.ts';
import { isQuiet, settingsIn } from './quiet.ts';
import { wordText } from './words.ts';
import { baseName, SHELLS, shellSource, WRAPPERS, wrappedWords } from './wrappers.ts';

/** What a program may run of its own words, as far as nothing says that it does not. */
export interface Hints {
  /** Lists of words of which every tail may be a command. */
  readonly tails: readonly (readonly string[])[];
  /** Texts that may be commands as a whole. */
  readonly texts: readonly string[];
}

/** What the words of a command, and the text that it reads, may make its program run. */
export function hintsOf(words: readonly string[], input: string): Hints {
  const [first = '', ...rest] = words;
  const name = baseName(first);
  const texts = withoutOptions(words);
  if (SHELLS.has(name)) return { tails: shellSource(words).from === 'file' ? [rest] : [], texts };
  if (isQuiet(name, rest)) {
    const inner = settingsIn(words).flatMap(commandsInWord);
    return { tails: tailsIn(inner), texts: [...texts, ...inner, ...rest.filter(isIndex).flatMap(commandsInWord)] };
  }
  const own = READ_ELSEWHERE.has(name) || Object.hasOwn(WRAPPERS, name) ? [] : [rest];
  const inner = [...rest, input].flatMap(commandsInWord);
  return { tails: [...own, ...tailsIn(inner)], texts: [...texts, ...inner, ...rest.flatMap(attachedWord)] };
}

/** A shell takes quotes and backslashes out of a word: `r""m`. */
function commandsInWord(word: string): string[] {
  return [...commandsIn(word), ...commandsIn(word.replaceAll(/["'\\]/g, ''))];
}

/** The value of an option that may be the name of a program: `--use-compress-program=rm`. */
function attachedWord(word: string): string[] {
  return /^--?[\w-]+=(\S+)$/.exec(word)?.slice(1) ?? [];
}

/** What a variable may make programs run: those that it is set for may run any part of it. */
export function hintsOfValues(values: readonly string[], isForCommand: boolean): Hints {
  const texts = values.flatMap(commandsInWord);
  return { tails: isForCommand ? tailsIn(texts) : [], texts };
}

/** The words behind a program that may run them. */
function tailsIn(texts: readonly string[]): string[][] {
  return texts
    .map((text) => text.split(' '))
    .filter(([name = '', ...rest]) => !isQuiet(baseName(name), rest))
    .map(([, ...rest]) => rest);
}

/** Commands whose words are commands in ways that are read elsewhere. Their texts may hold others. */
const READ_ELSEWHERE = new Set([
  ...['declare', 'env', 'export', 'flock', 'local', 'readonly', 'runuser', 'script', 'set', 'su', 'typeset'],
  ...['alias', 'eval', 'trap', 'watch', 'xargs'],
]);

/** Bash evaluates the index of an array in the words of some builtins. */
function isIndex(word: string): boolean {
  return /\[.*(?:\$\(|`)/s.test(word);
}

/** The commands in constant words of a test or a loop, which bash may evaluate: `[[ -v 'a[$(…)]' ]]`, `${i@P}`, `((i))`. */
export function textsInWordsOf(node: object): string[] {
  const words = Object.values(node)
    .flat()
    .filter((word) => typeof word === 'object' && word !== null && 'value' in word);
  return words.map(wordText).flatMap((text) => (/\$\(|`/.test(text) ? commandsInWord(text) : []));
}

/** Ends a command in shell source, and often in other languages: quotes, brackets, `=`. */
const BETWEEN = /[;&|(){}[\]<>`"'$=!,\n\r]+/;

/** The parts of a word or text that read like a command of several words, without the programs that start others. */
export function commandsIn(word: string): string[] {
  if (!/\s/.test(word) && !/\$\(|`/.test(word)) return [];
  const isAnyLength = /\$\(|`/.test(word);
  return word.split(BETWEEN).flatMap((part) => {
    let words = part.trim().split(/\s+/);
    // The value of an option may follow it at once: `-cCOMMAND`.
    const texts = /^-\w\w/.test(words[0] ?? '') ? [[(words[0] ?? '').slice(2), ...words.slice(1)]] : [];
    for (let wrapper = wrapperOf(words); ; wrapper = wrapperOf(words)) {
      texts.push(words);
      if (wrapper === undefined) break;
      words = wrappedWords(wrapper, words);
    }
    return texts.filter((one) => one.length > 1 || isAnyLength).map((one) => one.join(' '));
  });
}

function wrapperOf([first = '']: readonly string[]): Parameters<typeof wrappedWords>[0] | undefined {
  const name = baseName(first);
  return Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
}

/** Options before the subcommand, of programs of which they are known: whether the next word is their value. */
const KNOWN: Readonly<Record<string, ReadonlyMap<string, boolean>>> = {
  git: new Map([
    ...[
      '-C',
      '-c',
      '--git-dir',
      '--work-tree',
      '--namespace',
      '--config-env',
      '--super-prefix',
      '--attr-source',
      '--shallow-file',
    ].map((option) => [option, true] as const),
    ...[
      '-p',
      '--paginate',
      '-P',
      '--no-pager',
      '--bare',
      '--no-optional-locks',
      '--no-replace-objects',
      '--literal-pathspecs',
    ].map((option) => [option, false] as const),
  ]),
};

/** The command without the options before its first other word, each with and without a value if that is not known. */
function withoutOptions(words: readonly string[]): string[] {
  const texts: string[] = [];
  const [first = ''] = words;
  const known = Object.hasOwn(KNOWN, baseName(first)) ? KNOWN[baseName(first)] : undefined;
  let at = 1;
  while (/^-./.test(words[at] ?? '') && texts.length < OPTIONS_MAX) {
    const isValued = words[at + 1] !== undefined && !/^-./.test(words[at + 1] ?? '');
    const hasValue = known?.get(words[at] ?? '');
    const next = hasValue === undefined ? [at + 1, at + 2] : [hasValue ? at + 2 : at + 1];
    texts.push(...next.map((from) => [first, ...words.slice(from)].join(' ')));
    at += (hasValue ?? isValued) ? 2 : 1;
  }
  return hasHole(first) ? [] : texts;
}

const OPTIONS_MAX = 1_000;
