/** Crockford's base 32, as ULID uses it: no I, L, O, U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID: 48 bits of milliseconds, 80 random bits, 26 characters. Sorts by time. */
export function ulid(nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 10; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let random = '';
  for (const byte of randomBytes16()) random += ALPHABET.charAt(byte & 31);
  return time + random;
}

export const REQUEST_ID_PATTERN = /^req_[0-9A-HJKMNP-TV-Z]{26}$/;

/** When a request id was made, in milliseconds since the epoch; null for another text. A caller can put any time into it. */
export function timeOfRequest(requestId: string): number | null {
  if (!REQUEST_ID_PATTERN.test(requestId)) return null;
  let time = 0;
  for (const char of requestId.slice(4, 14)) time = time * 32 + ALPHABET.indexOf(char);
  return time;
}

export function newRequestId(nowMs: number): string {
  return `req_${ulid(nowMs)}`;
}

/** `art_` and 80 random bits, so it cannot be guessed. Short, because an agent pays for each character. */
export function newArtifactId(): string {
  let id = 'art_';
  for (const byte of randomBytes16()) id += ALPHABET.charAt(byte & 31).toLowerCase();
  return id;
}

/** `mem_` and 50 random bits. Short, because an agent pays for each character; other projects cannot read it anyway. */
export function newMemoryId(): string {
  return `mem_${newArtifactId().slice(4, 14)}`;
}

/** `br_` and 50 random bits. Other sessions cannot use it anyway. */
export function newBranchId(): string {
  return `br_${newArtifactId().slice(4, 14)}`;
}

/** Eight random characters, for names that need not be secret. */
export function newShortId(): string {
  return newArtifactId().slice(4, 12);
}

export const ARTIFACT_ID_PATTERN = /^art_[0-9a-hjkmnp-tv-z]{16}$/;

/** Uses Web Crypto, because loading node:crypto costs the compiled client 1 to 2 milliseconds. */
function randomBytes16(): Uint8Array {
  return globalThis.crypto.getRandomValues(new Uint8Array(16));
}
