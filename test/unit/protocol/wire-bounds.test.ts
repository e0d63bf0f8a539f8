import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { PLUGIN_DEFINITION } from '#src/protocol/generated/plugin-definition.js';
import { EXEC_SHAPE, HOST_SHAPE, LOG_SHAPE, SCRUB_SHAPE } from '#src/protocol/host-messages.js';
import { CALL_EVENT_SHAPE } from '#src/protocol/tool-output.js';
import { checkFields, type MessageShape, WireFault } from '#src/protocol/wire-bounds.js';

const root = protobuf.Root.fromJSON(JSON.parse(PLUGIN_DEFINITION)).resolveAll();
const event = root.lookupType('contextd.v1.CallEvent');
const MAX = 50;

/** The shape of the definition. */
function shapeOf(type: protobuf.Type): MessageShape {
  return Object.fromEntries(type.fieldsArray.map((field) => [field.id, kindOf(field.resolve())]));
}

function kindOf(field: protobuf.Field): MessageShape[number] {
  if (field.map) return { 1: 'bytes', 2: 'bytes' };
  if (field.resolvedType instanceof protobuf.Type) return shapeOf(field.resolvedType);
  if (field.type === 'string' || field.type === 'bytes') return 'bytes';
  if (field.type === 'uint32' || field.type === 'uint64') return field.type;
  // Every encoder writes it as one byte.
  if (field.type === 'bool') return 'uint32';
  throw new Error(`${field.name} is a ${field.type}, for which there is no kind`);
}

function outcomeOf(bytes: Uint8Array): 'fits' | 'fault' {
  try {
    checkFields(bytes, CALL_EVENT_SHAPE, MAX);
    return 'fits';
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(WireFault);
    return 'fault';
  }
}

/** How many leaves and spans the decoder creates from a message, or null if it refuses the message. */
function leavesIn(bytes: Uint8Array): number | null {
  try {
    const { output } = event.toObject(event.decode(bytes), { arrays: true });
    const leaves: { spans: unknown[] }[] = output?.first_pass ?? [];
    const streams: unknown[] = output?.streams ?? [];
    return streams.length + leaves.reduce((sum, { spans }) => sum + 1 + spans.length, 0);
  } catch {
    return null;
  }
}

const text = fc.string();
const output = fc.record(
  {
    data_json: fc.uint8Array({ maxLength: 20 }),
    streams: fc.array(fc.record({ field: text, text }), { maxLength: 3 }),
    failure: fc.record({ code: text, message: text, remedy: text }),
    dropped_bytes: fc.nat(),
    warnings: fc.array(text, { maxLength: 3 }),
    first_pass: fc.array(
      fc.record({ spans: fc.array(fc.record({ rule: text, start: fc.nat(), end: fc.nat() }), { maxLength: 2 }) }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);

describe("the check of a tool's message before decoding", () => {
  it.each([
    ['CallEvent', CALL_EVENT_SHAPE],
    ['ExecRequest', EXEC_SHAPE],
    ['ScrubRequest', SCRUB_SHAPE],
    ['LogRequest', LOG_SHAPE],
    ['HostRequest', HOST_SHAPE],
  ])('uses for %s the shape of its definition', (name, shape) => {
    expect(shape).toEqual(shapeOf(root.lookupType(`contextd.v1.${name}`)));
  });

  it('accepts every message of the protocol', () => {
    fc.assert(
      fc.property(output, (message) => {
        const bytes = event.encode(event.fromObject({ output: message })).finish();
        expect(outcomeOf(bytes)).toBe('fits');
      }),
    );
  });

  it('never counts less than the decoder creates, however the message is made', () => {
    const flood = Buffer.alloc(400, Buffer.from([0x32, 0x00]));
    // Tags, and the length of the flood, which one reader may take for a block and another for fields.
    const token = fc.constantFrom(
      [0x22, 0x90, 0x03],
      [0x20],
      [0x90, 0x03],
      [0x12],
      [0x0a, 0x01],
      [0x7a],
      [0x32, 0x00],
      [0x80],
    );
    const hostile = fc
      .array(fc.oneof(token, fc.array(fc.nat(255), { maxLength: 2 })), { maxLength: 4 })
      .map((tokens) => Buffer.concat([Buffer.from(tokens.flat()), flood]));
    const wrapped = hostile.map((bytes) => {
      const size = Buffer.from([(bytes.length & 0x7f) | 0x80, bytes.length >> 7]);
      return Buffer.concat([Buffer.from([0x12]), size, bytes]);
    });
    fc.assert(
      fc.property(fc.oneof(hostile, wrapped), (bytes) => {
        if (outcomeOf(bytes) === 'fits') expect(leavesIn(bytes) ?? 0).toBeLessThanOrEqual(MAX);
      }),
    );
  });

  it.each([
    ['a number sent as a block, which hides its contents', '12 04 22 02 32 00'],
    ['a block sent as a number', '12 02 30 00'],
    ['a block beyond its message', '12 02 0a 05 00 00 00 00 00'],
    ['a group', '12 02 3b 3c'],
    ['a tag of eleven bytes', '12 0b 80 80 80 80 80 80 80 80 80 80 01'],
    ['a length of six bytes', '12 80 80 80 80 80 00'],
  ])('refuses %s', (_, hex) => {
    expect(outcomeOf(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toBe('fault');
  });

  it('accepts fields of a later version', () => {
    const [text, number] = ['7a0161', '7801'];
    expect(outcomeOf(Buffer.from(`1205${text}${number}`, 'hex'))).toBe('fits');
  });

  it('refuses too many fields, at any depth', () => {
    const leaves = (count: number) =>
      event.encode(event.fromObject({ output: { first_pass: Array.from({ length: count }, () => ({})) } })).finish();
    expect(outcomeOf(leaves(MAX - 1))).toBe('fits');
    expect(outcomeOf(leaves(MAX))).toBe('fault');
  });
});
