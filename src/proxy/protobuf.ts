/** The protobuf wire format, as far as the messages of tool.proto need it. */
const WIRE = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

/** `bytes` or `string` field; an empty one is left out, as proto3 does. */
export function encodeBytes(field: number, value: Buffer | string): Buffer[] {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  if (bytes.length === 0) return [];
  return [encodeVarint(field * 8 + WIRE.lengthDelimited), encodeVarint(bytes.length), bytes];
}

/** `uint32` field; 0 is left out. */
export function encodeUint32(field: number, value: number): Buffer[] {
  return value === 0 ? [] : [encodeVarint(field * 8 + WIRE.varint), encodeVarint(value)];
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

export interface Field {
  number: number;
  /** The number of a varint field; the bytes of a length-delimited one. */
  value: number | Buffer;
}

/** The fields of a message in their order. Throws RangeError when it is cut short or not protobuf. */
export function decodeFields(message: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const key = readVarint(message, at);
    const number = Math.floor(key.value / 8);
    if (number === 0) throw new RangeError('field number 0');
    const field = readValue(message, key.next, key.value % 8);
    fields.push({ number, value: field.value });
    at = field.next;
  }
  return fields;
}

interface Read<T> {
  value: T;
  next: number;
}

function readValue(message: Buffer, at: number, wireType: number): Read<number | Buffer> {
  switch (wireType) {
    case WIRE.varint:
      return readVarint(message, at);
    case WIRE.fixed64:
      return readSlice(message, at, 8);
    case WIRE.lengthDelimited: {
      const length = readVarint(message, at);
      return readSlice(message, length.next, length.value);
    }
    case WIRE.fixed32:
      return readSlice(message, at, 4);
    default:
      throw new RangeError(`wire type ${wireType}`);
  }
}

function readSlice(message: Buffer, at: number, length: number): Read<Buffer> {
  const next = at + length;
  if (next > message.length) throw new RangeError('a message ends inside a field');
  return { value: message.subarray(at, next), next };
}

/** Up to ten bytes; above 2^53 the number is not exact, which no field of ours reaches. */
function readVarint(message: Buffer, start: number): Read<number> {
  let value = 0;
  for (let at = start, scale = 1; at < start + 10; at++, scale *= 128) {
    const byte = message[at];
    if (byte === undefined) throw new RangeError('a message ends inside a number');
    value += (byte & 127) * scale;
    if (byte < 128) return { value, next: at + 1 };
  }
  throw new RangeError('a number of more than ten bytes');
}
