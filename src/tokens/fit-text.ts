import { escapeOwnLines, type PrintedText } from '../text/own-lines.ts';
import type { TokenCounter } from './counter.ts';
import type { ByteRange } from './line.ts';
import { wellFormed } from './truncate.ts';

/** A text that an answer shows, or what it shows of it. */
export interface TextPart {
  /** `stderr` goes to descriptor 2, all others to descriptor 1. */
  field: string;
  text: string;
  /** What is missing, in order. */
  gaps: readonly TextGap[];
}

export interface TextGap {
  bytes: number;
  /** Lines of the shown text before the gap. */
  afterLine: number;
}

/** What a text answer shows of its texts. */
export interface TextLayout {
  parts: readonly TextPart[];
  /** The bytes of the artifact that are left for the continuation. */
  omitted: readonly ByteRange[];
}

/** What the lines of contextd are made from. */
export interface ShownFacts extends TextLayout {
  /** Tokens of the parts as printed. */
  shownTokens: number;
}

export interface TextRequest {
  budgetTokens: number;
  /** Printed on stdout before the parts; "" or whole lines. */
  head: string;
  /** The line before a part; "" for none. */
  headingOf(part: TextPart): string;
  /** The lines of contextd, without newlines. */
  ownLines(facts: ShownFacts): readonly string[];
}

export interface FitTextRequest extends TextRequest {
  /** Used if not even an answer without text is within the budget: many headings or long paths. */
  bare: TextRequest;
}

export interface TextOutput extends PrintedText {
  /** cl100k_base tokens of stdout plus those of stderr. */
  tokens: number;
  shownTokens: number;
  omitted: readonly ByteRange[];
}

/** The answer that shows all of `layout`; its tokens may be over the budget. */
export function printText(counter: TokenCounter, request: TextRequest, layout: TextLayout): TextOutput {
  const out = layout.parts.filter(({ field }) => field !== 'stderr');
  const err = layout.parts.filter(({ field }) => field === 'stderr');
  const body = escapeOwnLines({
    stdout: printable(request.head + joined(out, request)),
    stderr: printable(err.map(({ text }) => text).join('')),
  });
  const shownTokens = counter.count(body.stdout) + counter.count(body.stderr);
  const own = request.ownLines({ ...layout, shownTokens });
  const stderr = body.stderr + afterBody(body, own);
  const tokens = own.length === 0 ? shownTokens : counter.count(body.stdout) + counter.count(stderr);
  return { stdout: body.stdout, stderr, tokens, shownTokens, omitted: layout.omitted };
}

/** A shell drops NUL bytes of what it reads, so they are written as an escape. */
function printable(text: string): string {
  return wellFormed(text).replaceAll('\0', '\\0');
}

/** With less room a layout shows less. Returns an answer within the budget that uses most of it. */
export function fitText(
  counter: TokenCounter,
  request: FitTextRequest,
  layoutFor: (roomTokens: number) => TextLayout,
): TextOutput {
  let step = 0;
  for (let room = request.budgetTokens; ; room = Math.max(0, room - step)) {
    const output = printText(counter, request, layoutFor(room));
    if (output.tokens <= request.budgetTokens) return output;
    if (room === 0) return printText(counter, request.bare, layoutFor(0));
    step = Math.max(output.tokens - request.budgetTokens, 2 * step);
  }
}

function joined(parts: readonly TextPart[], request: TextRequest): string {
  let text = '';
  for (const part of parts) {
    const heading = request.headingOf(part);
    const isNewLine = text === '' || text.endsWith('\n');
    text += `${heading === '' || isNewLine ? '' : '\n'}${heading}${part.text}`;
  }
  return text;
}

/** Every line of contextd begins at the start of a line, also where both descriptors lead to the same place. */
function afterBody({ stdout, stderr }: PrintedText, own: readonly string[]): string {
  if (own.length === 0) return '';
  const before = stderr === '' ? stdout : stderr;
  const isNewLine = before === '' || before.endsWith('\n');
  return `${isNewLine ? '' : '\n'}${own.map((line) => `${line}\n`).join('')}`;
}
