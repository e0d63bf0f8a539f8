/** Whether bytes begin like bzip2 data: with a level and the first block. */
export function isBzip2(bytes: Uint8Array): boolean {
  const [b, z, h, level = 0] = bytes;
  if (b !== 0x42 || z !== 0x5a || h !== 0x68 || level < 0x31 || level > 0x39) return false;
  return BLOCK_BYTES.every((byte, at) => bytes[4 + at] === byte);
}

/** Pi: how a block begins. The square root of pi ends the data. */
const BLOCK_BYTES = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
const [BLOCK_HIGH, BLOCK_LOW] = [0x314159, 0x265359];
const [END_HIGH, END_LOW] = [0x177245, 0x385090];

/**
 * Decodes bzip2 data, at most `maxBytes` of it; of damaged or incomplete data the blocks before the damage, and null if the
 * first block is damaged. Checksums are not compared. Memory and time are those of what is decoded, and of one block of at most 900,000
 * bytes.
 */
export function bunzip(bytes: Uint8Array, maxBytes: number): Buffer | null {
  const out = new Output(maxBytes);
  try {
    const bits = new Bits(bytes);
    while (isBzip2(bytes.subarray(bits.byte)) && !out.isFull) readStream(bits, out);
  } catch (thrown) {
    if (!(thrown instanceof Damaged)) throw thrown;
  }
  return out.length === 0 ? null : out.bytes();
}

/** Thrown where the data is not what bzip2 writes. */
class Damaged extends Error {}

function readStream(bits: Bits, out: Output): void {
  bits.take(24);
  const blockBytes = (bits.take(8) - 0x30) * 100_000;
  while (!out.isFull) {
    const [high, low] = [bits.take(24), bits.take(24)];
    bits.take(16);
    bits.take(16);
    if (high === END_HIGH && low === END_LOW) break;
    if (high !== BLOCK_HIGH || low !== BLOCK_LOW) throw new Damaged();
    readBlock(bits, blockBytes, out);
  }
  bits.skipToByte();
}

function readBlock(bits: Bits, maxBytes: number, out: Output): void {
  if (bits.take(1) === 1) throw new Damaged();
  const origin = bits.take(24);
  const used = readUsed(bits);
  const groups = bits.take(3);
  const selectors = readSelectors(bits, groups);
  const tables = Array.from({ length: groups }, () => readTable(bits, used.length + 2));
  const symbols = readSymbols(bits, { used, selectors, tables, maxBytes });
  if (origin >= symbols.length) throw new Damaged();
  writeRuns(sortedBack(symbols, origin), out);
}

/** The bytes that a block contains, in order. */
function readUsed(bits: Bits): number[] {
  const ranges = bits.take(16);
  const used: number[] = [];
  for (let range = 0; range < 16; range++) {
    if (((ranges >>> (15 - range)) & 1) === 0) continue;
    const members = bits.take(16);
    for (let at = 0; at < 16; at++) if (((members >>> (15 - at)) & 1) === 1) used.push(range * 16 + at);
  }
  if (used.length === 0) throw new Damaged();
  return used;
}

const MAX_GROUPS = 6;

/** Which table each fifty symbols are written with. */
function readSelectors(bits: Bits, groups: number): Uint8Array {
  const count = bits.take(15);
  if (groups < 2 || groups > MAX_GROUPS || count === 0) throw new Damaged();
  const recent = Array.from({ length: groups }, (_, at) => at);
  const selectors = new Uint8Array(count);
  for (let at = 0; at < count; at++) {
    let place = 0;
    while (bits.take(1) === 1) if (++place >= groups) throw new Damaged();
    selectors[at] = toFront(recent, place);
  }
  return selectors;
}

/** Moves an item of a list to its front and returns it. */
function toFront(list: number[], place: number): number {
  const item = list[place] ?? 0;
  list.copyWithin(1, 0, place);
  list[0] = item;
  return item;
}

const MAX_CODE_BITS = 20;

/** The codes of a table by length, from the shortest on: the first code of each length, how many there are, and their symbols in order. */
interface Table {
  shortest: number;
  first: Int32Array;
  counts: Int32Array;
  offsets: Int32Array;
  symbols: Uint16Array;
}

function readTable(bits: Bits, symbolCount: number): Table {
  const lengths = new Uint8Array(symbolCount);
  let length = bits.take(5);
  for (let symbol = 0; symbol < symbolCount; symbol++) {
    for (;;) {
      if (length < 1 || length > MAX_CODE_BITS) throw new Damaged();
      if (bits.take(1) === 0) break;
      length += bits.take(1) === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  return tableOf(lengths);
}

function tableOf(lengths: Uint8Array): Table {
  const [first, counts, offsets] = [0, 1, 2].map(() => new Int32Array(MAX_CODE_BITS + 1)) as Lists;
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  const symbols = new Uint16Array(lengths.length);
  let code = 0;
  let at = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    first[length] = code;
    offsets[length] = at;
    for (let symbol = 0; symbol < lengths.length; symbol++) if (lengths[symbol] === length) symbols[at++] = symbol;
    code = (code + (counts[length] ?? 0)) << 1;
  }
  return { shortest: Math.min(...lengths), first, counts, offsets, symbols };
}

type Lists = [Int32Array, Int32Array, Int32Array];

function readSymbol(bits: Bits, { shortest, first, counts, offsets, symbols }: Table): number {
  let code = bits.take(shortest - 1);
  for (let length = shortest; length <= MAX_CODE_BITS; length++) {
    code = (code << 1) | bits.take(1);
    const place = code - (first[length] ?? 0);
    if (place < (counts[length] ?? 0)) return symbols[(offsets[length] ?? 0) + place] ?? 0;
  }
  throw new Damaged();
}

/** Symbols that are written with the same table. */
const GROUP_SYMBOLS = 50;
/** The two digits of the length of a run. */
const RUN_A = 0;
const RUN_B = 1;

interface Coded {
  used: readonly number[];
  selectors: Uint8Array;
  tables: readonly Table[];
  maxBytes: number;
}

/** Undoes the codes, the runs of the last byte and the order by last use. */
function readSymbols(bits: Bits, { used, selectors, tables, maxBytes }: Coded): Uint8Array {
  const out = new Output(maxBytes);
  const recent = [...used];
  let run = 0;
  let runDigit = 1;
  for (let at = 0; ; at++) {
    const table = tables[selectors[Math.floor(at / GROUP_SYMBOLS)] ?? MAX_GROUPS];
    if (table === undefined) throw new Damaged();
    const symbol = readSymbol(bits, table);
    if (symbol === RUN_A || symbol === RUN_B) {
      run += runDigit << symbol;
      runDigit *= 2;
      if (run > maxBytes) throw new Damaged();
      continue;
    }
    if (run > 0) out.put(recent[0] ?? 0, run);
    [run, runDigit] = [0, 1];
    if (symbol > used.length) return out.bytes();
    if (out.isFull) throw new Damaged();
    out.put(toFront(recent, symbol - 1), 1);
  }
}

/** Undoes the sorting by what follows (Burrows and Wheeler). */
function sortedBack(last: Uint8Array, origin: number): Uint8Array {
  const next = new Uint32Array(last.length);
  const begins = new Uint32Array(256);
  for (const byte of last) begins[byte] = (begins[byte] ?? 0) + 1;
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) {
    const count = begins[byte] ?? 0;
    begins[byte] = sum;
    sum += count;
  }
  for (let at = 0; at < last.length; at++) {
    const byte = last[at] ?? 0;
    const place = begins[byte] ?? 0;
    next[place] = at;
    begins[byte] = place + 1;
  }
  const original = new Uint8Array(last.length);
  let at = next[origin] ?? 0;
  for (let i = 0; i < last.length; i++) {
    original[i] = last[at] ?? 0;
    at = next[at] ?? 0;
  }
  return original;
}

/** Four equal bytes are followed by how many more there are. */
const RUN_BYTES = 4;

function writeRuns(bytes: Uint8Array, out: Output): void {
  let same = 0;
  let previous = -1;
  for (const byte of bytes) {
    if (same === RUN_BYTES) {
      out.put(previous, byte);
      [same, previous] = [0, -1];
      continue;
    }
    same = byte === previous ? same + 1 : 1;
    previous = byte;
    out.put(byte, 1);
  }
}

/** Bytes that grow up to a limit; further ones are dropped. */
class Output {
  readonly #max: number;
  #bytes = Buffer.alloc(0);
  length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.length >= this.#max;
  }

  put(byte: number, count: number): void {
    const end = Math.min(this.#max, this.length + count);
    if (end > this.#bytes.length) this.#grow(end);
    this.#bytes.fill(byte, this.length, end);
    this.length = end;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(least: number): void {
    const larger = Buffer.alloc(Math.min(this.#max, Math.max(4096, least, 2 * this.#bytes.length)));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/** Reads bits, the highest of each byte first. */
class Bits {
  readonly #bytes: Uint8Array;
  #at = 0;
  #held = 0;
  #value = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Offset of the next byte that was not read at all. */
  get byte(): number {
    return this.#at;
  }

  /** `count`: at most 24. */
  take(count: number): number {
    while (this.#held < count) {
      if (this.#at >= this.#bytes.length) throw new Damaged();
      this.#value = ((this.#value << 8) | (this.#bytes[this.#at++] ?? 0)) & 0x7fff_ffff;
      this.#held += 8;
    }
    this.#held -= count;
    return (this.#value >>> this.#held) & ((1 << count) - 1);
  }

  skipToByte(): void {
    this.#held = 0;
  }
}
