import { describe, expect, test } from 'vitest';
import { decodeFilter, interpretFilter } from '../../../../helpers/interpret-filter.ts';

/** struct sock_filter: code, jt, jf, k. */
function filter(...instructions: [number, number, number, number][]): Buffer {
  return Buffer.concat(
    instructions.map(([code, jt, jf, k]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt16LE(code, 0);
      bytes.set([jt, jf], 2);
      bytes.writeUInt32LE(k, 4);
      return bytes;
    }),
  );
}

const CALL = { arch: 0xc000003e, nr: 59, args: [0n, 0n, 0n, 0n, 0n, 0xffffffff00000001n] };

describe('the interpreter', () => {
  test('loads words of the call data, jumps and returns', () => {
    const program = filter([0x20, 0, 0, 60], [0x15, 0, 1, 0xffffffff], [0x06, 0, 0, 0x7fff0000], [0x06, 0, 0, 0x50026]);
    expect(interpretFilter(decodeFilter(program), CALL)).toEqual({ action: 'allow' });
    expect(interpretFilter(decodeFilter(program), { ...CALL, args: [] })).toEqual({ action: 'errno', errno: 38 });
  });

  test('throws for a program that the kernel would refuse', () => {
    expect(() => decodeFilter(Buffer.alloc(7))).toThrow('7 bytes');
    expect(() => decodeFilter(Buffer.alloc(0))).toThrow('0 bytes');
    expect(() => interpretFilter(decodeFilter(filter([0x05, 0, 0, 1])), CALL)).toThrow('instruction 2 is outside');
    expect(() => interpretFilter(decodeFilter(filter([0x99, 0, 0, 1])), CALL)).toThrow('code 0x99');
    expect(() => interpretFilter(decodeFilter(filter([0x20, 0, 0, 64])), CALL)).toThrow(RangeError);
    expect(() => interpretFilter(decodeFilter(filter([0x06, 0, 0, 0x12345678])), CALL)).toThrow('returned 0x12345678');
  });
});
