import type { CallAnswer } from '../../call/request.ts';
import type { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { ownLine, quoteName } from '../../core/own-line.ts';
import type { Continuations } from '../../stores/continuations.ts';
import type { Cursors } from '../../stores/cursors.ts';
import { shownStreams, stepsOf } from '../../tokens/budget.ts';
import { TOKEN_MAX_BYTES, type TokenCounter } from '../../tokens/counter.ts';
import { cutStreams, measureStreams, type StreamCut } from '../../tokens/cut-streams.ts';
import {
  type FitTextRequest,
  fitText,
  printText,
  type ShownFacts,
  type TextLayout,
  type TextOutput,
  type TextPart,
  type TextRequest,
} from '../../tokens/fit-text.ts';
import { layPage } from '../../tokens/page.ts';
import type { ShownStream } from '../../tokens/shown-stream.ts';
import { plainCounter } from '../../tokens/truncate.ts';
import { droppedLines, metaOf } from '../answer-meta.ts';
import { addKnown, type VerifiedCall } from '../call.ts';
import { exitStatusOf } from '../exit-status.ts';
import type { Page } from '../page.ts';
import type { ScrubbedOutcome } from '../scrub.ts';
import { sealed } from '../seal.ts';
import { type StoredOutput, storeDerived } from '../store.ts';
import { type Budgeted, tallyOfText } from '../tally.ts';
import { fitView } from '../view/fit-view.ts';
import type { ShownOutput, ViewDeps } from '../view/view-output.ts';
import { factText } from './facts.ts';
import { gapLines, notesOf } from './notes.ts';
import { statusLine } from './status-line.ts';

export interface TextDeps extends ViewDeps {
  counter: TokenCounter;
  cursors: Cursors;
  continuations: Continuations;
}

/** Facts and notes get at most these parts of the budget each. */
const FACTS_SHARE = 6;
const NOTES_SHARE = 3;
/** An answer without output is all facts: of what the notes leave, this is kept for the other lines of contextd. */
const OWN_LINES_TOKENS = 50;
/** The amount of an output of more tokens is rounded to three digits, because it is an estimate. */
const EXACT_MAX_TOKENS = 1_000;

/** Step 8 for the text form: what to print on both descriptors, within the token budget. */
export async function budgetText(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  stored: StoredOutput | null,
  deps: TextDeps,
): Promise<Budgeted> {
  const { counter } = deps;
  const { maxTokens } = call.options;
  const subject = { outcome, call, maxTokens, counter };
  if (stored === null) return withoutText(subject, call);
  const whole = (shown: ShownOutput): TextOutput | null => fitWhole(subject, shown, stored);
  const fitted = await fitView(call, outcome, stored, deps, whole);
  if (fitted.whole !== null) return budgeted(fitted.whole, fitted.whole.shownTokens, outcome, stored);
  const { shown } = fitted;
  const kept = shown.derived === null ? stored : await storeDerived(call, stored, shown.derived, deps);
  const continuation = await deps.continuations.reserve(call.session);
  const streams = shownStreams(shown.streams, maxTokens);
  const all = estimateOf(streams, counter);
  const plain = plainCounter(counter);
  const measured = measureStreams(plain, streams, maxTokens);
  const request = requestOf({ ...subject, shown, stored, continuation, all });
  const output = fitText(counter, request, (room) => layout(cutStreams(plain, measured, room)));
  if (output.omitted.length > 0)
    await deps.continuations.keep(call.session, continuation, sealed(call, kept, output.omitted, deps));
  return budgeted(output, all, outcome, stored);
}

/** The next page of a stored output. */
export async function budgetPageText(call: VerifiedCall, page: Page, deps: TextDeps): Promise<Budgeted> {
  const { counter } = deps;
  const continuation = await deps.continuations.reserve(call.session);
  const plain = plainCounter(counter);
  const bytesLeft = page.ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  let all = 0;
  const ownLines = ({ omitted, parts, shownTokens }: ShownFacts): string[] => {
    const shownBytes = parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    all = rounded(shownBytes === 0 ? bytesLeft : (shownTokens * bytesLeft) / shownBytes);
    const facts = { exitStatus: 0, signal: null, tool: call.tool.manifest.name };
    return omitted.length === 0
      ? []
      : present([statusLine(counter, { ...facts, amount: { shown: shownTokens, all }, continuation })]);
  };
  const request = { budgetTokens: call.options.maxTokens, head: '', headingOf: () => '', ownLines };
  const output = fitText(counter, { ...request, bare: request }, (room) => {
    const { texts, omitted } = layPage(plain, page, room);
    return { parts: Array.from(texts, ([field, text]) => ({ field, text, gaps: [] })), omitted };
  });
  if (output.omitted.length > 0)
    await deps.continuations.keep(call.session, continuation, sealed(call, page, output.omitted, deps));
  const answer = { ...answerOf(output), exitCode: 0 };
  return { answer, tally: tallyOfText(output, all, 'page') };
}

/** What an answer is about, as far as it is known. */
interface Subject {
  outcome: ScrubbedOutcome;
  /** Null: the call was refused before it was verified. */
  call: VerifiedCall | null;
  maxTokens: number;
  counter: TokenCounter;
}

/** An answer without text: a refusal, a dry run's report, or a command that printed nothing. */
export function withoutText(subject: Omit<Subject, 'call'>, call: VerifiedCall | null = null): Budgeted {
  const request = requestOf({ ...subject, call, shown: null, stored: null, continuation: null, all: 0 });
  const output = printText(subject.counter, request, { parts: [], omitted: [] });
  return budgeted(output, output.shownTokens, subject.outcome, null);
}

/** The answer to a call that does not reach dispatch. It repeats nothing of the caller's text. */
export function turnedAway(why: ContextdError, outcome: ScrubbedOutcome, counter: TokenCounter): Budgeted {
  return withoutText({ outcome: { ...outcome, failure: why }, maxTokens: Number.MAX_SAFE_INTEGER, counter });
}

/** Prints exactly what the command printed if that fits, and otherwise a densified text that says the same. */
function fitWhole(subject: Subject, shown: ShownOutput, stored: StoredOutput): TextOutput | null {
  const { counter, maxTokens } = subject;
  const streams = shownStreams(shown.streams, maxTokens);
  const units = streams.reduce((sum, { source }) => sum + source.length, 0);
  const steps = stepsOf(streams);
  const print = (textOf: (stream: ShownStream) => string, notes: readonly string[]): TextOutput | null => {
    const parts = streams.map((stream) => ({ field: stream.field, text: textOf(stream), gaps: [] }));
    const request = requestOf({ ...subject, shown, stored, continuation: null, all: 0, notes });
    const output = printText(counter, request, { parts, omitted: [] });
    return output.tokens <= maxTokens ? output : null;
  };
  const asPrinted = units <= maxTokens * TOKEN_MAX_BYTES ? print(({ source }) => source, []) : null;
  if (asPrinted !== null || steps.length === 0) return asPrinted;
  const isShort = streams.every(({ whole }) => whole !== null && whole.length <= maxTokens * TOKEN_MAX_BYTES);
  return isShort ? print(({ whole }) => whole ?? '', [`condensed without loss: ${steps.join(', ')}`]) : null;
}

interface Printing extends Subject {
  shown: ShownOutput | null;
  stored: StoredOutput | null;
  continuation: number | null;
  /** Tokens of the whole output. */
  all: number;
  notes?: readonly string[];
}

function requestOf({
  outcome,
  call,
  maxTokens,
  counter,
  shown,
  stored,
  continuation,
  all,
  notes,
}: Printing): FitTextRequest {
  // The checks of a dry run are for programs, which ask for JSON; a reader gets one line.
  const isDryRun = call?.options.dryRun === true && outcome.failure === null;
  const templates = call === null || call.options.dryRun ? null : call.tool.manifest.text;
  const known = addKnown(outcome, { facts: { droppedBytes: stored?.droppedBytes ?? outcome.facts.droppedBytes } });
  const meta = { ...metaOf(call?.requestId ?? '', known), ...(stored === null ? {} : droppedLines(stored)) };
  const details = [...(meta.warning_details ?? []), ...(shown?.meta.warning_details ?? [])];
  const said = notesOf(known, { ...meta, warning_details: details }, Math.floor(maxTokens / NOTES_SHARE), counter);
  const facts = factText(
    isDryRun ? { ...outcome, data: {} } : outcome,
    templates,
    shown === null
      ? Math.max(0, maxTokens - counter.count(said.join('\n')) - OWN_LINES_TOKENS)
      : Math.floor(maxTokens / FACTS_SHARE),
    plainCounter(counter),
  );
  const fixed = [
    ...(isDryRun ? ['dry run: every check allows the call'] : []),
    ...(facts.isCut ? ['the facts are cut to fit the budget; raise max_tokens to see more'] : []),
    ...(notes ?? []),
  ].map((note) => ownLine(note));
  const hidden = (shown?.meta.dropped_content_ids ?? []).map((id) => id.slice(id.indexOf('/') + 1));
  const status = ({ omitted, shownTokens }: ShownFacts): string[] =>
    present([
      statusLine(counter, {
        ...endingOf(known),
        amount: omitted.length === 0 ? null : { shown: shownTokens, all: Math.max(all, shownTokens) },
        continuation: omitted.length === 0 ? null : continuation,
        tool: call?.tool.manifest.name ?? '',
        undo: undoOf(outcome),
      }),
    ]);
  return {
    budgetTokens: maxTokens,
    head: facts.text,
    headingOf: headingsOf(outcome, shown),
    ownLines: (it) => [
      ...fixed,
      ...viewNotes(it.parts, hidden, call?.options.isViewAsked ?? false),
      ...gapLines(it.parts),
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

function undoOf({ fileChanges }: ScrubbedOutcome): { ref: string; files: number } | null {
  if (fileChanges === null || fileChanges.ref === null) return null;
  return { ref: fileChanges.ref, files: fileChanges.files.length + fileChanges.more };
}

/** How a command ended. A failure is stated with its reason, and an earlier output has no ending. */
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

/** Several texts on stdout have a heading each: the path that `data.files` gives for them, or the name of the text. */
function headingsOf({ data }: ScrubbedOutcome, shown: ShownOutput | null): TextRequest['headingOf'] {
  const printed = (shown?.streams ?? []).filter(({ field }) => field !== 'stderr');
  if (printed.length < 2) return () => '';
  const files = Array.isArray(data.files) ? data.files.filter(isJsonObject) : [];
  const paths = new Map(files.map(({ field, path }) => [field, path]));
  return ({ field }) => (field === 'stderr' ? '' : `==> ${quoteName(String(paths.get(field) ?? field))} <==\n`);
}

/** The pieces of each stream, one after another; a piece after a gap begins on a line of its own. */
function layout(cuts: readonly StreamCut[]): TextLayout {
  return {
    parts: cuts.map(partOf),
    omitted: cuts.flatMap(({ gaps }) => gaps.map(({ start, end }) => ({ start, end }))),
  };
}

function partOf({ shown, pieces, gaps }: StreamCut): TextPart {
  let text = '';
  const missing: TextPart['gaps'][number][] = [];
  for (const [index, piece] of [...pieces, null].entries()) {
    const gap = gaps.find(({ before }) => before === index);
    if (gap !== undefined) {
      if (text !== '' && !text.endsWith('\n') && piece !== null) text += '\n';
      missing.push({ bytes: gap.end - gap.start, afterLine: linesOf(text) });
    }
    text += piece?.text ?? '';
  }
  return { field: shown.field, text, gaps: missing };
}

function linesOf(text: string): number {
  const ends = text.split('\n').length - 1;
  return text === '' || text.endsWith('\n') ? ends : ends + 1;
}

function estimateOf(streams: readonly ShownStream[], counter: TokenCounter): number {
  return rounded(streams.reduce((sum, { source }) => sum + counter.estimate(source), 0));
}

function rounded(tokens: number): number {
  return tokens <= EXACT_MAX_TOKENS ? Math.round(tokens) : Number(tokens.toPrecision(3));
}

function present(lines: readonly (string | null)[]): string[] {
  return lines.filter((line) => line !== null);
}

function budgeted(
  output: TextOutput,
  allTokens: number,
  outcome: ScrubbedOutcome,
  stored: StoredOutput | null,
): Budgeted {
  return {
    answer: { ...answerOf(output), exitCode: exitStatusOf(outcome) },
    tally: tallyOfText(output, allTokens, stored),
  };
}

function answerOf({ stdout, stderr }: TextOutput): Omit<CallAnswer, 'exitCode'> {
  return { line: '', errorLine: '', text: { stdout, stderr } };
}
