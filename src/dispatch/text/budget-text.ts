import type { CallAnswer } from '../../call/request.ts';
import type { ContextdError } from '../../core/errors.ts';
import type { Continuations } from '../../stores/continuations.ts';
import type { Cursors } from '../../stores/cursors.ts';
import { shownStreams, stepsOf } from '../../tokens/budget.ts';
import { TOKEN_MAX_BYTES, type TokenCounter } from '../../tokens/counter.ts';
import { cutStreams, measureStreams, type StreamCut } from '../../tokens/cut-streams.ts';
import {
  fitText,
  printText,
  type ShownFacts,
  type TextLayout,
  type TextOutput,
  type TextPart,
} from '../../tokens/fit-text.ts';
import type { ByteRange } from '../../tokens/line.ts';
import { layPage } from '../../tokens/page.ts';
import type { ShownStream } from '../../tokens/shown-stream.ts';
import { plainCounter } from '../../tokens/truncate.ts';
import { DEFAULT_VIEW } from '../../tokens/views/read-view.ts';
import { continuedBy, type VerifiedCall } from '../call.ts';
import { exitStatusOf, failureLine } from '../exit-status.ts';
import type { Page } from '../page.ts';
import type { ScrubbedOutcome } from '../scrub.ts';
import { sealed } from '../seal.ts';
import { keep, type StoredOutput, storeDerived } from '../store.ts';
import { type DataStoreDeps, isDataViewed, placed, rangeOf, storeData, withoutData } from '../store-data.ts';
import { type Budgeted, tallyOfText } from '../tally.ts';
import { fitView } from '../view/fit-view.ts';
import type { ShownOutput, ViewDeps } from '../view/view-output.ts';
import { statusLine } from './status-line.ts';
import { present, requestOf, type Subject, spellingFor } from './text-request.ts';

export interface TextDeps extends ViewDeps, DataStoreDeps {
  counter: TokenCounter;
  cursors: Cursors;
  continuations: Continuations;
}

/** Above this, the token count of an output is an estimate and is rounded to three digits. */
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
  return stored === null
    ? budgetFacts(subject, call, deps)
    : budgetStored(subject, call, withoutData(stored, call), deps);
}

/** An answer without texts. Facts that do not fit, or that a view was asked for, are stored and shown as a text. */
async function budgetFacts(subject: Subject, call: VerifiedCall, deps: TextDeps): Promise<Budgeted> {
  const { outcome } = subject;
  if (isDataViewed(call, outcome)) {
    const kept = await storeData(call, outcome.data, null, deps);
    return budgetStored({ ...subject, areFactsStored: true }, call, kept, deps);
  }
  const { facts } = requestOf({ ...subject, shown: null, stored: null, continuation: null, all: 0 });
  if (!facts.isCut) return withoutText(subject, call);
  const kept =
    call.tool.manifest.text === null
      ? await storeData(call, outcome.data, null, deps)
      : keep(call, [{ field: 'data', text: facts.whole }], 0, deps);
  await kept.committed;
  const options = { ...call.options, view: { ...DEFAULT_VIEW, name: 'head', lines: null } } as const;
  return budgetStored({ ...subject, areFactsStored: true }, { ...call, options }, kept, deps);
}

async function budgetStored(
  roomy: Subject,
  asked: VerifiedCall,
  stored: StoredOutput,
  deps: TextDeps,
): Promise<Budgeted> {
  const whole = (shown: ShownOutput): TextOutput | null => fitWhole(roomy, shown, stored);
  const maxTokens = asked.options.cutTokens;
  const call = { ...asked, options: { ...asked.options, maxTokens } };
  const subject = { ...roomy, call, maxTokens };
  const { outcome, counter } = subject;
  const fitted = await fitView(call, outcome, stored, deps, whole);
  if (fitted.whole !== null) return budgeted(fitted.whole, fitted.whole.shownTokens, outcome, stored);
  const { shown } = fitted;
  const texts = shown.derived === null ? stored : await storeDerived(call, stored, shown.derived, deps);
  const continuation = await deps.continuations.reserve(call.session);
  const streams = shownStreams(shown.streams, maxTokens);
  const all = estimateOf(streams, counter);
  const plain = plainCounter(counter);
  const measured = measureStreams(plain, streams, maxTokens);
  const request = requestOf({ ...subject, shown, stored, continuation, all });
  const { kept, left } = request.facts.isCut ? await keepFacts(subject, call, texts, deps) : { kept: texts, left: [] };
  const output = fitText(counter, request, (room) => layout(cutStreams(plain, measured, room), left));
  if (output.omitted.length > 0)
    await deps.continuations.keep(call.session, continuation, sealed(call, kept, output.omitted, deps));
  return budgeted(output, all, outcome, stored);
}

/** Stores cut facts after the texts, so that the continuation leads to all of them. */
async function keepFacts({ outcome }: Subject, call: VerifiedCall, texts: StoredOutput, deps: TextDeps) {
  const kept = await storeData(call, outcome.data, texts, deps);
  return { kept, left: [rangeOf(placed(kept))] };
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
    const facts = { exitStatus: 0, signal: null, tool: continuedBy(call), spelling: spellingFor(call) };
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

/** An answer without text: a refusal, a dry run's report, or a command that printed nothing. */
export function withoutText(subject: Omit<Subject, 'call'>, call: VerifiedCall | null = null): Budgeted {
  const request = requestOf({ ...subject, call, shown: null, stored: null, continuation: null, all: 0 });
  const output = printText(subject.counter, request, { parts: [], omitted: [] });
  return budgeted(output, output.shownTokens, subject.outcome, null);
}

/** The answer to a call that never reaches dispatch. It repeats no caller text. */
export function turnedAway(why: ContextdError, outcome: ScrubbedOutcome, counter: TokenCounter): Budgeted {
  return withoutText({ outcome: { ...outcome, failure: why }, maxTokens: Number.MAX_SAFE_INTEGER, counter });
}

/** Prints the exact output of the command if it fits, otherwise a lossless condensed text. Null if neither fits. */
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

/** Joins the pieces of each stream. A piece after a gap starts on a new line. */
function layout(cuts: readonly StreamCut[], left: readonly ByteRange[]): TextLayout {
  return {
    parts: cuts.map(partOf),
    omitted: [...cuts.flatMap(({ gaps }) => gaps.map(({ start, end }) => ({ start, end }))), ...left],
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

function budgeted(
  output: TextOutput,
  allTokens: number,
  outcome: ScrubbedOutcome,
  stored: StoredOutput | null,
): Budgeted {
  return {
    answer: {
      ...answerOf(output),
      exitCode: exitStatusOf(outcome),
      errorLine: failureLine(outcome),
      directory: outcome.facts.endedIn[0] ?? '',
    },
    tally: tallyOfText(output, allTokens, stored),
  };
}

function answerOf({ stdout, stderr }: TextOutput): Omit<CallAnswer, 'exitCode'> {
  return { line: '', errorLine: '', text: { stdout, stderr } };
}
