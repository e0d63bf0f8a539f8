import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { certificateOf, formatCertificates, hashOf, parseCertificates } from '#src/scrub/exact/certified-patterns.js';

const LIST = new URL('../../../../src/scrub/exact/certified-patterns.txt', import.meta.url);

describe('the list of certified patterns', () => {
  it('is written as it is read', () => {
    const text = readFileSync(LIST, 'utf8');
    const list = parseCertificates(text);
    expect(formatCertificates(list)).toBe(text);
    expect(list.own.patterns.size).toBeGreaterThan(200);
    expect(list.official.patterns.size).toBeGreaterThan(200);
  });

  it('names patterns by their hash and knows no others', () => {
    const patterns = new Map([[hashOf('a+'), 'short' as const]]);
    const empty = { sha256: hashOf(''), patterns: new Map() };
    const read = parseCertificates(formatCertificates({ official: empty, own: { sha256: hashOf('x'), patterns } }));
    expect(read.own.patterns).toEqual(patterns);
    expect(certificateOf('(a+)+never certified$')).toBeUndefined();
  });

  it('is refused as a whole if a line is unknown', () => {
    expect(() => parseCertificates(`always ${hashOf('a+')}\n`)).toThrow('unknown line: always');
  });
});
