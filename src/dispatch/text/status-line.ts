import { ownLine } from '../../core/own-line.ts';
import { shellNameOf } from '../../core/shell-names.ts';
import type { TokenCounter } from '../../tokens/counter.ts';

/** Maximum tokens of a status line. */
export const STATUS_MAX_TOKENS = 25;

export interface StatusFacts {
  /** Exit status of the command; 0 if another line states it. */
  exitStatus: number;
  /** Name of the signal that ended the command, or null. */
  signal: string | null;
  /** Tokens shown and tokens in total; null if nothing is left out. */
  amount: { shown: number; all: number } | null;
  /** Number that continues the output; null if nothing is left out. */
  continuation: number | null;
  tool: string;
  /** How the continuation is passed: as a word of a command line, or among the arguments. */
  spelling: 'words' | 'json';
  /** The ref that undoes the call's file changes, and the number of changed files; null if it changed none. */
  undo?: { ref: string; files: number } | null;
}

/** The last line of an answer: how the command ended, how much is shown, how to continue. Null if nothing to say. */
export function statusLine(counter: TokenCounter, facts: StatusFacts): string | null {
  const candidates = statements(facts);
  if (candidates[0] === '') return null;
  const lines = candidates.map((statement) => ownLine(statement));
  return lines.find((line) => counter.count(line) <= STATUS_MAX_TOKENS) ?? lines.at(-1) ?? null;
}

/** Most complete first. The last one always fits. */
function statements(facts: StatusFacts): string[] {
  const endings = endingsOf(facts);
  const { undo = null } = facts;
  if (undo === null) return endings;
  const words = `${undo.files} ${undo.files === 1 ? 'file' : 'files'}: ${undo.ref}`;
  const withUndo = (end: string): string[] => [words, undo.ref].map((text) => (end === '' ? text : `${end} · ${text}`));
  return [...endings.flatMap(withUndo), ...endings.filter((end) => end !== '')];
}

function endingsOf({ exitStatus, signal, amount, continuation, tool, spelling }: StatusFacts): string[] {
  const ending = exitStatus === 0 ? '' : `exit ${exitStatus}`;
  const words = ending !== '' && signal !== null ? `killed by ${signal}, ${ending}` : ending;
  const rest = continuation === null ? '' : CONTINUATION[spelling](continuation);
  const call = rest === '' ? '' : `${spelling === 'words' ? shellNameOf(tool) : tool} ${rest}`;
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

const CONTINUATION: Readonly<Record<StatusFacts['spelling'], (number: number) => string>> = {
  words: (number) => `--continuation ${number}`,
  json: (number) => JSON.stringify({ continuation: String(number) }),
};

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
