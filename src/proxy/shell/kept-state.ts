import type { Command, Node, Statement } from 'unbash';
import { literalOf } from './syntax.ts';

/** What statements leave in the shell that runs them, for a shell that runs later ones. */
export interface KeptState {
  /** Statements that only set something, to be repeated in the directory in which the text began. */
  setup: readonly string[];
  /** True if others may have changed the directory. */
  isElsewhere: boolean;
}

/**
 * Null if the statements may leave anything but a directory and variables with a value that is written in the text: only such a
 * state is the same in a second shell, however often it is made.
 */
export function keptState(text: string, statements: readonly Statement[]): KeptState | null {
  const setup: string[] = [];
  let isElsewhere = false;
  for (const { command, redirects, pos, end } of statements) {
    const source = text.slice(pos, end).replace(/(?<!\\);$/, '');
    const kind = CHANGES_SHELL.test(source) ? null : kindOf(command);
    if (kind === null || (kind !== 'acts' && redirects.length > 0)) return null;
    if (kind === 'sets' || (kind === 'moves' && !isElsewhere)) setup.push(source);
    if (kind === 'acts and moves') isElsewhere = true;
  }
  return { setup, isElsewhere };
}

/** Expansions that set a variable, end the shell, or name the shell itself. */
const CHANGES_SHELL = /\$\{[^}]*[=?]|\$\(\(|\$\[|\$\$|\bBASHPID\b/;

/**
 * `sets`: variables, to values in the text. `moves`: to a directory in the text. `acts`: once, and leaves nothing in the shell. Null for
 * anything else.
 */
type Kind = 'sets' | 'moves' | 'acts' | 'acts and moves';

function kindOf(node: Node): Kind | null {
  switch (node.type) {
    case 'Command':
      return kindOfCommand(node);
    case 'AndOr': {
      const kinds = node.commands.map(kindOf);
      if (kinds.includes(null) || kinds.includes('sets')) return null;
      return kinds.every((kind) => kind === 'acts') ? 'acts' : 'acts and moves';
    }
    case 'Subshell':
    case 'Pipeline':
      // What runs in a shell of its own leaves nothing in this one, unless it is a single command behind `!` or `time`.
      return node.type === 'Pipeline' && node.commands.length < 2 ? null : 'acts';
    default:
      return null;
  }
}

function kindOfCommand({ name, prefix, suffix, redirects }: Command): Kind | null {
  if (name === undefined) {
    const isWritten = prefix.every(
      ({ name: variable, value, array, index }) =>
        variable !== undefined && array === undefined && index === undefined && (value === undefined || isWord(value)),
    );
    return isWritten && redirects.length === 0 && prefix.length > 0 ? 'sets' : null;
  }
  const [program, ...words] = [name, ...suffix].map((word) => (isWord(word) ? literalOf(word) : null));
  if (program === null || program === undefined) return null;
  const isPlain = !words.includes(null) && prefix.length === 0 && redirects.length === 0;
  if (program === 'export') return isPlain && words.every((word) => /^\w+(?:=|$)/.test(word ?? '')) ? 'sets' : null;
  if (program === 'cd') return isPlain && words.length === 1 && words[0] !== '-' ? 'moves' : null;
  if (program === 'printf' && (words[0] ?? '-').startsWith('-')) return null;
  return STATEFUL.has(program) ? null : 'acts';
}

/** The parser leaves an array behind a builtin, as in `export A=($(b))`, in one literal. */
function isWord(word: { text: string; value: string; pos: number; end: number }): boolean {
  return literalOf(word) !== null && !/^\w+\+?=\(/.test(word.text);
}

/** Builtins of bash that may change the shell, or that run other text in it. */
const STATEFUL = new Set(
  [
    '. alias bg bind break builtin caller command compgen complete compopt continue coproc declare dirs disown enable eval exec exit',
    'fc fg getopts hash history jobs let local logout mapfile popd pushd read readarray readonly return select set shift shopt source',
    'suspend times trap typeset ulimit umask unalias unset wait',
  ].flatMap((line) => line.split(' ')),
);
