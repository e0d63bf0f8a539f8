/** Little-endian base-128 numbers: 1 byte below 128, 4 bytes up to 256 MiB. */
export function writeVarint(out: number[], value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a whole number from 0: ${value}`);
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

/** The number at `at` and the position after it; null at the end of the bytes or past 2^53. */
export function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } | null {
  let value = 0;
  for (let next = at, scale = 1; scale <= 2 ** 49; scale *= 128) {
    const byte = bytes[next++];
    if (byte === undefined) return null;
    value += (byte % 128) * scale;
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next } : null;
  }
  return null;
}
