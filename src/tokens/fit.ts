import type { Envelope } from '../core/envelope.ts';
import type { TokenCounter } from './counter.ts';
import { type ByteRange, type Line, renderLine } from './line.ts';
import { shrunkEnvelopes } from './shrink.ts';

/** What an answer shows of its streams, and what it leaves for the cursor. */
export interface Layout {
  texts: ReadonlyMap<string, string>;
  omitted: readonly ByteRange[];
}

interface FitRequest {
  envelope: Envelope;
  budgetTokens: number;
  /** Seals what is still to be read. Called several times: the same ranges must give the same cursor. */
  cursorFor(ranges: readonly ByteRange[]): string;
  /** All there is to read before anything is shown. */
  everything: readonly ByteRange[];
  fields: readonly string[];
  /** Tokens that must be left for text, lest the facts be cut. */
  minRoomTokens: number;
  /** The texts cut to about `roomTokens`. With less room it shows less. */
  layoutFor(roomTokens: number): Layout;
}

export interface BudgetOutput extends Line {
  /** The bytes of the artifact this answer does not show, in order; empty when it shows all there was. */
  omitted: readonly ByteRange[];
}

/**
 * The line whose recount is within the budget. Facts that alone exceed it are cut step by step (see shrink.ts); if
 * not even the bare envelope fits, which takes dozens of streams or absurdly long field names, the bare line goes out.
 */
export function fitLayout(counter: TokenCounter, request: FitRequest): BudgetOutput {
  const asGiven = fitEnvelope(counter, request, request.envelope, request.minRoomTokens);
  if (asGiven !== null) return asGiven;
  const roomTokens = Math.max(request.minRoomTokens, request.everything.length > 0 ? request.budgetTokens >> 2 : 0);
  let bare = request.envelope;
  for (const smaller of shrunkEnvelopes(request.envelope, request.fields)) {
    const fitted = fitEnvelope(counter, request, smaller, roomTokens);
    if (fitted !== null) return fitted;
    bare = smaller;
  }
  return fitEnvelope(counter, request, bare, 0) ?? renderLayout(counter, request, bare, request.layoutFor(0));
}

/** Null when the facts leave less than `minRoomTokens`, or no layout fits. */
function fitEnvelope(
  counter: TokenCounter,
  request: FitRequest,
  envelope: Envelope,
  minRoomTokens: number,
): BudgetOutput | null {
  const facts = withLayout(request, envelope, { texts: new Map(), omitted: request.everything });
  const fixed = renderLine(counter, facts, request.budgetTokens - minRoomTokens);
  if (fixed === null) return null;
  let step = 0;
  for (let room = request.budgetTokens - fixed.tokens; room >= 0; room -= step) {
    const fitted = renderLayout(counter, request, envelope, request.layoutFor(room));
    if (fitted.envelope.tokens_used <= request.budgetTokens) return fitted;
    step = Math.max(fitted.envelope.tokens_used - request.budgetTokens, 2 * step);
    if (room > 0 && step > room) step = room;
  }
  return null;
}

function renderLayout(counter: TokenCounter, request: FitRequest, envelope: Envelope, layout: Layout): BudgetOutput {
  const rendered = renderLine(counter, withLayout(request, envelope, layout));
  if (rendered === null) throw new Error('a line without a limit is always rendered');
  return { line: rendered.line, envelope: rendered.envelope, omitted: layout.omitted };
}

function withLayout(request: FitRequest, envelope: Envelope, layout: Layout): Envelope {
  const data = { ...envelope.data, ...Object.fromEntries(layout.texts) };
  if (layout.omitted.length === 0) return { ...envelope, data };
  const pagination = { cursor: request.cursorFor(layout.omitted) };
  return {
    ...envelope,
    data,
    has_more: true,
    truncated: true,
    meta: { ...envelope.meta, pagination, content_fidelity: 'partial' },
  };
}
