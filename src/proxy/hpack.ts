import { decodeHuffman } from './huffman.ts';

export type Header = readonly [name: string, value: string];

/** The size limit of the dynamic table, bytes. Our SETTINGS keep the default. */
const TABLE_MAX_BYTES = 4096;
/** The overhead that RFC 7541 §4.1 adds to each entry. */
const ENTRY_OVERHEAD_BYTES = 32;
/** Far above every length and index in a header block we accept. */
const INTEGER_MAX = 1 << 24;

/** Encodes headers as literals that are never indexed: always valid, without state on either side. */
export function encodeHeaders(headers: readonly Header[]): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of headers) parts.push(Buffer.from([0x10]), encodeString(name), encodeString(value));
  return Buffer.concat(parts);
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([encodeInteger(bytes.length, 7), bytes]);
}

function encodeInteger(value: number, prefixBits: number): Buffer {
  const full = (1 << prefixBits) - 1;
  if (value < full) return Buffer.from([value]);
  const bytes = [full];
  let rest = value - full;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** Decodes the header blocks of one connection in order, and keeps the dynamic table between them. */
export class HeaderDecoder {
  /** Newest first. */
  readonly #table: Header[] = [];
  #tableBytes = 0;
  #tableMaxBytes = TABLE_MAX_BYTES;

  /** Throws RangeError if the block is not valid HPACK; the connection is unusable then. */
  decode(block: Buffer): Header[] {
    const reader = new BlockReader(block);
    const headers: Header[] = [];
    while (!reader.done) {
      const header = this.#decodeField(reader);
      if (header !== undefined) headers.push(header);
    }
    return headers;
  }

  #decodeField(reader: BlockReader): Header | undefined {
    const first = reader.peek();
    if ((first & 0x80) !== 0) return this.#entry(reader.integer(7));
    if ((first & 0xc0) === 0x40) return this.#remember(this.#literal(reader, 6));
    if ((first & 0xe0) === 0x20) return this.#resize(reader.integer(5));
    return this.#literal(reader, 4);
  }

  #literal(reader: BlockReader, prefixBits: number): Header {
    const index = reader.integer(prefixBits);
    const name = index === 0 ? reader.string() : this.#entry(index)[0];
    return [name, reader.string()];
  }

  #entry(index: number): Header {
    const entry = index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#table[index - STATIC_TABLE.length - 1];
    if (entry === undefined) throw new RangeError(`no header at index ${index}`);
    return entry;
  }

  #remember(header: Header): Header {
    this.#table.unshift(header);
    this.#tableBytes += sizeOf(header);
    this.#evict();
    return header;
  }

  #resize(bytes: number): undefined {
    if (bytes > TABLE_MAX_BYTES) throw new RangeError(`a header table of ${bytes} bytes was never offered`);
    this.#tableMaxBytes = bytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableMaxBytes) {
      const oldest = this.#table.pop();
      if (oldest === undefined) return;
      this.#tableBytes -= sizeOf(oldest);
    }
  }
}

function sizeOf([name, value]: Header): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

class BlockReader {
  readonly #block: Buffer;
  #at = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get done(): boolean {
    return this.#at >= this.#block.length;
  }

  peek(): number {
    const byte = this.#block[this.#at];
    if (byte === undefined) throw new RangeError('a header block ends inside a header');
    return byte;
  }

  integer(prefixBits: number): number {
    const full = (1 << prefixBits) - 1;
    let value = this.#next() & full;
    if (value < full) return value;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#next();
      value += (byte & 127) * scale;
      if (value > INTEGER_MAX || scale > INTEGER_MAX) throw new RangeError('an integer of a header block is too large');
      if (byte < 128) return value;
    }
  }

  string(): string {
    const huffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const end = this.#at + length;
    if (end > this.#block.length) throw new RangeError('a header block ends inside a string');
    const bytes = this.#block.subarray(this.#at, end);
    this.#at = end;
    return (huffman ? decodeHuffman(bytes) : bytes).toString('latin1');
  }

  #next(): number {
    const byte = this.peek();
    this.#at++;
    return byte;
  }
}

/** The static table of RFC 7541 appendix A; its first entry has the index 1. */
const STATIC_TABLE: readonly (readonly [name: string, value: string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
];
