import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Budget } from '#src/scrub/vault/grams.js';
import { KnownValues } from '#src/scrub/vault/known-values.js';

const VALUES = 2_000;
/** Of 43 characters: pieces of it in all forms. */
const WINDOWS_OF_VALUE = 700;
/** Bytes for a value of 43 characters: its text, its folded text and the places of that. */
const BYTES_OF_VALUE = 1_024;

it('issue 36.4: some 500 windows, of which each takes eight bytes and as much room again, find a value', () => {
  const known = new KnownValues();
  for (let owner = 0; owner < VALUES; owner += 1)
    known.add(randomBytes(32).toString('base64url'), 'test', { isLine: false, forms: 'all' });
  expect(known.size).toBe(VALUES);
  expect((known.pieces.size + known.exact.size) / VALUES).toBeLessThan(WINDOWS_OF_VALUE);
});

it('issue 36.4: a value that is kept keeps no memory of others alive', () => {
  const known = new KnownValues();
  const budget = new Budget(Number.MAX_SAFE_INTEGER);
  const buffers = new Set<ArrayBufferLike>();
  for (let owner = 0; owner < VALUES; owner += 1) {
    known.add(randomBytes(32).toString('base64url'), 'test', { isLine: false, forms: 'all' });
    known.exactForm(owner, 1, budget);
    const body = known.body(owner);
    for (const part of [body?.bytes, body?.places, body?.isCommonWord])
      if (part !== undefined) buffers.add(part.buffer);
    // As everything else of a daemon does between two values.
    Buffer.from('x'.repeat(30_000));
  }
  const held = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(held / VALUES).toBeGreaterThan(43);
  expect(held / VALUES).toBeLessThan(BYTES_OF_VALUE);
});
