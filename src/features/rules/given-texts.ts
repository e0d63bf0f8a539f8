import { splitByEnv, wrappedWords } from './wrappers.ts';

/** The shell source in the words of a program or builtin that runs one. Undefined if there is none in them. */
export function givenText(name: string, words: readonly string[]): string | undefined {
  switch (name) {
    case 'eval':
      return words.slice(words[1] === '--' ? 2 : 1).join(' ');
    case 'trap':
      return words[1]?.startsWith('-') === true ? '' : (words[1] ?? '');
    case 'su':
    case 'runuser':
    case 'script':
      return afterWord(words, '-c') ?? '';
    case 'watch':
      return wrappedWords({ valued: ['-n', '--interval'] }, words).join(' ');
    case 'env':
      return splitByEnv(words);
    case 'flock':
      return afterWord(words, '-c');
    default:
      return undefined;
  }
}

export function afterWord(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option, 1);
  return at === -1 ? undefined : words[at + 1];
}
