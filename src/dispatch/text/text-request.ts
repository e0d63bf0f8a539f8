import { isJsonObject } from '../../core/json.ts';
import { ownLine, quoteName } from '../../core/own-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { FitTextRequest, ShownFacts, TextPart, TextRequest } from '../../tokens/fit-text.ts';
import { plainCounter } from '../../tokens/truncate.ts';
import { droppedLines, metaOf } from '../answer-meta.ts';
import { addFacts, continuedBy, type VerifiedCall } from '../call.ts';
import { exitStatusOf } from '../exit-status.ts';
import type { ScrubbedOutcome } from '../scrub.ts';
import type { StoredOutput } from '../store.ts';
import type { ShownOutput } from '../view/view-output.ts';
import { type FactText, factText } from './facts.ts';
import { dryRunNote, gapLines, notesOf } from './notes.ts';
import { statusLine } from './status-line.ts';

/** Divisors: facts and notes each get at most this fraction (1/n) of the budget. */
const FACTS_SHARE = 6;
const NOTES_SHARE = 3;
/** Tokens left for contextd's other lines after the notes and facts of an answer without output. */
const OWN_LINES_TOKENS = 50;

/** The subject of an answer, as far as it is known. */
export interface Subject {
  outcome: ScrubbedOutcome;
  /** Null if the call was refused before it was verified. */
  call: VerifiedCall | null;
  maxTokens: number;
  counter: TokenCounter;
  /** True if the facts are shown as a text. Default: they precede the texts. */
  areFactsStored?: boolean;
}

interface Printing extends Subject {
  shown: ShownOutput | null;
  stored: StoredOutput | null;
  continuation: number | null;
  /** Tokens of the whole output. */
  all: number;
  notes?: readonly string[];
}

/** What is printed beside the texts: the facts before them, then the notes and the status line. */
export function requestOf({
  outcome,
  call,
  maxTokens,
  counter,
  shown,
  stored,
  continuation,
  all,
  notes,
  areFactsStored = false,
}: Printing): FitTextRequest & { facts: FactText } {
  // The checks of a dry run are for programs, which ask for JSON; a reader gets one line.
  const isDryRun = call?.options.dryRun === true && outcome.failure === null;
  const templates = call === null || call.options.dryRun ? null : call.tool.manifest.text;
  const known = addFacts(outcome, { droppedBytes: stored?.droppedBytes ?? outcome.facts.droppedBytes });
  const isShell = call?.request.principal.door === 'shell';
  const meta = { ...metaOf(call?.requestId ?? '', known), ...(stored === null ? {} : droppedLines(stored)) };
  const details = [...(meta.warning_details ?? []), ...(shown?.meta.warning_details ?? [])];
  // The agent can do nothing about what undo leaves out; a person sees it in the record.
  const noted = isShell ? { ...meta, files_not_covered: [] } : meta;
  const rest = !isShell && call?.request.surface === undefined ? 'flag' : 'unlisted';
  const said = notesOf(
    known,
    { ...noted, warning_details: details },
    Math.floor(maxTokens / NOTES_SHARE),
    counter,
    rest,
  );
  const facts = factText(
    isDryRun || areFactsStored ? { ...outcome, data: {} } : outcome,
    templates,
    shown === null
      ? Math.max(0, maxTokens - counter.count(said.join('\n')) - OWN_LINES_TOKENS)
      : Math.floor(maxTokens / FACTS_SHARE),
    plainCounter(counter),
  );
  const fixed = [
    ...(isDryRun ? [dryRunNote(outcome.data)] : []),
    ...(facts.isCut ? [shown === null ? FACTS_CUT : `${FACTS_CUT}, or go on to read them`] : []),
    ...(notes ?? []),
  ].map((note) => ownLine(note));
  // A call that failed before there was a text says only why.
  const isViewed = call?.options.isViewAsked === true && (shown !== null || outcome.failure === null);
  const hidden = (shown?.meta.dropped_content_ids ?? []).map((id) => id.slice(id.indexOf('/') + 1));
  const status = ({ omitted, shownTokens }: ShownFacts): string[] =>
    present([
      statusLine(counter, {
        ...(isShell ? UNSAID : endingOf(known)),
        amount: omitted.length === 0 ? null : { shown: shownTokens, all: Math.max(all, shownTokens) },
        continuation: omitted.length === 0 ? null : continuation,
        tool: call === null ? '' : continuedBy(call),
        spelling: spellingFor(call),
        undo: isShell ? null : undoOf(outcome),
      }),
    ]);
  return {
    facts,
    budgetTokens: maxTokens,
    head: facts.text,
    headingOf: headingsOf(outcome, shown),
    ownLines: (it) => [
      ...fixed,
      ...viewNotes(it.parts, hidden, isViewed),
      ...gapLines(it.parts, rest),
      ...said,
      ...status(it),
    ],
    bare: {
      budgetTokens: maxTokens,
      head: '',
      headingOf: () => '',
      ownLines: (it) => [...said, ...status(it)],
    },
  };
}

/** Clients of MCP pass arguments as JSON; everyone else types a command line. */
export function spellingFor(call: VerifiedCall | null): 'words' | 'json' {
  return call?.request.principal.door === 'mcp' ? 'json' : 'words';
}

/** A client says itself how a command in its shell ended. */
const UNSAID = { exitStatus: 0, signal: null } as const;

function undoOf({ facts: { fileChanges } }: ScrubbedOutcome): { ref: string; files: number } | null {
  if (fileChanges === null || fileChanges.ref === null) return null;
  return { ref: fileChanges.ref, files: fileChanges.files.length + fileChanges.more };
}

const FACTS_CUT = 'the facts are cut to fit the budget; raise max_tokens to see more';

/** How the command ended. A failure is stated with its reason instead, and an earlier output has no ending. */
function endingOf(outcome: ScrubbedOutcome): { exitStatus: number; signal: string | null } {
  const { ended_by: endedBy, signal } = outcome.data;
  return {
    exitStatus: outcome.failure !== null ? 0 : exitStatusOf(outcome),
    signal: endedBy === 'signal' && typeof signal === 'string' ? signal : null,
  };
}

function viewNotes(parts: readonly TextPart[], hidden: readonly string[], isViewAsked: boolean): string[] {
  const isEmpty = isViewAsked && parts.every(({ text, gaps }) => text === '' && gaps.length === 0);
  return [
    ...(isEmpty ? [ownLine('the view shows nothing')] : []),
    ...(hidden.length === 0 ? [] : [ownLine(`the view does not look at ${hidden.map(quoteName).join(', ')}`)]),
  ];
}

/** If stdout has several texts, each gets a heading: its path in `data.files`, or its name. */
function headingsOf({ data }: ScrubbedOutcome, shown: ShownOutput | null): TextRequest['headingOf'] {
  const printed = (shown?.streams ?? []).filter(({ field }) => field !== 'stderr');
  if (printed.length < 2) return () => '';
  const files = Array.isArray(data.files) ? data.files.filter(isJsonObject) : [];
  const paths = new Map(files.map(({ field, path }) => [field, path]));
  return ({ field }) => (field === 'stderr' ? '' : `==> ${quoteName(String(paths.get(field) ?? field))} <==\n`);
}

export function present(lines: readonly (string | null)[]): string[] {
  return lines.filter((line) => line !== null);
}
