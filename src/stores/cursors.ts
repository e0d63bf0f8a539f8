import { createHmac, timingSafeEqual } from 'node:crypto';
import { ContextdError } from '../core/errors.ts';
import { packArtifactId, unpackArtifactId } from './artifact-id-bytes.ts';
import { readVarint, writeVarint } from './varint.ts';

/** Bytes `[start, end)` of an artifact that are still to be read. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface CursorPayload {
  artifactId: string;
  /** One to CURSOR_MAX_RANGES, ascending, apart from each other, none empty. */
  ranges: readonly ByteRange[];
  /** Of the artifact's text when the cursor was made, from 0; absent means 0. Only its last four bits are kept. */
  revision?: number;
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
/** Sixteen streams, each with a gap on both sides of its error lines. */
export const CURSOR_MAX_RANGES = 32;
/** Count, flags, id, ranges of two longest varints, code: no cursor has more characters. */
const MAX_CHARACTERS = Math.ceil(((2 + ID_BYTES + 2 * CURSOR_MAX_RANGES * 8 + MAC_BYTES) * 4) / 3);
/** Flags: bits 0-3 the number of ranges, 0 for more than 15, whose number is the next byte; bits 4-7 the revision. */
export const REVISIONS = 16;

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

function encode({ artifactId, ranges, revision = 0 }: CursorPayload): Buffer {
  const count = ranges.length;
  if (count < 1 || count > CURSOR_MAX_RANGES)
    throw new RangeError(`a cursor has 1 to ${CURSOR_MAX_RANGES} ranges, not ${count}`);
  const flags = (revision % REVISIONS) << 4;
  const out: number[] = [...(count < 16 ? [flags | count] : [flags, count]), ...packArtifactId(artifactId)];
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
  const few = flags & 15;
  const idStart = few === 0 ? 2 : 1;
  const artifactId = unpackArtifactId(body.subarray(idStart, idStart + ID_BYTES));
  const ranges = decodeRanges(body, idStart + ID_BYTES, few === 0 ? (body[1] ?? 0) : few);
  const revision = flags >> 4;
  return { artifactId, ranges, ...(revision === 0 ? {} : { revision }) };
}

function decodeRanges(body: Buffer, from: number, count: number): ByteRange[] {
  const ranges: ByteRange[] = [];
  let position = from;
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
