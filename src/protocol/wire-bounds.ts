import { TextDecoder } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** A message as its .proto file has it: per field number the kind of the field, or the shape of a message in it. */
export interface MessageShape {
  readonly [field: number]: 'uint32' | 'uint64' | 'bytes' | MessageShape;
}

/**
 * Throws WireFault when a protobuf message, with the messages in it, holds more than `maxFields` fields, or a field
 * in another form than its own. Two bytes of the wire can become an object of fifty, so this is looked at before a
 * hostile message is decoded. The form matters because the decoder believes it unseen, and would find other fields.
 * It costs time per field, not per byte.
 */
export function checkFields(bytes: Uint8Array, shape: MessageShape, maxFields: number): void {
  new FieldWalk(bytes, maxFields).message(shape, bytes.length);
}

/** The decoder of one message, preceded by `checkFields`. */
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

/** Bytes of the longest varint of 32 and of 64 bits. */
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

  /** Of a later version. Groups are of no version. */
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
    throw new WireFault('a number is longer than any of its kind');
  }
}

function wrongForm(): WireFault {
  return new WireFault('a field has not the form of its kind');
}

/** How deep a value from another process may be nested: whatever walks it later recurses. */
const MAX_DEPTH = 32;
const MAX_NODES = 100_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** An object that another process sent as JSON text, of any shape and size. Throws WireFault naming `where`. */
export function readJsonObject(where: string, bytes: Uint8Array): JsonObject {
  const value = parse(where, bytes);
  if (isJsonObject(value)) return value;
  throw new WireFault(`${where} is not a JSON object`);
}

/** The same from a process that is not trusted: at most so many bytes, 32 deep and 100,000 values large. */
export function readBoundedObject(where: string, bytes: Uint8Array, maxBytes: number): JsonObject {
  if (bytes.length > maxBytes) throw new WireFault(`${where} has ${bytes.length} bytes, the limit is ${maxBytes}`);
  const object = readJsonObject(where, bytes);
  if (isBounded(object)) return object;
  throw new WireFault(`${where} is not a JSON object at most ${MAX_DEPTH} deep and ${MAX_NODES} values large`);
}

function parse(where: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    // The parser's message quotes the text, which may hold a secret: it is not carried on.
    throw new WireFault(`${where}, ${bytes.length} bytes, is not JSON in UTF-8`);
  }
}

function isBounded(root: Json): boolean {
  let nodes = 0;
  const visit = (value: Json, depth: number): boolean => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) return false;
    if (value === null || typeof value !== 'object') return true;
    return Object.values(value).every((child: Json) => visit(child, depth + 1));
  };
  return visit(root, 0);
}

/** The other side sent what is not of the protocol. Nothing it sends after that can be trusted. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}
