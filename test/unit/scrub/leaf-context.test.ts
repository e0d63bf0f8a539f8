import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '#src/core/json.js';
import { collectLeaves, collectNames, leafText, toLeafFindings } from '#src/scrub/leaves.js';
import { engine } from '../../helpers/test-rules.ts';

/** The parts of a value's strings that are masked because of their names. */
function maskedIn(value: Json): string[] {
  const names = collectNames(value);
  return collectLeaves(value).flatMap((leaf, position) => {
    const scanned = leafText(names[position], leaf);
    if (scanned === undefined) return [];
    return toLeafFindings(scanned, engine.scan(scanned.text)).map(({ start, end }) => leaf.slice(start, end));
  });
}

describe('the name of a leaf', () => {
  it('SEC-1.1 is listed for every string, in the order of the leaves', () => {
    const value = { a: 'one', b: { c: ['two', { d: 'three' }] }, e: 4 };
    expect(collectLeaves(value)).toEqual(['a', 'one', 'b', 'c', 'two', 'd', 'three', 'e']);
    expect(collectNames(value)).toEqual([undefined, 'a', undefined, undefined, 'c', undefined, 'd', undefined]);
  });

  it('SEC-1.1 is listed exactly once per leaf, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (drawn) => {
        const value: Json = JSON.parse(JSON.stringify(drawn));
        expect(collectNames(value)).toHaveLength(collectLeaves(value).length);
      }),
    );
  });

  it.each([
    [{ password: 'letmein' }, ['letmein']],
    [{ db: { Password: 'sword fish9'.replace(' ', '') } }, ['swordfish9']],
    [{ tokens: ['abc12DEF34ghi56', 'jkl78MNO90pqr12'] }, ['abc12DEF34ghi56', 'jkl78MNO90pqr12']],
    [{ env: [{ name: 'DB_PASSWORD', value: 'letmein9' }] }, ['letmein9']],
    [{ password: 'with"quote9' }, ['with"quote9']],
    [{ headers: { 'X-Api-Key': 'abc12DEF34ghi56' } }, ['abc12DEF34ghi56']],
  ] as const)('SEC-1.1 marks the secret in %j', (value, secrets) => {
    expect(maskedIn(value)).toEqual(secrets);
  });

  it.each([
    { password: 'required' },
    { password: '' },
    { password: '[SECRET_1]' },
    { type: 'password', title: 'letmein9' },
    { token: 'string' },
    { name: 'letmein9', value: 'letmein9' },
    { keyboard: 'us-intl' },
    { tokens: 4096 },
  ])('SEC-1.1 leaves %j alone', (value) => {
    expect(maskedIn(value)).toEqual([]);
  });

  it('SEC-1.1 gives offsets within the leaf, never beyond it', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.nat(60), fc.nat(60), (name, leaf, from, length) => {
        const scanned = leafText(`${name}_token`, leaf);
        expect(scanned?.text.slice(scanned.start, scanned.end)).toHaveLength(leaf.length);
        if (scanned === undefined) return;
        for (const { start, end } of toLeafFindings(scanned, [{ rule: 'r', start: from, end: from + length }])) {
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(leaf.length);
          expect(start).toBeLessThan(end);
        }
      }),
    );
  });
});
