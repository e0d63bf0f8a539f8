import type { SessionRef } from '../../call/session.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';

export interface MaskDeps {
  scrubber: Pick<Scrubber, 'scrub' | 'maskText'>;
}

/** Keys of bytes. */
const BINARY: ReadonlySet<string> = new Set(['data', 'blob']);

/** Masks every string of a message but bytes as base64, and a state that is sealed. */
export async function maskMessage(session: SessionRef, message: JsonObject, { scrubber }: MaskDeps) {
  const taken: string[] = [];
  const open = withoutBytes(message, taken);
  const { value, secrets } = await scrubber.scrub(session, open as JsonObject);
  return { value: withBytes(value, taken[Symbol.iterator]()) as JsonObject, secrets };
}

/** Stands for a string that is not searched: a character of no meaning. */
const PLACE = '\u{F0000}';

function withoutBytes(value: Json, taken: string[], key = '', isBinary = false): Json {
  if (typeof value === 'string') {
    const isOpaque = key === 'requestState' || (isBinary && BINARY.has(key) && BASE64.test(value));
    if (!isOpaque && value !== PLACE) return value;
    taken.push(value);
    return PLACE;
  }
  if (Array.isArray(value)) return value.map((inner: Json) => withoutBytes(inner, taken));
  if (!isJsonObject(value)) return value;
  const holdsBytes = typeof value.mimeType === 'string' || typeof value.uri === 'string';
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutBytes(inner, taken, name, holdsBytes)]),
  );
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function withBytes(value: Json, taken: Iterator<string>): Json {
  if (value === PLACE) return taken.next().value ?? '';
  if (Array.isArray(value)) return value.map((inner: Json) => withBytes(inner, taken));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, taken)]));
}
