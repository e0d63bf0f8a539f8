/** Programs and builtins that run the command in their own arguments. */
interface Wrapper {
  /** Options whose value is the next word. Others have none, or have it attached. */
  readonly valued: readonly string[];
  /** Words before the command that are no options. Default: 0. */
  readonly operands?: number;
  /** True if `NAME=value` may stand before the command. */
  readonly assigns?: true;
  /** Options with which nothing runs. */
  readonly idle?: readonly string[];
}

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: { valued: [] },
  busybox: { valued: [] },
  chroot: { valued: [], operands: 1 },
  chrt: { valued: ['-T', '-P', '-D'], operands: 1 },
  command: { valued: [], idle: ['-v', '-V'] },
  coproc: { valued: [] },
  doas: { valued: ['-u', '-C'] },
  env: { valued: ['-u', '--unset', '-C', '--chdir'], assigns: true },
  exec: { valued: ['-a'] },
  flock: { valued: ['-w', '--timeout', '-E', '--conflict-exit-code'], operands: 1 },
  ionice: { valued: ['-c', '--class', '-n', '--classdata', '-p', '-P', '-u'] },
  nice: { valued: ['-n', '--adjustment'] },
  nohup: { valued: [] },
  setarch: { valued: [], operands: 1 },
  setsid: { valued: [] },
  stdbuf: { valued: ['-i', '--input', '-o', '--output', '-e', '--error'] },
  strace: { valued: ['-a', '-b', '-e', '-E', '-I', '-o', '-O', '-p', '-P', '-s', '-S', '-u', '-U', '-X'] },
  sudo: {
    valued: [
      '-C',
      '-D',
      '-g',
      '-h',
      '-p',
      '-R',
      '-r',
      '-T',
      '-t',
      '-U',
      '-u',
      '--user',
      '--group',
      '--chdir',
      '--host',
    ],
    assigns: true,
  },
  taskset: { valued: [], operands: 1 },
  time: { valued: ['-f', '--format', '-o', '--output'] },
  timeout: { valued: ['-k', '--kill-after', '-s', '--signal'], operands: 1 },
  unshare: { valued: ['-R', '--root', '-w', '--wd', '-S', '--setuid', '-G', '--setgid'] },
  watch: { valued: ['-n', '--interval', '-q', '--equexit'] },
};

export function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

export const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'rbash']);

/** Options of `xargs` whose value is the next word. `-I` and `-J` name what the arguments replace. */
const XARGS_VALUED = ['-a', '-d', '-E', '-I', '-J', '-L', '-n', '-P', '-R', '-S', '-s'];
const XARGS_LONG = ['--arg-file', '--delimiter', '--max-lines', '--max-args', '--max-procs', '--max-chars'];

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** The words of the command that the wrapper runs; empty if it runs none. */
export function wrappedWords(
  { valued, operands = 0, assigns, idle = [] }: Wrapper,
  words: readonly string[],
): string[] {
  const args = words.slice(1);
  const at = afterOptions(args, valued);
  if (args.slice(0, at).some((word) => idle.includes(word))) return [];
  const rest = args.slice(at);
  while (assigns === true && ASSIGNMENT.test(rest[0] ?? '')) rest.shift();
  return rest.slice(operands);
}

/** The command of `xargs` with what `given` becomes in it, and whether it was called without options. */
export function xargsWords(words: readonly string[], given: string): { words: string[]; isBare: boolean } {
  const args = words.slice(1);
  const at = afterOptions(args, [...XARGS_VALUED, ...XARGS_LONG]);
  const options = args.slice(0, at);
  const rest = args.slice(at);
  const replaced = replacedBy(options);
  const added = given === '' ? rest : [...rest, given];
  const inner =
    replaced === null ? added : rest.map((word) => word.replaceAll(replaced, given)).filter((word) => word !== '');
  return { words: rest.length === 0 ? [] : inner, isBare: at === 0 };
}

function replacedBy(options: readonly string[]): string | null {
  for (const [index, option] of options.entries()) {
    if (option === '-I' || option === '-J') return options[index + 1] || null;
    if (/^-[IJ]./.test(option)) return option.slice(2);
    if (option === '-i' || option === '--replace') return '{}';
    if (option.startsWith('--replace=')) return option.slice('--replace='.length) || null;
  }
  return null;
}

/** Options with which `xargs` makes several commands of one list. */
const XARGS_SPLITS = /^-[nLlIiJPs]|^--(?:max|replace)/;
/** Options with which it reads its list from a file, or ends its items elsewhere. */
const XARGS_UNREAD = /^-[ad0]|^--(?:arg-file|delimiter|null)/;

export function xargsList(words: readonly string[]): { isUnread: boolean; isSplit: boolean } {
  const options = words.slice(1, 1 + afterOptions(words.slice(1), [...XARGS_VALUED, ...XARGS_LONG]));
  return {
    isUnread: options.some((word) => XARGS_UNREAD.test(word)),
    isSplit: options.some((word) => XARGS_SPLITS.test(word)),
  };
}

/**
 * The text that `env -S` splits, with the words behind it; undefined without the option, and for a text attached to it that is all.
 */
export function splitByEnv(words: readonly string[]): string | undefined {
  for (let at = 1; /^-./.test(words[at] ?? ''); at += 1) {
    const word = words[at] ?? '';
    const [, attached] = /^(?:-[a-zA-Z0]*?S|--split-string(?:=|$))(.*)$/s.exec(word) ?? [];
    if (attached !== undefined && !/^-[a-zA-Z0]*?[uC]/.test(word)) {
      if (attached !== '' && word.startsWith('-S') && at === words.length - 1) return undefined;
      const [text = '', ...rest] = attached === '' ? words.slice(at + 1) : [attached, ...words.slice(at + 1)];
      // Its own escapes for blanks.
      return [text.replaceAll(/\\[_tnfrv]/g, ' '), ...rest].join(' ');
    }
    if (['-u', '-C', '--unset', '--chdir'].includes(word)) at += 1;
  }
  return undefined;
}

/** The text that stands at `-S` of `env`, if it is the last word. */
export function attachedToEnv(words: readonly string[]): string | undefined {
  const last = words.at(-1) ?? '';
  return splitByEnv(words) === undefined && last.startsWith('-S') ? last.slice(2) : undefined;
}

/** Where the options end. */
export function afterOptions(words: readonly string[], valued: readonly string[]): number {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? '';
    if (word === '--') return at + 1;
    if (!/^[-+]./.test(word)) return at;
    at += valued.includes(word) ? 2 : 1;
  }
  return Math.min(at, words.length);
}

const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** The commands that `find` runs, each with `found` in place of `{}`. */
export function findWords(words: readonly string[], found: string): string[][] {
  const commands: string[][] = [];
  for (let at = 1; at < words.length; at += 1) {
    if (!FIND_RUNS.has(words[at] ?? '')) continue;
    const end = words.findIndex(
      (word, index) => index > at && (word === ';' || (word === '+' && words[index - 1] === '{}')),
    );
    const last = end === -1 ? words.length : end;
    commands.push(words.slice(at + 1, last).map((word) => word.replaceAll('{}', found)));
    at = last;
  }
  return commands;
}

/** What a shell is asked to run. */
export type ShellSource =
  | { readonly from: 'text'; readonly text: string }
  | { readonly from: 'input' }
  | { readonly from: 'file'; readonly path: string };

/** Long options of bash whose value is the next word. */
const SHELL_VALUED = new Set(['rcfile', 'init-file']);
/** Long options that bash also takes with one dash, as long as no short option stands before them. */
const SHELL_LONG =
  /^-(?:debug(?:ger)?|help|init-file|login|no(?:editing|profile|rc)|posix|rcfile|restricted|verbose|version)$/;
/** Shells whose `-o` takes the rest of its word, if there is one. */
const ATTACHING_SHELLS: ReadonlySet<string> = new Set(['zsh', 'ksh', 'mksh']);

export function shellSource(words: readonly string[]): ShellSource {
  const isAttaching = ATTACHING_SHELLS.has(baseName(words[0] ?? ''));
  let [isText, isInput, isLongAllowed, at] = [false, false, true, 1];
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--' || word === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(word)) break;
    if (word.startsWith('--') || (isLongAllowed && !isAttaching && SHELL_LONG.test(word))) {
      if (SHELL_VALUED.has(word.replace(/^-+/, ''))) at += 1;
      continue;
    }
    isLongAllowed = false;
    const letters = isAttaching ? word.replace(/o.+$/s, '') : word;
    isText ||= letters.includes('c');
    isInput ||= letters.includes('s');
    at += valuesBehind(letters, isAttaching ? /o/g : /[oO]/g);
  }
  const operand = words[at];
  if (isText) return { from: 'text', text: operand ?? '' };
  return operand === undefined || isInput ? { from: 'input' } : { from: 'file', path: operand };
}

/** How many of the next words are values: one for each `o` and `O`, wherever it stands in `-euo` or `-oc`. */
function valuesBehind(word: string, valued: RegExp): number {
  return /^[-+][A-Za-z]+$/.test(word) ? (word.match(valued) ?? []).length : 0;
}
