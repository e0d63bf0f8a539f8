import { createHmac, timingSafeEqual } from 'node:crypto';
import { ContextdError } from '../core/errors.ts';
import { packArtifactId, unpackArtifactId } from './artifact-id-bytes.ts';
import { readVarint, writeVarint } from './varint.ts';

/** Bytes `[start, end)` of an artifact that are still to be read. */
export interface ByteRange {
  start: number;
  end: number;
}

export type CursorView = 'head' | 'tail' | 'head_tail';

export interface CursorPayload {
  artifactId: string;
  /** One or two, ascending, apart from each other, none empty. */
  ranges: readonly ByteRange[];
  /** Of the artifact's text when the cursor was made, from 0; absent means 0. Only its last four bits are kept. */
  revision?: number;
  /** The view the next page is cut with; absent means the default of the call. */
  view?: CursorView;
}

/**
 * Continuation cursors, as short as they can be: an agent pays for each character. base64url of
 * `flags | artifact id (10 bytes) | per range: gap and length as varints | HMAC-SHA256 truncated to 12 bytes`.
 */
export interface Cursors {
  seal(sessionKey: string, payload: CursorPayload): string;
  /** Errors: CURSOR_INVALID for anything that `seal` did not give to this very session. */
  open(sessionKey: string, text: string): CursorPayload;
}

const MAC_BYTES = 12;
const ID_BYTES = 10;
/** Flags, id, two ranges of two longest varints, code: no cursor has more characters. */
const MAX_CHARACTERS = Math.ceil(((1 + ID_BYTES + 4 * 8 + MAC_BYTES) * 4) / 3);
/** Flags: bits 0-1 the number of ranges, bits 2-3 the view, bits 4-7 the revision of the artifact. */
export const REVISIONS = 16;
const VIEWS = [undefined, 'head', 'tail', 'head_tail'] as const;

export function createCursors(deps: { cursorKey(sessionKey: string): Buffer }): Cursors {
  return {
    seal(sessionKey, payload) {
      const body = encode(payload);
      return Buffer.concat([body, sign(deps.cursorKey(sessionKey), body)]).toString('base64url');
    },
    open(sessionKey, text) {
      const bytes = fromBase64url(text);
      const body = bytes.subarray(0, -MAC_BYTES);
      const code = bytes.subarray(-MAC_BYTES);
      const expected = sign(deps.cursorKey(sessionKey), body);
      if (code.length !== MAC_BYTES || !timingSafeEqual(code, expected)) throw invalid();
      return decode(body);
    },
  };
}

function encode({ artifactId, ranges, view, revision = 0 }: CursorPayload): Buffer {
  if (ranges.length < 1 || ranges.length > 2) throw new RangeError(`a cursor has 1 or 2 ranges, not ${ranges.length}`);
  const out: number[] = [
    ranges.length | (VIEWS.indexOf(view) << 2) | ((revision % REVISIONS) << 4),
    ...packArtifactId(artifactId),
  ];
  let at = 0;
  for (const { start, end } of ranges) {
    if (end <= start) throw new RangeError(`a cursor's range is not empty: ${start}-${end}`);
    writeVarint(out, start - at);
    writeVarint(out, end - start);
    at = end;
  }
  return Buffer.from(out);
}

/** The code held, so these bytes are ours; a form this version does not know still ends as CURSOR_INVALID. */
function decode(body: Buffer): CursorPayload {
  const flags = body[0] ?? 0;
  const view = VIEWS[(flags >> 2) & 3];
  const revision = flags >> 4;
  const artifactId = unpackArtifactId(body.subarray(1, 1 + ID_BYTES));
  const ranges = decodeRanges(body, flags & 3);
  return { artifactId, ranges, ...(view === undefined ? {} : { view }), ...(revision === 0 ? {} : { revision }) };
}

function decodeRanges(body: Buffer, count: number): ByteRange[] {
  const ranges: ByteRange[] = [];
  let position = 1 + ID_BYTES;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const gap = readVarint(body, position);
    const length = gap && readVarint(body, gap.next);
    if (!gap || !length) throw invalid();
    ranges.push({ start: at + gap.value, end: at + gap.value + length.value });
    at += gap.value + length.value;
    position = length.next;
  }
  return ranges;
}

function sign(key: Buffer, body: Buffer): Buffer {
  return createHmac('sha256', key).update(body).digest().subarray(0, MAC_BYTES);
}

/** Only the one spelling of the bytes: unused bits of the last character would be a second one. */
function fromBase64url(text: string): Buffer {
  if (text.length > MAX_CHARACTERS) throw invalid();
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw invalid();
  return bytes;
}

function invalid(): ContextdError {
  return new ContextdError('CURSOR_INVALID', 'the continuation cursor was changed or is not one of this session', {
    remedy: 'Pass meta.pagination.cursor of an answer of this session unchanged, or run the command again.',
  });
}
