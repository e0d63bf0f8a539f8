import { ContextdError, type ErrorCode, isErrorCode } from '../core/errors.ts';
import type { OutputGap } from '../core/gap.ts';
import type { JsonObject } from '../core/json.ts';
import { GAP_SHAPE, packGap, parseGap } from './gap-message.ts';
import type {
  CallOutput,
  Failure,
  LeafSpans,
  Failure__Output as WireFailure,
  LeafSpans__Output as WireLeaf,
  CallOutput__Output as WireOutput,
  ShownPart__Output as WirePart,
  SecretSpan__Output as WireSpan,
  OutputStream__Output as WireStream,
} from './generated/plugin.ts';
import { PLUGIN_MESSAGE_MAX_BYTES } from './plugin/environment.ts';
import { isBounded, type MessageShape, readBoundedObject, WireFault } from './wire-bounds.ts';

/** A long text of an answer: stored whole, cut to the budget, and shown as `data[field]`. */
export interface ToolStream {
  field: string;
  text: string;
  /**
   * UTF-16 characters at both ends of `text` that are searched for secrets and never shown. They surround the requested
   * part, so that a secret is recognized even if the edge of the part splits it. Default: none.
   */
  margin?: TextMargin;
  /** What is missing in the middle of the text. Default: nothing. */
  gap?: OutputGap;
  /**
   * What is shown of `text`: these parts in order, each behind its label. All of the text is searched for secrets. For a text with margins or a gap it must be absent. Default: all but the margins is shown.
   */
  parts?: readonly ShownPart[];
}

/** A part of a text that is shown: UTF-16 offsets, end exclusive. */
export interface ShownPart {
  start: number;
  end: number;
  /** What stands before it, in the form of grep: `12:`, or `…\n--\n13-…`. Each but the first ends a line. */
  label: string;
}

/** Labels are not searched for secrets, so they hold nothing but the numbers of lines. */
const FIRST_LABEL = /^(?:\d{1,15}[:-]…?)?$/;
const NEXT_LABEL = /^…?\n(?:--\n)?(?:\d{1,15}[:-]…?)?$/;

export interface TextMargin {
  before: number;
  after: number;
}

/** What is shown of the text of a stream. */
export function shownText({ text, margin, parts }: ToolStream): string {
  if (parts !== undefined) return parts.map(({ start, end, label }) => label + text.slice(start, end)).join('');
  return margin === undefined ? text : text.slice(margin.before, text.length - margin.after);
}

/** An error on the wire: a code of the closed table, a sentence, a remedy, and details for programs. */
export interface ToolFailure {
  code: ErrorCode;
  message: string;
  remedy?: string;
  details?: JsonObject;
}

/** The output of a tool. */
export interface ToolOutput {
  /** Small facts, which are never cut. */
  data: JsonObject;
  /** Long texts, in the order they are shown. */
  streams?: readonly ToolStream[];
  /** Set if the tool began and failed; data and streams are returned with it. */
  failure?: ToolFailure;
  /** Bytes beyond `output_max` that were not kept. */
  droppedBytes?: number;
  /** True if the tool has applied the view that was asked for; its texts are then shown as they are. Default: false. */
  isViewApplied?: boolean;
  warnings?: readonly string[];
}

/** A secret in a text: UTF-16 offsets, end exclusive. Has the shape of a finding in src/scrub. */
export interface SecretSpan {
  rule: string;
  start: number;
  end: number;
}

/** What the process of a tool found in its output: the secrets in each leaf of {data, streams}. */
export type Findings = readonly (readonly SecretSpan[])[];

/** The output of a call, and what the process of the tool found in it; null: it is still searching. */
export interface ScannedOutput {
  output: ToolOutput;
  firstPass: Findings | null;
}

/** The most output of one call that is transported whole; of more, head and tail are kept. */
export const OUTPUT_CEILING_BYTES = PLUGIN_MESSAGE_MAX_BYTES / 4;

/** The most bytes of `data` and of a failure's `details` as JSON text. */
const DATA_MAX_BYTES = 16 * 1024 * 1024;
const DETAILS_MAX_BYTES = 1024 * 1024;
/** The most bytes of data and streams together; leaves room for the spans of the first pass. */
const TEXTS_MAX_BYTES = PLUGIN_MESSAGE_MAX_BYTES - 64 * 1024 * 1024;
const MAX_STREAMS = 16;
const MAX_WARNINGS = 100;
/** Parts of all streams of an output. */
export const MAX_PARTS = 500_000;
const MAX_LEAVES = 200_000;
const MAX_SPANS = 1_000_000;
const FIELD_PATTERN = /^[a-z][a-z0-9_]{0,31}$/;

const FAILURE_SHAPE: MessageShape = { 1: 'bytes', 2: 'bytes', 3: 'bytes', 4: 'bytes' };
const SPAN_SHAPE: MessageShape = { 1: 'bytes', 2: 'uint32', 3: 'uint32' };
const PART_SHAPE: MessageShape = { 1: 'uint32', 2: 'uint32', 3: 'bytes' };
const OUTPUT_SHAPE: MessageShape = {
  1: 'bytes',
  2: { 1: 'bytes', 2: 'bytes', 3: 'uint32', 4: 'uint32', 5: GAP_SHAPE, 6: PART_SHAPE },
  3: FAILURE_SHAPE,
  4: 'uint64',
  5: 'bytes',
  6: { 1: SPAN_SHAPE },
  7: 'uint32',
  20: 'uint32',
};
/** The shape of a CallEvent, and the most fields a valid one can have. */
export const CALL_EVENT_SHAPE: MessageShape = { 2: OUTPUT_SHAPE, 3: FAILURE_SHAPE, 4: { 1: { 1: SPAN_SHAPE } } };
export const CALL_EVENT_MAX_FIELDS = MAX_LEAVES + 4 * MAX_SPANS + 4 * MAX_PARTS + 1_000;

/** Checks and decodes the output of a tool process. Throws WireFault. */
export function parseCallOutput(message: WireOutput): ScannedOutput {
  const { data_json, streams, failure, dropped_bytes, warnings, first_pass, findings_follow, view_applied } = message;
  const data = data_json.length === 0 ? {} : readBoundedObject('output.data', data_json, DATA_MAX_BYTES);
  if (streams.length > MAX_STREAMS) throw new WireFault(`output has more than ${MAX_STREAMS} streams`);
  if (warnings.length > MAX_WARNINGS) throw new WireFault(`output has more than ${MAX_WARNINGS} warnings`);
  if (!Number.isSafeInteger(dropped_bytes)) throw new WireFault('output.dropped_bytes is not a whole number');
  checkFieldNames(data, streams);
  const output = {
    data,
    ...(streams.length === 0 ? {} : { streams: streams.map(parseStream) }),
    ...(failure === null ? {} : { failure: parseFailure(failure) }),
    ...(dropped_bytes === 0 ? {} : { droppedBytes: dropped_bytes }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(view_applied ? { isViewApplied: true } : {}),
  };
  return { output, firstPass: findings_follow ? null : parseFindings(first_pass) };
}

function parseStream({
  field,
  text,
  margin_before: before,
  margin_after: after,
  gap: wireGap,
  parts,
}: WireStream): ToolStream {
  if (before + after > text.length) throw new WireFault(`the margins of stream ${field} are longer than its text`);
  const gap = parseGap(wireGap, text);
  if (parts.length > 0) {
    if (before + after > 0 || gap !== null) throw new WireFault(`stream ${field} has parts and margins or a gap`);
    return { field, text, parts: parseParts(field, text, parts) };
  }
  if (gap !== null && (gap.start < before || gap.end > text.length - after))
    throw new WireFault(`the gap of stream ${field} is in its margins`);
  const margin = before + after === 0 ? {} : { margin: { before, after } };
  return { field, text, ...margin, ...(gap === null ? {} : { gap }) };
}

function parseParts(field: string, text: string, parts: readonly WirePart[]): ShownPart[] {
  if (parts.length > MAX_PARTS) throw new WireFault(`stream ${field} has more than ${MAX_PARTS} parts`);
  let last = 0;
  return parts.map(({ start, end, label }, index) => {
    if (!(index === 0 ? FIRST_LABEL : NEXT_LABEL).test(label))
      throw new WireFault(`the label of a part of stream ${field} is not the number of a line`);
    if (start < last || end < start || end > text.length)
      throw new WireFault(`a part of stream ${field} is not behind the one before it, or not in its text`);
    last = end;
    return { start, end, label };
  });
}

/** Checks and decodes the failure of a tool process. Throws WireFault. */
export function parseFailure({ code, message, remedy, details_json }: WireFailure): ToolFailure {
  if (!isErrorCode(code)) throw new WireFault('failure.code is not a code of docs/errors.md');
  return {
    code,
    message,
    ...(remedy === '' ? {} : { remedy }),
    ...(details_json.length === 0
      ? {}
      : { details: readBoundedObject('failure.details', details_json, DETAILS_MAX_BYTES) }),
  };
}

/** Whether an object can be the data of an output. A larger one can be sent as text, in a stream. */
export function fitsAsData(data: JsonObject): boolean {
  return isBounded(data) && Buffer.byteLength(JSON.stringify(data)) <= DATA_MAX_BYTES;
}

/** Encodes an output. Throws RESOURCE_LIMIT if the output is too large for the protocol. */
export function packCallOutput({ output, firstPass }: ScannedOutput): CallOutput {
  const streams = (output.streams ?? []).map(({ field, text, margin, gap, parts }) => ({
    field,
    // On the wire, no parts means that all is shown.
    text: parts?.length === 0 ? '' : wellFormed(text),
    margin_before: margin?.before ?? 0,
    margin_after: margin?.after ?? 0,
    ...(gap === undefined ? {} : { gap: packGap(gap) }),
    ...(parts === undefined ? {} : { parts: [...parts] }),
  }));
  const dataJson = Buffer.from(JSON.stringify(output.data));
  if (!isBounded(output.data)) throw tooManyValues();
  if (dataJson.length > DATA_MAX_BYTES) throw tooLarge('its data', dataJson.length, DATA_MAX_BYTES);
  const bytes = streams.reduce((sum, { text }) => sum + Buffer.byteLength(text), dataJson.length);
  if (bytes > TEXTS_MAX_BYTES) throw tooLarge('the output', bytes, TEXTS_MAX_BYTES);
  return {
    data_json: dataJson,
    streams,
    ...(output.failure === undefined ? {} : { failure: packFailure(output.failure) }),
    dropped_bytes: output.droppedBytes ?? 0,
    warnings: [...(output.warnings ?? [])],
    view_applied: output.isViewApplied ?? false,
    first_pass: packFindings(firstPass ?? []),
    findings_follow: firstPass === null,
  };
}

export function packFindings(findings: Findings): LeafSpans[] {
  return findings.map((spans) => ({ spans: [...spans] }));
}

export function packFailure({ code, message, remedy, details }: ToolFailure): Failure {
  return {
    code,
    message,
    remedy: remedy ?? '',
    details_json: details === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(details)),
  };
}

/** Converts an error for the wire, without `cause` and stack. */
export function toFailure(error: ContextdError): ToolFailure {
  return {
    code: error.code,
    message: error.message,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    ...(Object.keys(error.details).length === 0 ? {} : { details: toJsonObject(error.details) }),
  };
}

export function fromFailure({ code, message, remedy, details }: ToolFailure): ContextdError {
  return new ContextdError(code, message, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(details === undefined ? {} : { details }),
  });
}

/** Checks and decodes what the process of a tool found. Throws WireFault. */
export function parseFindings(leaves: readonly WireLeaf[]): SecretSpan[][] {
  if (leaves.length > MAX_LEAVES) throw new WireFault(`a search has more than ${MAX_LEAVES} leaves`);
  let total = 0;
  return leaves.map(({ spans }) => {
    total += spans.length;
    if (total > MAX_SPANS) throw new WireFault(`a search has more than ${MAX_SPANS} spans`);
    return spans.map(parseSpan);
  });
}

function parseSpan({ rule, start, end }: WireSpan): SecretSpan {
  if (start >= end) throw new WireFault('a search has an invalid span');
  return { rule, start, end };
}

function checkFieldNames(data: JsonObject, streams: readonly WireStream[]): void {
  const seen = new Set(Object.keys(data));
  for (const { field } of streams) {
    if (!FIELD_PATTERN.test(field)) throw new WireFault(`stream.field does not match ${FIELD_PATTERN}`);
    if (seen.has(field)) throw new WireFault(`stream.field ${field} is used twice`);
    seen.add(field);
  }
}

/** Replaces lone surrogates: protobuf's writer encodes them wrongly in short texts, which would shift the spans. */
function wellFormed(text: string): string {
  return text.length < 64 ? Buffer.from(text).toString() : text;
}

function tooManyValues(): ContextdError {
  return new ContextdError(
    'RESOURCE_LIMIT',
    'cannot send the output: its data has more than 100,000 values or 32 levels',
    {
      remedy:
        'Ask for less at once. The author of the tool can return large data as text, such as one JSON value per line.',
    },
  );
}

function tooLarge(what: string, bytes: number, limit: number): ContextdError {
  return new ContextdError(
    'RESOURCE_LIMIT',
    `cannot send the output: ${what} has ${bytes} bytes, the limit is ${limit}`,
    {
      remedy: 'Ask for less at once.',
    },
  );
}

function toJsonObject(details: Readonly<Record<string, unknown>>): JsonObject {
  const copy: JsonObject = JSON.parse(JSON.stringify(details));
  return copy;
}
