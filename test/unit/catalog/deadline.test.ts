import { describe, expect, it } from 'vitest';
import { createArgumentCompiler } from '#src/catalog/arguments.js';
import { isSmall, withDeadline } from '#src/catalog/deadline.js';

const never = (): never => {
  throw new Error('too long');
};

describe('issue 17 part 2: a schema of somebody else does not stop the daemon', () => {
  const compile = createArgumentCompiler('others', 300);
  const object = { type: 'array', uniqueItems: true, items: { type: 'object' } };
  const any = { allOf: [...Array(200)].map((_, i) => ({ not: { const: i } })) };
  it.each([
    ['pairs of a long list are compared', object, [...Array(30_000)].map((_, i) => ({ i }))],
    ['each item of a long list is compared with many parts', { type: 'array', items: any }, Array(4_000_000).fill('x')],
  ])('if %s, the check is ended and the call refused', (_what, schema, value) => {
    const { check } = compile('weather', { type: 'object', properties: { value: schema } });
    expect(() => check({ value })).toThrowError(
      expect.objectContaining({
        code: 'PAYLOAD_TOO_LARGE',
        message: expect.stringContaining('take more than 0.3 s to check'),
      }),
    );
    // The next call is checked as usual.
    expect(() => check({ value: 7 })).toThrowError(expect.objectContaining({ code: 'ARGS_INVALID' }));
  });

  it('if it takes longer than 2 s to compile, it is refused, and the next schema is compiled as usual', () => {
    const parts = {
      anyOf: [...Array(900)].map(() => ({ allOf: [...Array(40)].map((_, i) => ({ not: { const: i } })) })),
    };
    expect(() => compile('weather', { type: 'object', properties: { value: parts } })).toThrowError(
      expect.objectContaining({
        code: 'SCHEMA_INVALID',
        message: expect.stringContaining('takes more than 2 s to compile'),
      }),
    );
    const { check } = compile('other', { type: 'object', properties: { value: { type: 'string', pattern: '^a' } } });
    check({ value: 'a' });
    expect(() => check({ value: 'b' })).toThrowError('/value must match pattern');
  });

  it('a long input that is checked quickly passes, and its faults are named', () => {
    const { check } = compile('weather', { type: 'object', properties: { value: { type: 'string', pattern: '^a' } } });
    check({ value: 'a'.repeat(500_000) });
    expect(() => check({ value: 'b'.repeat(500_000) })).toThrowError('/value must match pattern');
  });

  it('ends what never ends, and hands on results and errors', () => {
    expect(withDeadline(5_000, () => 7, never)).toBe(7);
    expect(withDeadline(5_000, () => undefined, never)).toBeUndefined();
    const endless = (): number => {
      for (;;) if (Date.now() < 0) return 1;
    };
    expect(() => withDeadline(20, endless, never)).toThrowError('too long');
    expect(() =>
      withDeadline(
        5_000,
        () => {
          throw new TypeError('mine');
        },
        never,
      ),
    ).toThrowError(TypeError);
  });

  it('an input is small by its values and characters, at any depth', () => {
    expect(isSmall({ a: 'x'.repeat(1_900), b: [1, 2, { c: null }] })).toBe(true);
    for (const large of [{ a: 'x'.repeat(2_001) }, { ['k'.repeat(2_001)]: 1 }, { a: Array(101).fill(0) }])
      expect(isSmall(large)).toBe(false);
    expect(isSmall([...Array(11)].map(() => Array(10).fill(0)))).toBe(false);
  });
});
