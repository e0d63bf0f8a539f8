/** Up to this length the platform's search is faster; for longer texts its worst case grows with their length. */
const SHORT_BYTES = 64;

export interface FindOptions {
  /** True: `aa` occurs twice in `aaa`. */
  overlapping: boolean;
}

/** Yields the offsets of `wanted`, which is not empty, in `bytes`. Linear in both for every input. */
export function* findBytes(bytes: Buffer, wanted: Buffer, { overlapping }: FindOptions): Generator<number> {
  if (wanted.length > SHORT_BYTES) {
    yield* findLong(bytes, wanted, overlapping);
    return;
  }
  const step = overlapping ? 1 : wanted.length;
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + step)) yield at;
}

/** All offsets of a search, in four bytes each. */
export function findAllBytes(bytes: Buffer, wanted: Buffer): Uint32Array {
  let found = new Uint32Array(64);
  let count = 0;
  for (const at of findBytes(bytes, wanted, { overlapping: false })) {
    if (count === found.length) {
      const larger = new Uint32Array(2 * count);
      larger.set(found);
      found = larger;
    }
    found[count] = at;
    count += 1;
  }
  return found.subarray(0, count);
}

/** The algorithm of Knuth, Morris and Pratt, which reads every byte of the text once. */
function* findLong(bytes: Buffer, wanted: Buffer, overlapping: boolean): Generator<number> {
  const borders = bordersOf(wanted);
  const first = wanted[0] ?? 0;
  let matched = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (matched === 0) {
      at = bytes.indexOf(first, at);
      if (at === -1) return;
    }
    while (matched > 0 && bytes[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (bytes[at] === wanted[matched]) matched += 1;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = overlapping ? (borders[matched - 1] ?? 0) : 0;
  }
}

/** For each prefix of `wanted`, the length of the longest shorter prefix that it ends with. */
function bordersOf(wanted: Buffer): Uint32Array {
  const borders = new Uint32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}
