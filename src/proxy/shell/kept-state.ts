import type { Command, Node, Statement } from 'unbash';
import { childrenOf, isNode } from './syntax.ts';

/** What statements leave in the shell that runs them, for a shell that runs later ones. */
export interface KeptState {
  /** Statements that only set something, to be repeated in the directory in which the text began. */
  setup: readonly string[];
  /** True if others may have changed the directory. */
  isElsewhere: boolean;
}

/** Null if the statements leave more than can be repeated. `rest`: what runs later. */
export function keptState(text: string, statements: readonly Statement[], rest: string): KeptState | null {
  const setup: string[] = [];
  let isElsewhere = false;
  for (const { command, pos, end } of statements) {
    const kinds = kindsOf(text, command, rest);
    const source = text.slice(pos, end).replace(/;$/, '');
    if (kinds.has('unclear') || (kinds.has('sets') && kinds.has('acts'))) return null;
    if (kinds.has('acts')) {
      isElsewhere ||= kinds.has('moves') || MOVES_BY_NAME.test(source);
    } else if (!isElsewhere) {
      if (kinds.size > 0) setup.push(source);
    } else if (kinds.has('sets')) {
      // It would be repeated in another directory.
      if (kinds.has('moves') || READS_FILE.test(source)) return null;
      setup.push(source);
    }
  }
  return { setup, isElsewhere };
}

const MOVES_BY_NAME = /\b(?:cd|pushd|popd)\b/;
const READS_FILE = /(?:^|[\s;&|{(])(?:\.|source)\s/;

/** `sets`, `moves`: only the shell itself, `moves` its directory. `acts`: something else, once. `unclear`: both, or what is set depends on what it did. */
type Kind = 'sets' | 'moves' | 'acts' | 'unclear';

function kindsOf(text: string, node: Node, rest: string): ReadonlySet<Kind> {
  switch (node.type) {
    case 'Command':
      return new Set(kindsOfCommand(text.slice(node.pos, node.end), node, rest));
    case 'Function':
    case 'ArithmeticCommand':
      return new Set<Kind>(['sets']);
    case 'Subshell':
    case 'Pipeline':
    case 'Coproc':
      // What runs in a shell of its own sets nothing here.
      return new Set<Kind>(['acts']);
    default:
      return new Set(childrenOf(node).flatMap((child) => [...kindsWithin(text, child, rest)]));
  }
}

function kindsWithin(text: string, value: unknown, rest: string): Set<Kind> {
  if (Array.isArray(value)) return new Set(value.flatMap((one) => [...kindsWithin(text, one, rest)]));
  if (!isNode(value)) return new Set();
  // A part of a word has no position: it is an expansion.
  if (!('pos' in value)) return new Set();
  return new Set(kindsOf(text, value as Node, rest));
}

function kindsOfCommand(source: string, { name, prefix, redirects }: Command, rest: string): Kind[] {
  const isPlain = !/\$\(|`|[<>]\(/.test(source);
  if (name === undefined) {
    if (isPlain) return ['sets'];
    const isUsed = prefix.some((one) => one.name === undefined || new RegExp(`\\$\\{?[!#]?${one.name}\\b`).test(rest));
    return [isUsed ? 'unclear' : 'acts'];
  }
  if (SETS.has(name.value)) return [isPlain ? 'sets' : 'unclear'];
  if (MOVES.has(name.value)) return [isPlain ? 'moves' : 'acts'];
  if (READS.has(name.value)) return ['unclear'];
  return QUIET.has(name.value) && isPlain && redirects.length === 0 ? [] : ['acts'];
}

const SETS = new Set('. alias declare export readonly set shopt source typeset ulimit umask unalias unset'.split(' '));
const MOVES = new Set(['cd', 'popd', 'pushd']);
/** They set what they read or work out. */
const READS = new Set('eval getopts let local mapfile read readarray'.split(' '));
const QUIET = new Set([':', '[', 'false', 'test', 'true']);
