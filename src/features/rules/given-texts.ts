import { WORD_HOLE } from './pattern.ts';
import { isQuiet } from './quiet.ts';
import {
  afterOptions,
  attachedToEnv,
  baseName,
  SHELLS,
  shellSource,
  splitByEnv,
  WRAPPERS,
  wrappedWords,
} from './wrappers.ts';

/** The shell source in the words of a program or builtin that runs one. Undefined if they hold no source. */
export function givenText(name: string, words: readonly string[]): string | undefined {
  switch (name) {
    case 'eval':
      return words.slice(words[1] === '--' ? 2 : 1).join(' ');
    case 'trap':
      return trapped(words.slice(1));
    case 'su':
    case 'runuser':
      return afterOption(words, 'c', 'session-command') ?? afterOption(words, 'c', 'command') ?? '';
    case 'script':
      return afterWord(words, '-c') ?? '';
    case 'watch':
      return wrappedWords({ valued: ['-n', '--interval'] }, words).join(' ');
    case 'env':
      return splitByEnv(words);
    case 'flock':
      return afterOption(words, 'c', 'command');
    case 'split':
      return afterOption(words, '', 'filter');
    case 'parallel':
      return ofParallel(words);
    default:
      return undefined;
  }
}

/** The shell source in the words of a program that is likely to run it. */
export function guessedText(name: string, words: readonly string[]): string | undefined {
  if (name === 'script') return afterOption(words, 'c', 'command');
  if (name === 'env') return attachedToEnv(words);
  const isRead = SHELLS.has(name) || Object.hasOwn(WRAPPERS, name) || isQuiet(name, words.slice(1));
  if (isRead) return undefined;
  const at = words.findIndex((word, index) => index > 0 && SHELLS.has(baseName(word)));
  if (at === -1) return undefined;
  const source = shellSource(words.slice(at));
  return source.from === 'text' ? source.text : undefined;
}

function trapped(args: readonly string[]): string {
  const at = args[0] === '--' ? 1 : args.findIndex((word) => !/^-./.test(word));
  const text = args[at] ?? '';
  return text === '-' ? '' : text;
}

export function afterWord(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option, 1);
  return at === -1 ? undefined : words[at + 1];
}

/** The value of an option, as the next word or attached: a letter, which others may stand before, or a name, of which the end may be missing. */
function afterOption(words: readonly string[], letter: string, name: string): string | undefined {
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    const [, given, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (given !== undefined) {
      if (name.startsWith(given)) return value ?? words[index + 1];
      continue;
    }
    const at = letter !== '' && /^-[a-zA-Z]/.test(word) ? word.indexOf(letter) : -1;
    if (at > 0 && /^-[a-zA-Z]*$/.test(word.slice(0, at + 1))) return word.slice(at + 1) || words[index + 1];
  }
  return undefined;
}

const PARALLEL_VALUED = [
  '-a',
  '-C',
  '-E',
  '-I',
  '-j',
  '-L',
  '-N',
  '-n',
  '-P',
  '-S',
  '-s',
  '--jobs',
  '--colsep',
  '--delay',
  '--joblog',
  '--results',
  '--timeout',
];

/** `parallel` has a shell run its words with each argument, or each argument if it has no other words. */
function ofParallel(words: readonly string[]): string {
  const command = words.slice(1 + afterOptions(words.slice(1), PARALLEL_VALUED));
  const at = command.findIndex((word) => /^:::/.test(word));
  const own = at === -1 ? command : command.slice(0, at);
  if (own.length === 0) return at === -1 ? '' : command.slice(at + 1).join('\n');
  const text = own.join(' ');
  const filled = text.replaceAll(/\{[^{}\s]*\}/g, WORD_HOLE);
  return filled === text ? `${text} ${WORD_HOLE}` : filled;
}
