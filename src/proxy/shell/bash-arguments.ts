/**
 * What the words of a shell's command line ask for (POSIX sh, bash(1)): a text to run, as with `-c` or on stdin; anything else that
 * bash itself understands, such as a script file; a dialogue; its version.
 */
export type ShellRequest =
  | { kind: 'text'; text: string }
  | { kind: 'stdin' }
  | { kind: 'as-it-stands'; words: readonly string[] }
  | { kind: 'interactive' }
  | { kind: 'version' }
  | { kind: 'help' };

/** A sandbox has neither a login nor a terminal of the caller, so `-l` and `-i` change nothing there. */
const WITHOUT_EFFECT = new Set(['-l', '-i', '--login', '--norc', '--noprofile']);

/** Reads the words after the program's name. */
export function readShellWords(words: readonly string[]): ShellRequest {
  if (words.length === 1 && words[0] === '--version') return { kind: 'version' };
  if (words.length === 1 && words[0] === '--help') return { kind: 'help' };
  const options: string[] = [];
  let rest = [...words];
  for (let word = rest[0]; word?.startsWith('-') && word !== '-' && word !== '--'; word = rest[0]) {
    options.push(...(/^-[a-zA-Z]{2,}$/.test(word) ? [...word.slice(1)].map((letter) => `-${letter}`) : [word]));
    rest = rest.slice(1);
  }
  const [first, ...more] = rest[0] === '--' ? rest.slice(1) : rest;
  const isPlain = options.every((option) => WITHOUT_EFFECT.has(option) || option === '-c' || option === '-s');
  if (!isPlain || more.length > 0) return asItStands(words);
  if (options.includes('-c')) return first === undefined ? asItStands(words) : { kind: 'text', text: first };
  if (first !== undefined && first !== '-') return asItStands(words);
  return options.includes('-s') || first === '-' ? { kind: 'stdin' } : { kind: 'interactive' };
}

function asItStands(words: readonly string[]): ShellRequest {
  return { kind: 'as-it-stands', words };
}
