import type { Command, Pipeline, Redirect, Statement } from 'unbash';
import { childrenOf, literalOf, readSyntax } from './syntax.ts';

/**
 * Whether a command of the text may read the standard input of the shell. False only if no program in it does; a program that
 * is not known here may.
 */
export function mayReadInput(text: string): boolean {
  if (NAMES_INPUT.test(text)) return true;
  const script = readSyntax(text);
  return script === null || mayRead(script);
}

/** Other names of the descriptor, and copies of it. */
const NAMES_INPUT = /\/dev\/(?:stdin|fd\/)|\/proc\/|<&|>&\s*0/;

function mayRead(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mayRead);
  if (typeof node !== 'object' || node === null) return false;
  switch ('type' in node ? node.type : '') {
    case 'Coproc':
    case 'Select':
      return true;
    case 'Pipeline':
      // The others read what the one before them prints.
      return mayRead((node as Pipeline).commands[0]);
    case 'Statement': {
      const { background, redirects, command } = node as Statement;
      // Bash gives a command in the background /dev/null.
      return mayRead(redirects) || (background !== true && !isRedirected(redirects) && mayRead(command));
    }
    case 'Command':
      return childrenOf(node).some(mayRead) || isReader(node as Command);
    case '':
      return isUnopenedReader(node) || childrenOf(node).some(mayRead);
    default:
      return childrenOf(node).some(mayRead);
  }
}

/** The parser leaves an array that a builtin assigns one word: `declare A=(…)`. What it cannot open may read. */
function isUnopenedReader(node: object): boolean {
  if (!('text' in node && 'value' in node) || typeof node.text !== 'string') return false;
  if (Reflect.get(node, 'parts') !== undefined || !/\$\(|`|[<>]\(/.test(node.text.replaceAll(/\\./gs, '')))
    return false;
  return !/^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=\(/.test(node.text) || mayReadInput(node.text);
}

function isRedirected(redirects: readonly Redirect[]): boolean {
  return redirects.some(
    ({ operator, fileDescriptor = 0 }) => fileDescriptor === 0 && ['<', '<<', '<<-', '<<<', '<>'].includes(operator),
  );
}

function isReader({ name, suffix, redirects }: Command): boolean {
  if (name === undefined || isRedirected(redirects)) return false;
  const program = /^(?:(?:\/usr)?\/bin\/)?([\w.:[-]+)$/.exec(name.value === '[' ? '[' : (literalOf(name) ?? ''))?.[1];
  if (program === undefined) return true;
  const words = suffix.map(literalOf);
  if (words.some((word) => word !== null && NAMED_INPUT.test(word))) return !PRINTS.has(program);
  if (NEVER.has(program)) return false;
  if (ASKING.has(program)) return words.some((word) => word === null || /^-[a-zA-Z]*[iI]|^--interactive/.test(word));
  if (program === 'git') return !GIT.has(words[0] ?? '') || words.some((word) => word === null || GIT_READS.test(word));
  const files = Object.hasOwn(OF_FILES, program) ? OF_FILES[program] : undefined;
  return files === undefined || operandsOf(words, files.valued) < files.operands;
}

/** The words that are files for sure. None if one of them may be `-`, which is the input. */
function operandsOf(words: readonly (string | null)[], valued: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? null;
    if (word === null || word === '' || word === '-' || /^-.*[=a-z]-$/.test(word)) return 0;
    if (valued.includes(word)) at += 1;
    else if (!word.startsWith('-')) count += 1;
  }
  return count;
}

/** `-`, `--file=-`, `-f-` and `-aF-`: many programs take them for their input. */
const NAMED_INPUT = /^-$|^-.*=-$|^-\w+-$|\bstdin$/;
/** They take any word as it is. */
const PRINTS = new Set([':', '[', 'cd', 'echo', 'export', 'false', 'printf', 'set', 'test', 'true']);

/** Builtins and programs that never read it, unless a word names it. */
const NEVER = new Set(
  [
    ': [ basename break cd chgrp chmod chown continue date declare df dirname dirs du echo exit export false file getopts hash',
    'id kill let local ls mkdir mktemp nproc pgrep pidof popd printenv printf ps pushd pwd readlink readonly',
    'realpath return rmdir seq set shift shopt sleep stat test times touch true truncate tty type typeset ulimit umask uname',
    'unset uptime wait who whoami',
  ].flatMap((line) => line.split(' ')),
);

/** Programs that ask with some options. */
const ASKING = new Set(['cp', 'ln', 'mv', 'rm']);

/** Subcommands of git. Its hooks and transports get pipes of their own. */
const GIT = new Set(
  'add branch checkout clone diff fetch init log ls-files pull push remote rev-parse show status switch tag'.split(' '),
);
const GIT_READS = /^-$|^--stdin|^-[a-z]*[ip]$|^--(?:interactive|patch|pathspec-from-file|file)|^-F/;

/** Programs that read their input only if they are given fewer operands. `valued`: options whose value is the next word. */
const OF_FILES: Readonly<Record<string, { operands: number; valued: readonly string[] }>> = {
  ...Object.fromEntries(
    ['cat', 'md5sum', 'sha1sum', 'sha256sum', 'tac', 'wc'].map((name) => [name, { operands: 1, valued: [] }]),
  ),
  ...Object.fromEntries(
    ['head', 'tail'].map((name) => [name, { operands: 1, valued: ['-n', '-c', '--lines', '--bytes'] }]),
  ),
  cmp: { operands: 2, valued: ['-n', '-i', '--bytes', '--ignore-initial'] },
  diff: { operands: 2, valued: ['-U', '-C', '-I', '-x', '-X', '-W', '--unified', '--context', '--exclude'] },
  grep: { operands: 2, valued: ['-A', '-B', '-C', '-e', '-f', '-m', '--regexp', '--file', '--max-count'] },
  sed: { operands: 2, valued: ['-e', '-f', '-l', '--expression', '--file'] },
};
