import { ownLine } from '../../core/own-line.ts';
import { shellNameOf } from '../../core/shell-names.ts';
import type { TokenCounter } from '../../tokens/counter.ts';

/** Tokens of the longest status line. */
export const STATUS_MAX_TOKENS = 25;

export interface StatusFacts {
  /** The exit status of the command; 0 if it is stated elsewhere. */
  exitStatus: number;
  /** The name of the signal that ended the command; null if none did. */
  signal: string | null;
  /** Tokens shown and tokens that there are; null if nothing is left out. */
  amount: { shown: number; all: number } | null;
  /** The number that continues the output; null if nothing is left out. */
  continuation: number | null;
  tool: string;
  /** What undoes the call's changes of files, and how many files these are; null: it changed none. */
  undo?: { ref: string; files: number } | null;
}

/** The last line of an answer: how the command ended, how much is shown and how to go on. Null if there is nothing to say. */
export function statusLine(counter: TokenCounter, facts: StatusFacts): string | null {
  const candidates = statements(facts);
  if (candidates[0] === '') return null;
  const lines = candidates.map((statement) => ownLine(statement));
  return lines.find((line) => counter.count(line) <= STATUS_MAX_TOKENS) ?? lines.at(-1) ?? null;
}

/** From the most complete to the shortest. The last one always fits. */
function statements(facts: StatusFacts): string[] {
  const endings = endingsOf(facts);
  const { undo = null } = facts;
  if (undo === null) return endings;
  const words = `${undo.files} ${undo.files === 1 ? 'file' : 'files'}: ${undo.ref}`;
  const withUndo = (end: string): string[] => [words, undo.ref].map((text) => (end === '' ? text : `${end} · ${text}`));
  return [...endings.flatMap(withUndo), ...endings.filter((end) => end !== '')];
}

function endingsOf({ exitStatus, signal, amount, continuation, tool }: StatusFacts): string[] {
  const ending = exitStatus === 0 ? '' : `exit ${exitStatus}`;
  const words = ending !== '' && signal !== null ? `killed by ${signal}, ${ending}` : ending;
  const rest = continuation === null ? '' : `--continuation ${continuation}`;
  const call = rest === '' ? '' : `${shellNameOf(tool)} ${rest}`;
  const long = amount === null ? '' : `${grouped(amount.shown)} of ${grouped(amount.all)} tokens`;
  const short = amount === null ? '' : `${amount.shown} of ${amount.all} tokens`;
  return [
    [words, long, call === '' ? '' : `rest: ${call}`],
    [words, short, call === '' ? '' : `rest: ${call}`],
    [words, short, call],
    [words, call === '' ? '' : `rest: ${call}`],
    [words, rest === '' ? '' : `rest: ${rest}`],
    [ending, rest],
  ].map((parts) => parts.filter((part) => part !== '').join(' · '));
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
