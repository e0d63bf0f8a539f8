import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameError } from '#src/protocol/frame-codec.js';
import { packToolFrame, parseDaemonFrame, parseToolFrame, type ToolFrame } from '#src/protocol/tool-frames.js';

const TYPES = [
  'hello',
  'call',
  'cancel',
  'exec',
  'exec_result',
  'exec_error',
  'log',
  'scanning',
  'result',
  'error',
  'pong',
];

function result(output: unknown, firstPass: unknown = []): unknown {
  return { type: 'result', id: 1, output, first_pass: firstPass };
}

function nest(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

describe('a frame from another process', () => {
  it('is a frame or a FrameError, whatever it holds', () => {
    const hostile = fc.record(
      {
        type: fc.constantFrom(...TYPES),
        id: fc.anything(),
        exec: fc.oneof(fc.nat(), fc.anything()),
        output: fc.oneof(fc.record({ data: fc.object(), streams: fc.array(fc.anything()) }), fc.anything()),
        first_pass: fc.array(fc.array(fc.anything())),
        spec: fc.oneof(fc.object(), fc.anything()),
        error: fc.oneof(fc.object(), fc.anything()),
        version: fc.anything(),
        tools: fc.array(fc.anything()),
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(fc.oneof(hostile, fc.anything()), (value) => {
        for (const parse of [parseToolFrame, parseDaemonFrame]) {
          try {
            parse(value);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(FrameError);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('goes over the wire and back', () => {
    const frame: ToolFrame = {
      type: 'result',
      id: 7,
      output: { data: { a: 1 }, streams: [{ field: 'stdout', text: 'x' }], droppedBytes: 3, warnings: ['w'] },
      firstPass: [[], [{ rule: 'r', start: 1, end: 4 }]],
    };
    expect(parseToolFrame(JSON.parse(JSON.stringify(packToolFrame(frame))))).toEqual(frame);
  });

  it('may not nest its data deeper than what walks it later can bear', () => {
    expect(() => parseToolFrame(result({ data: { deep: nest(30) } }))).not.toThrow();
    expect(() => parseToolFrame(result({ data: { deep: nest(5000) } }))).toThrow('at most 32 deep');
  });

  it('may not give a stream the name of a fact, or of another stream', () => {
    const stream = { field: 'stdout', text: '' };
    expect(() => parseToolFrame(result({ data: { stdout: 1 }, streams: [stream] }))).toThrow('stdout is taken twice');
    expect(() => parseToolFrame(result({ data: {}, streams: [stream, stream] }))).toThrow('stdout is taken twice');
    expect(() => parseToolFrame(result({ data: {}, streams: [{ field: '__proto__', text: '' }] }))).toThrow('match');
  });

  it('may use no code outside the table, not even one that every object has', () => {
    const failure = { code: 'toString', message: 'm' };
    expect(() => parseToolFrame(result({ data: {}, failure }))).toThrow('output.failure.code is not one of');
  });

  it('may hold spans only as [rule, start, end] with start before end', () => {
    expect(() => parseToolFrame(result({ data: {} }, [[['r', 0, 5]]]))).not.toThrow();
    for (const span of [['r', 5, 5], ['r', -1, 5], ['r', 0, 1.5], ['r', 0, 1, 2], [1, 0, 1], 'r'])
      expect(() => parseToolFrame(result({ data: {} }, [[span]]))).toThrow('what is not a span');
  });

  it('of another version is still read for its version', () => {
    expect(parseToolFrame({ type: 'hello', version: 99, other: 'shape' })).toEqual({
      type: 'hello',
      version: 99,
      tools: [],
    });
  });
});
