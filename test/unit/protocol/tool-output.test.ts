import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallOutput } from '#src/protocol/generated/plugin.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import {
  packCallOutput,
  packFailure,
  parseCallOutput,
  parseFailure,
  type ScannedOutput,
  shownText,
} from '#src/protocol/tool-output.js';
import { readBoundedObject, WireFault } from '#src/protocol/wire-bounds.js';
import { joinAroundGap } from '#src/sdk/cut-text.js';

const { responseSerialize, responseDeserialize } = loadPluginProtocol().ToolPlugin.service.Call;

/** Sent over the wire and checked, as the daemon receives it. */
function receive(output: CallOutput): ScannedOutput {
  const message = responseDeserialize(responseSerialize({ output })).output;
  if (!message) throw new Error('no output came');
  return parseCallOutput(message);
}

function nest(depth: number): string {
  return `{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

const json = (text: string): CallOutput => ({ data_json: Buffer.from(text) });
const spans = (...list: { rule?: string; start?: number; end?: number }[]): CallOutput => ({
  first_pass: [{ spans: list }],
});

const NO_PART = { start: 0, end: 0, label: '' };

describe('the output of a tool', () => {
  it('survives the wire unchanged', () => {
    const sent: ScannedOutput = {
      output: {
        data: { a: [1, null, 'x'] },
        streams: [{ field: 'stdout', text: 'x' }],
        failure: { code: 'CONFLICT', message: 'm', remedy: 'r', details: { d: 1 } },
        droppedBytes: 3,
        warnings: ['w'],
      },
      firstPass: [[], [{ rule: 'r', start: 1, end: 4 }]],
    };
    expect(receive(packCallOutput(sent))).toEqual(sent);
    for (const firstPass of [[], null])
      expect(receive(packCallOutput({ output: { data: {} }, firstPass }))).toEqual({ output: { data: {} }, firstPass });
  });

  it('carries parts, and refuses labels that are not numbers of lines and parts out of order', () => {
    const text = 'key: one\ntwo\nthree';
    const parts = [
      { start: 0, end: 8, label: '1:' },
      { start: 9, end: 12, label: '\n--\n2-…' },
      { start: 12, end: 12, label: '…\n' },
    ];
    const sent = (given: typeof parts, more: object = {}): ScannedOutput => ({
      output: { data: {}, streams: [{ field: 'a', text, parts: given, ...more }] },
      firstPass: [],
    });
    expect(receive(packCallOutput(sent(parts)))).toEqual(sent(parts));
    expect(shownText({ field: 'a', text, parts })).toBe('1:key: one\n--\n2-…two…\n');
    const nothing = receive(packCallOutput(sent([]))).output.streams?.map(shownText);
    expect(nothing).toEqual(['']);
    const [first = NO_PART, second = NO_PART] = parts;
    const wrong = [
      ...['x', 'secret', '\n1:', '1', '1:2:', '--\n1:'].map((label) => [{ ...first, label }]),
      ...['', '2:', '\nx', '\n2:secret', '\n2: '].map((label) => [first, { ...second, label }]),
      [second, first],
      [first, { ...second, start: 7 }],
      [first, { ...second, start: 11, end: 10 }],
      [first, { ...second, end: 99 }],
    ];
    for (const other of wrong) expect(() => receive(packCallOutput(sent(other)))).toThrow(WireFault);
    expect(() => receive(packCallOutput(sent(parts, { margin: { before: 1, after: 0 } })))).toThrow(WireFault);
  });

  it('carries a gap, and refuses one that hides anything but the line of contextd', () => {
    const { text, gap } = joinAroundGap('head\n', '\ntail', { bytes: 5, newlines: 2 });
    const stream = { field: 'a', text: `<<${text}>>`, margin: { before: 2, after: 2 } };
    const sent: ScannedOutput = {
      output: {
        data: {},
        streams: [{ ...stream, gap: { ...gap, start: gap.start + 2, end: gap.end + 2 } }],
        isViewApplied: true,
      },
      firstPass: [],
    };
    expect(receive(packCallOutput(sent))).toEqual(sent);
    const wrong = [
      { ...gap, start: gap.start, end: gap.end + 2 },
      { ...gap, start: gap.start + 2, end: gap.end + 6 },
      { ...gap, start: 0, end: gap.end + 2 },
      { ...gap, start: gap.start + 2, end: 9999 },
      { ...gap, start: gap.start + 2, end: gap.end + 2, bytes: gap.bytes + 1 },
      { ...gap, start: gap.start + 2, end: gap.end + 2, nextLine: gap.nextLine + 1 },
      { ...gap, start: gap.start + 2, end: gap.end + 2, firstLine: 0 },
    ];
    for (const other of wrong) {
      const streams = [{ ...stream, gap: other }];
      expect(() => receive(packCallOutput({ output: { data: {}, streams }, firstPass: [] }))).toThrow(WireFault);
    }
  });

  it('keeps the positions of its secrets, whatever its texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii', maxLength: 80 }), (odd, plain) => {
        const text = `\ud800${odd}\udc00${plain}`;
        const { output } = receive(
          packCallOutput({ output: { data: {}, streams: [{ field: 'a', text }] }, firstPass: [] }),
        );
        expect(output.streams?.[0]?.text).toHaveLength(text.length);
        expect(output.streams?.[0]?.text.endsWith(plain)).toBe(true);
      }),
    );
  });

  it('cannot nest its data deeper than later steps can walk', () => {
    expect(() => receive(json(nest(30)))).not.toThrow();
    expect(() => receive(json(nest(5_000)))).toThrow('deeper than 32 levels');
    expect(() => receive(json(`{"a":[${'0,'.repeat(100_000)}0]}`))).toThrow('more than 100000 values');
  });

  it('cannot have more data than small facts need', () => {
    expect(() => receive(json(`{"a":"${'x'.repeat(16 * 1024 * 1024)}"}`))).toThrow(/the limit is 16777216/);
  });

  it.each(['{', '[]', '"x"', '{"a":\u0000}'])(
    'is refused without being quoted if it is not a JSON object: %j',
    (text) => {
      expect(() => receive(json(text))).toThrow(WireFault);
      expect(() => readBoundedObject('output.data', Buffer.from('{"key'), 100)).toThrow(
        /^output.data, 5 bytes, is not JSON in UTF-8$/,
      );
    },
  );

  it('is refused if it is not UTF-8', () => {
    expect(() => receive({ data_json: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) })).toThrow(
      'not JSON in UTF-8',
    );
  });

  it('cannot give a stream the name of a fact or of another stream', () => {
    const stream = { field: 'stdout', text: '' };
    expect(() => receive({ ...json('{"stdout":1}'), streams: [stream] })).toThrow('stdout is used twice');
    expect(() => receive({ streams: [stream, stream] })).toThrow('stdout is used twice');
    expect(() => receive({ streams: [{ field: '__proto__', text: '' }] })).toThrow('does not match');
  });

  it('cannot exceed the limits on streams, warnings, leaves and dropped bytes', () => {
    const streams = Array.from({ length: 17 }, (_, n) => ({ field: `s${n}`, text: '' }));
    expect(() => receive({ streams })).toThrow('more than 16 streams');
    expect(() => receive({ warnings: Array.from({ length: 101 }, () => 'w') })).toThrow('more than 100 warnings');
    expect(() => receive({ first_pass: Array.from({ length: 200_001 }, () => ({})) })).toThrow(
      'more than 200000 leaves',
    );
    expect(() => receive({ dropped_bytes: '18446744073709551615' })).toThrow('dropped_bytes');
  });

  it('holds only spans whose start is before their end', () => {
    expect(() => receive(spans({ rule: 'r', start: 0, end: 5 }))).not.toThrow();
    expect(() => receive(spans({ rule: 'r', start: 5, end: 5 }))).toThrow('an invalid span');
    expect(() => receive(spans({ rule: 'r', start: 6, end: 5 }))).toThrow('an invalid span');
  });

  it('that is too large is RESOURCE_LIMIT, reported by the tool itself', () => {
    const data = { a: 'x'.repeat(16 * 1024 * 1024) };
    expect(() => packCallOutput({ output: { data }, firstPass: [] })).toThrowError(
      expect.objectContaining({ code: 'RESOURCE_LIMIT' }),
    );
  });
});

describe('the failure of a tool', () => {
  const blank = { code: 'CONFLICT', message: 'm', remedy: '', details_json: Buffer.alloc(0) };

  it('has a code of the table, and not the name of a property that every object has', () => {
    expect(parseFailure(blank)).toEqual({ code: 'CONFLICT', message: 'm' });
    for (const code of ['toString', '', 'NOPE']) {
      expect(() => parseFailure({ ...blank, code })).toThrow('failure.code is not a code');
    }
  });

  it('has details of at most one megabyte', () => {
    const details_json = Buffer.from(`{"a":"${'x'.repeat(1024 * 1024)}"}`);
    expect(() => parseFailure({ ...blank, details_json })).toThrow('the limit is 1048576');
    expect(packFailure({ code: 'CONFLICT', message: 'm' })).toEqual(blank);
  });
});
