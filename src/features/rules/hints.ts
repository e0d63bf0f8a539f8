import { hasHole } from './pattern.ts';
import { baseName, SHELLS, shellSource, WRAPPERS, wrappedWords } from './wrappers.ts';

/** What a program may run of its own words, as far as nothing says that it does not. */
export interface Hints {
  /** Lists of words of which every tail may be a command. */
  readonly tails: readonly (readonly string[])[];
  /** Texts that may be commands as a whole. */
  readonly texts: readonly string[];
}

const NO_HINTS: Hints = { tails: [], texts: [] };

/** What the words of a command, and the text that it reads, may make its program run. */
export function hintsOf(words: readonly string[], input: string): Hints {
  const [first = '', ...rest] = words;
  const name = baseName(first);
  const texts = withoutOptions(words);
  if (SHELLS.has(name)) return { tails: shellSource(words).from === 'file' ? [rest] : [], texts };
  if (isQuiet(name, rest)) return { ...NO_HINTS, texts: [...texts, ...rest.filter(isIndex).flatMap(commandsIn)] };
  const own = READ_ELSEWHERE.has(name) || Object.hasOwn(WRAPPERS, name) ? [] : [rest];
  // A shell takes quotes and backslashes out of a word: `r""m`.
  const inner = [...rest, input].flatMap((word) => [
    ...commandsIn(word),
    ...commandsIn(word.replaceAll(/["'\\]/g, '')),
  ]);
  return { tails: [...own, ...tailsIn(inner)], texts: [...texts, ...inner] };
}

/** What a variable may make programs run: those that it is set for may run any part of it. */
export function hintsOfValues(values: readonly string[], isForCommand: boolean): Hints {
  const texts = values.flatMap(commandsIn);
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
  ...['declare', 'env', 'export', 'find', 'flock', 'local', 'readonly', 'runuser', 'script', 'set', 'su', 'typeset'],
  ...['alias', 'eval', 'trap', 'watch', 'xargs'],
]);

/** Subcommands and options of a program with which it runs other words. */
const RUNNING = {
  docker: ['run', 'exec', 'compose', 'buildx'],
  git: ['-c', 'alias', 'bisect', 'config', 'difftool', 'filter-branch', 'mergetool', 'rebase', 'submodule'],
  npm: ['exec', 'x', 'run', 'run-script', 'pkg', 'set', 'config'],
} as const;

/** Programs that never run a word of theirs, except with the given ones. Every other program may. */
const QUIET: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [
      '. : [ basename bg break cat cd chgrp chmod chown cksum cmp column comm continue cp curl cut date dd df diff dig dirname du',
      'echo egrep exit expand expr false fg fgrep file fmt fold grep groups gzip gunzip hash head help history host hostname',
      'iconv id jobs join journalctl jq kill killall ln locale ls lsof man md5sum mkdir mktemp mv nl nproc od paste patch pgrep',
      'pidof ping pkill printenv printf ps pwd read readlink realpath rg rm rmdir seq service sha1sum sha256sum shift shuf sleep',
      'sort source split stat sum systemctl tac tail tee test touch tr tree true truncate tty type uname uniq unset unzip uptime',
      'logger notify-send wall write say wait wc wget whatis whereis which who whoami whatis xxd yes zcat zip',
      'apk apt apt-cache apt-get aws az brew conda dnf dpkg gcloud gem gh go gsutil mamba nvm pacman pip pip3 rpm snap yum zypper',
    ].flatMap((line) => line.split(' ').map((name) => [name, []])),
  ),
  ...RUNNING,
  kubectl: ['exec', 'run', 'debug'],
  pnpm: ['exec', 'dlx', 'run', 'x'],
  podman: RUNNING.docker,
  yarn: ['exec', 'dlx', 'run', 'x'],
};

export function isQuiet(name: string, rest: readonly string[]): boolean {
  const running = Object.hasOwn(QUIET, name) ? QUIET[name] : undefined;
  return running !== undefined && !rest.some((word) => running.includes(word));
}

/** Bash evaluates the index of an array in the words of some builtins. */
function isIndex(word: string): boolean {
  return /\[.*(?:\$\(|`)/s.test(word);
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

/** The command without the options before its first other word, each with and without a value. */
function withoutOptions(words: readonly string[]): string[] {
  const texts: string[] = [];
  const [first = ''] = words;
  let at = 1;
  while (/^-./.test(words[at] ?? '') && texts.length < OPTIONS_MAX) {
    const isValued = words[at + 1] !== undefined && !/^-./.test(words[at + 1] ?? '');
    texts.push(...[at + 1, at + 2].map((from) => [first, ...words.slice(from)].join(' ')));
    at += isValued ? 2 : 1;
  }
  return hasHole(first) ? [] : texts;
}

const OPTIONS_MAX = 1_000;
