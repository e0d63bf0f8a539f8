import { TextDecoder } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** The shape of a message in a .proto file: for each field number the kind of the field, or the shape of its message. */
export interface MessageShape {
  readonly [field: number]: 'uint32' | 'uint64' | 'bytes' | MessageShape;
}

/**
 * Throws WireFault if a protobuf message, including nested messages, has more than `maxFields` fields, or a field with the
 * wrong wire type. Two bytes on the wire can become an object of fifty bytes, so a hostile message is checked before it is
 * decoded. The wire type matters because the decoder does not check it and would read different fields. The cost is per
 * field, not per byte.
 */
export function checkFields(bytes: Uint8Array, shape: MessageShape, maxFields: number): void {
  new FieldWalk(bytes, maxFields).message(shape, bytes.length);
}

/** Wraps the decoder of a message in `checkFields`. */
export function boundedDecoder<T>(
  decode: (bytes: Buffer) => T,
  shape: MessageShape,
  maxFields: number,
): (bytes: Buffer) => T {
  return (bytes) => {
    checkFields(bytes, shape, maxFields);
    return decode(bytes);
  };
}

const VARINT = 0;
const FIXED64 = 1;
const BLOCK = 2;
const FIXED32 = 5;

/** The longest varint of 32 and of 64 bits, bytes. */
const VARINT32_BYTES = 5;
const VARINT64_BYTES = 10;

class FieldWalk {
  readonly #bytes: Uint8Array;
  readonly #maxFields: number;
  #at = 0;
  #found = 0;

  constructor(bytes: Uint8Array, maxFields: number) {
    this.#bytes = bytes;
    this.#maxFields = maxFields;
  }

  message(shape: MessageShape, end: number): void {
    while (this.#at < end) {
      this.#found += 1;
      if (this.#found > this.#maxFields) throw new WireFault(`a message has more than ${this.#maxFields} fields`);
      this.#field(shape);
      if (this.#at > end) throw new WireFault('a field reaches beyond its message');
    }
  }

  #field(shape: MessageShape): void {
    const tag = this.#varint(VARINT32_BYTES);
    const kind = shape[Math.floor(tag / 8)];
    const form = tag % 8;
    if (kind === undefined) this.#unknown(form);
    else if (form !== (typeof kind === 'string' && kind !== 'bytes' ? VARINT : BLOCK)) throw wrongForm();
    else if (kind === 'uint32') this.#varint(VARINT32_BYTES);
    else if (kind === 'uint64') this.#varint(VARINT64_BYTES);
    else this.#block(kind);
  }

  #block(kind: 'bytes' | MessageShape): void {
    const size = this.#varint(VARINT32_BYTES);
    const end = this.#at + size;
    if (end > this.#bytes.length) throw new WireFault('a field reaches beyond its message');
    if (kind === 'bytes') this.#at = end;
    else this.message(kind, end);
  }

  /** Skips a field of a later version. No version has groups. */
  #unknown(form: number): void {
    if (form === VARINT) this.#varint(VARINT64_BYTES);
    else if (form === FIXED64) this.#at += 8;
    else if (form === BLOCK) this.#block('bytes');
    else if (form === FIXED32) this.#at += 4;
    else throw wrongForm();
  }

  #varint(maxBytes: number): number {
    let value = 0;
    let scale = 1;
    for (let read = 0; read < maxBytes; read++) {
      const byte = this.#bytes[this.#at + read] ?? 0;
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte >= 0x80) continue;
      this.#at += read + 1;
      return value;
    }
    throw new WireFault('a number is longer than its type allows');
  }
}

function wrongForm(): WireFault {
  return new WireFault('a field has the wrong wire type');
}

/** The deepest nesting of a value from another process: later code walks the value recursively. */
const MAX_DEPTH = 32;
const MAX_NODES = 100_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses an object that another process sent as JSON, of any shape and size. Throws WireFault naming `where`. */
export function readJsonObject(where: string, bytes: Uint8Array): JsonObject {
  const value = parse(where, bytes);
  if (isJsonObject(value)) return value;
  throw new WireFault(`${where} is not a JSON object`);
}

/** Parses an object of an untrusted process: at most `maxBytes` bytes, 32 levels and 100,000 values. */
export function readBoundedObject(where: string, bytes: Uint8Array, maxBytes: number): JsonObject {
  if (bytes.length > maxBytes) throw new WireFault(`${where} has ${bytes.length} bytes, the limit is ${maxBytes}`);
  const object = readJsonObject(where, bytes);
  if (isBounded(object)) return object;
  throw new WireFault(`${where} is deeper than ${MAX_DEPTH} levels or has more than ${MAX_NODES} values`);
}

function parse(where: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    // The parser's message quotes the text, which may contain a secret, so it is dropped.
    throw new WireFault(`${where}, ${bytes.length} bytes, is not JSON in UTF-8`);
  }
}

/** At most 32 levels and 100,000 values. */
export function isBounded(root: Json): boolean {
  let nodes = 0;
  const visit = (value: Json, depth: number): boolean => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) return false;
    if (value === null || typeof value !== 'object') return true;
    return Object.values(value).every((child: Json) => visit(child, depth + 1));
  };
  return visit(root, 0);
}

/** The other side broke the protocol. Nothing it sends afterwards can be trusted. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}
