import { ContextdError } from '../../core/errors.ts';
import { missingLines, type OutputGap } from '../../core/gap.ts';
import type { JsonObject } from '../../core/json.ts';
import { isWithheld } from '../../text/withheld.ts';
import { plainLines } from '../densify/densify.ts';
import { digest, isDigest, serializeDigest } from '../digest/digest.ts';
import type { CutMode } from '../shown-stream.ts';
import { viewDiff } from './diff.ts';
import { viewErrors } from './errors.ts';
import { viewGrep } from './grep.ts';
import { viewJsonKeys } from './json-keys.ts';
import { viewJsonPath } from './json-path.ts';
import { viewJsonRows } from './json-rows.ts';
import { LineNumbers } from './line-numbers.ts';
import { firstLines, lastLines, viewBytes, viewLines } from './ranges.ts';
import type { RowsOptions } from './rows.ts';
import { viewTextRows } from './text-rows.ts';
import type { View, Viewed, ViewName } from './view.ts';

export interface ViewStream {
  field: string;
  text: string;
  /** What is missing in the middle. Default: nothing. */
  gap?: OutputGap;
  /** True for the `data` of an answer, as JSON. */
  isData?: true;
}

/** Plain data, so that it can be rendered in another thread. */
export interface ViewRequest {
  view: View;
  /** In the order in which the artifact holds them. */
  streams: readonly ViewStream[];
  /** Texts beside the one that is looked at are shown too: they may say why the call failed. */
  failed: boolean;
  /** What a diff is made against; null: there is nothing. */
  earlier: readonly ViewStream[] | null;
  /** Characters a digest may have. */
  digestChars: number;
}

/** A text to be shown; its place in the stream when it is a part of it. */
export interface ViewedStream extends ViewStream {
  /** UTF-16 units of the stream before it; null: made from it. */
  start: number | null;
  cut: CutMode;
  mayDensify: boolean;
}

export interface ViewedOutput {
  streams: readonly ViewedStream[];
  /** Streams that the view leaves out. */
  leftOut: readonly string[];
  /** For `meta.view`; null: nothing to tell. */
  facts: JsonObject | null;
}

/** Views of one text; the others look at every text. */
const OF_ONE: readonly ViewName[] = ['lines', 'bytes', 'json_path', 'json_keys', 'rows', 'digest'];
/** Views whose text is that of the stream, cut. */
const PLAIN: readonly ViewName[] = ['head', 'tail', 'head_tail'];
const DIFF_CONTEXT_LINES = 2;

/** Makes the view of an output. VIEW_FAILED if the output does not allow it. Pure and synchronous. */
export function renderView(request: ViewRequest): ViewedOutput {
  const { view, streams } = request;
  const target = targetOf(request);
  const looksAt = (field: string): boolean => target === null || field === target;
  const seen = streams
    .filter(({ field }) => looksAt(field))
    .map((stream) => ({ stream, viewed: viewOne(stream, request) }));
  const others = streams.filter(({ field, text }) => !looksAt(field) && text !== '');
  const shownToo = request.failed ? others : [];
  const order = streams.map(({ field }) => field);
  return {
    streams: [...seen.map(({ stream, viewed }) => toShown(stream, viewed, view)), ...shownToo.map(asItIs)].sort(
      (a, b) => order.indexOf(a.field) - order.indexOf(b.field),
    ),
    leftOut: request.failed ? [] : others.map(({ field }) => field),
    facts: factsOf(
      view,
      seen.map(({ stream, viewed }) => [stream, viewed.facts]),
    ),
  };
}

/** The one stream that is looked at; null: all. */
function targetOf({ view, streams }: ViewRequest): string | null {
  if (view.stream !== null) {
    if (streams.some(({ field }) => field === view.stream)) return view.stream;
    throw new ContextdError('VIEW_FAILED', `the output has no text ${view.stream}`, {
      remedy: `It has ${streams.map(({ field }) => field).join(', ')}.`,
    });
  }
  if (!OF_ONE.includes(view.name)) return null;
  return (streams.find(({ text }) => text !== '') ?? streams[0])?.field ?? null;
}

function viewOne(stream: ViewStream, { view, earlier, digestChars }: ViewRequest): Viewed {
  const { text, gap } = stream;
  if (isWithheld(text)) return { kind: 'range', ...all(text), facts: {} };
  const plain = (): PlainText => (view.densify ? withPlainLines(stream) : stream);
  switch (view.name) {
    case 'head_tail':
      return { kind: 'range', start: 0, end: text.length, facts: {} };
    case 'head':
      return { kind: 'range', ...(view.lines === null ? all(text) : firstLines(text, view.lines)), facts: {} };
    case 'tail':
      return { kind: 'range', ...(view.lines === null ? all(text) : lastLines(text, view.lines)), facts: {} };
    case 'lines':
      return viewLines(text, view, gap);
    case 'bytes':
      return viewBytes(text, view, gap);
    case 'grep':
      return numbered(plain(), (lines, numbers) => viewGrep(lines, view, numbers));
    case 'errors':
      return numbered(plain(), (lines, numbers) => viewErrors(lines, view, numbers));
    case 'json_path':
      return complete(plain(), (json) => viewJsonPath(json, view));
    case 'json_keys':
      return complete(plain(), (json) => viewJsonKeys(json, view));
    case 'rows':
      return stream.isData ? viewJsonRows(text, view) : rowsBeforeGap(plain(), view);
    case 'diff':
      return viewDiff(text, earlierText(stream.field, earlier), { context: DIFF_CONTEXT_LINES });
    case 'digest': {
      const facts = { content_type: 'digest/v1', stream: stream.field };
      if (isDigest(text)) return { kind: 'range', ...all(text), facts };
      const payload = digest(text, view.query, { chars: digestChars });
      return {
        kind: 'text',
        text: serializeDigest(payload),
        facts,
        cut: 'head',
      };
    }
  }
}

type PlainText = Pick<ViewStream, 'text' | 'gap'>;

/** The text as a terminal shows it, line by line. */
function withPlainLines({ text, gap }: ViewStream): PlainText {
  if (gap === undefined) return { text: plainLines(text) };
  const head = plainLines(text.slice(0, gap.start));
  const line = text.slice(gap.start, gap.end);
  const place = { start: head.length, end: head.length + line.length };
  return { text: head + line + plainLines(text.slice(gap.end)), gap: { ...gap, ...place } };
}

function numbered({ text, gap }: PlainText, make: (text: string, numbers: LineNumbers) => Viewed): Viewed {
  return make(text, new LineNumbers(text, gap));
}

/** A view of a structure: if a part of the text is missing, the error says so. */
function complete({ text, gap }: PlainText, make: (text: string) => Viewed): Viewed {
  try {
    return make(text);
  } catch (thrown) {
    if (gap === undefined || !(thrown instanceof ContextdError)) throw thrown;
    const why = `lines ${missingLines(gap)} of the output were not kept (${gap.bytes} bytes)`;
    throw new ContextdError(thrown.code, `${thrown.message}; ${why}`, {
      remedy: 'Write the output to a file and select in it with a program, such as jq, or ask for lines.',
      details: thrown.details,
    });
  }
}

/** Rows after a gap have no number: a cell may hold line ends. */
function rowsBeforeGap({ text, gap }: PlainText, view: RowsOptions): Viewed {
  if (gap === undefined) return viewTextRows(text, view);
  const viewed = viewTextRows(text.slice(0, gap.start), view);
  return { ...viewed, facts: { ...viewed.facts, rows_end_at_line: gap.firstLine } };
}

function all(text: string): { start: number; end: number } {
  return { start: 0, end: text.length };
}

function earlierText(field: string, earlier: readonly ViewStream[] | null): string {
  if (earlier !== null) return earlier.find((stream) => stream.field === field)?.text ?? '';
  throw new ContextdError('VIEW_FAILED', 'there is no earlier output of the same command in this session', {
    remedy: 'Name one: {"diff":"art_…"}.',
  });
}

/** If a view is not smaller than its text, the text itself is shown. */
function toShown(stream: ViewStream, viewed: Viewed, view: View): ViewedStream {
  const { field, text } = stream;
  if (viewed.kind === 'range') {
    const { start, end } = viewed;
    const cut = view.name === 'tail' ? 'tail' : view.name === 'head_tail' ? 'head_tail' : 'head';
    return { field, text: text.slice(start, end), start, cut, mayDensify: PLAIN.includes(view.name) };
  }
  if (view.name === 'errors' && viewed.text.length >= text.length) return asItIs(stream);
  return { field, text: viewed.text, start: null, cut: viewed.cut, mayDensify: false };
}

function asItIs({ field, text }: ViewStream): ViewedStream {
  return { field, text, start: 0, cut: 'head_tail', mayDensify: true };
}

/** The figures of the one text there is, else by its key of data. */
function factsOf(view: View, seen: readonly (readonly [ViewStream, JsonObject])[]): JsonObject | null {
  if (PLAIN.includes(view.name)) return null;
  const full = seen.filter(([{ text }]) => text !== '');
  const [only] = full.length > 0 ? full : seen;
  if (full.length <= 1) return { name: view.name, ...only?.[1] };
  return { name: view.name, ...Object.fromEntries(full.map(([{ field }, facts]) => [field, facts])) };
}
