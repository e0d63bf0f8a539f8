import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SessionRef } from '../call/session.ts';
import { ContextdError } from '../core/errors.ts';
import { ARTIFACT_ID_PATTERN } from '../core/ids.ts';

/** Unread bytes `[start, end)` of an artifact. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface CursorPayload {
  artifactId: string;
  /** 1 to CURSOR_MAX_RANGES ranges, not empty, in ascending order with gaps between them. */
  ranges: readonly ByteRange[];
  /** The artifact's revision when the cursor was made. Absent means 0. Only its low four bits are kept. */
  revision?: number;
  /** True: pages of `data` are JSON, cut at items. Absent: they are text. */
  isJson?: true;
}

/**
 * Continuation cursors. Short, because an agent pays for each character: base64url of `flags | artifact id (10 bytes) |
 * per range: gap and length as varints | HMAC-SHA256 truncated to 12 bytes`.
 */
export interface Cursors {
  seal(session: SessionRef, payload: CursorPayload): string;
  /** Errors: CURSOR_INVALID for any text that `seal` did not return for this session. */
  open(session: SessionRef, text: string): CursorPayload;
}

const MAC_BYTES = 12;
const ID_BYTES = 10;
/** Sixteen streams, each with a gap on both sides of its error lines, and the omitted parts of `data`. */
export const CURSOR_MAX_RANGES = 40;
/** Count, flags, id, two varints of maximum length per range, HMAC. */
const MAX_CHARACTERS = Math.ceil(((2 + ID_BYTES + 2 * CURSOR_MAX_RANGES * 8 + MAC_BYTES) * 4) / 3);
/**
 * Flags: bits 0-3 are the number of ranges, or 0 if the next byte holds the number and, in its highest bit, `isJson`; bits
 * 4-7 are the revision.
 */
export const REVISIONS = 16;
const JSON_BIT = 128;

export function createCursors(deps: { cursorKey(session: SessionRef): Buffer }): Cursors {
  return {
    seal(session, payload) {
      const body = encode(payload);
      return Buffer.concat([body, sign(deps.cursorKey(session), body)]).toString('base64url');
    },
    open(session, text) {
      const bytes = fromBase64url(text);
      const body = bytes.subarray(0, -MAC_BYTES);
      const code = bytes.subarray(-MAC_BYTES);
      const expected = sign(deps.cursorKey(session), body);
      if (code.length !== MAC_BYTES || !timingSafeEqual(code, expected)) throw invalid();
      return decode(body);
    },
  };
}

function encode({ artifactId, ranges, revision = 0, isJson }: CursorPayload): Buffer {
  const count = ranges.length;
  if (count < 1 || count > CURSOR_MAX_RANGES)
    throw new RangeError(`a cursor has 1 to ${CURSOR_MAX_RANGES} ranges, not ${count}`);
  const flags = (revision % REVISIONS) << 4;
  const head = isJson ? [flags, count | JSON_BIT] : count < 16 ? [flags | count] : [flags, count];
  const out: number[] = [...head, ...packArtifactId(artifactId)];
  let at = 0;
  for (const { start, end } of ranges) {
    if (end <= start) throw new RangeError(`a cursor's range is not empty: ${start}-${end}`);
    writeVarint(out, start - at);
    writeVarint(out, end - start);
    at = end;
  }
  return Buffer.from(out);
}

/** The HMAC matched, so these bytes are ours. A form unknown to this version is still CURSOR_INVALID. */
function decode(body: Buffer): CursorPayload {
  const flags = body[0] ?? 0;
  const few = flags & 15;
  const idStart = few === 0 ? 2 : 1;
  const artifactId = unpackArtifactId(body.subarray(idStart, idStart + ID_BYTES));
  const second = few === 0 ? (body[1] ?? 0) : few;
  const ranges = decodeRanges(body, idStart + ID_BYTES, second % JSON_BIT);
  const revision = flags >> 4;
  const isJson = second >= JSON_BIT;
  return { artifactId, ranges, ...(revision === 0 ? {} : { revision }), ...(isJson ? { isJson } : {}) };
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

/** Accepts only one spelling of the bytes. Unused bits in the last character would allow a second one. */
function fromBase64url(text: string): Buffer {
  if (text.length > MAX_CHARACTERS) throw invalid();
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw invalid();
  return bytes;
}

function invalid(): ContextdError {
  return new ContextdError('CURSOR_INVALID', 'the continuation cursor was changed or is from another session', {
    remedy: 'Pass meta.pagination.cursor of an answer of this session unchanged, or run the command again.',
  });
}

/** The alphabet of `newArtifactId`: 5 bits per character. */
const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_PREFIX = 'art_';

/** The 80 random bits of an artifact id as 10 bytes. */
function packArtifactId(id: string): Buffer {
  if (!ARTIFACT_ID_PATTERN.test(id)) throw new RangeError(`not an artifact id: ${id}`);
  let bits = 0n;
  for (const character of id.slice(ID_PREFIX.length)) bits = (bits << 5n) | BigInt(ID_ALPHABET.indexOf(character));
  return Buffer.from(bits.toString(16).padStart(20, '0'), 'hex');
}

function unpackArtifactId(bytes: Buffer): string {
  let bits = BigInt(`0x${bytes.toString('hex')}`);
  let id = '';
  for (let i = 0; i < 16; i++) {
    id = ID_ALPHABET.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return ID_PREFIX + id;
}

/** Writes a little-endian base-128 number: 1 byte below 128, 4 bytes up to 256 MiB. */
function writeVarint(out: number[], value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a whole number from 0: ${value}`);
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

/** The number at `at` and the position after it, or null past the end of the bytes or above 2^53. */
function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } | null {
  let value = 0;
  for (let next = at, scale = 1; scale <= 2 ** 49; scale *= 128) {
    const byte = bytes[next++];
    if (byte === undefined) return null;
    value += (byte % 128) * scale;
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next } : null;
  }
  return null;
}
