import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCounter, RANK_FILE, TOKEN_MAX_BYTES } from '#src/tokens/counter.js';
import { isSeam } from '#src/tokens/pieces.js';
import { propertyRuns, stride } from '../../helpers/property-runs.ts';
import { hostileText, longText, recount } from './reference.ts';

const counter = loadCounter();

describe('count', () => {
  it('FR-3.2 agrees with js-tiktoken on any text', () => {
    fc.assert(
      fc.property(hostileText(40), (text) => {
        expect(counter.count(text)).toBe(recount(text));
      }),
    );
  });

  it('FR-3.2 agrees with js-tiktoken on any UTF-16, lone surrogates included', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 });
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        expect(counter.count(text)).toBe(recount(text));
      }),
    );
  });

  it('FR-3.2 splits around every kind of character as js-tiktoken does', () => {
    for (let codePoint = 0; codePoint < 0x20000; codePoint += codePoint < 0x3100 ? stride(1) : stride(37)) {
      const character = String.fromCodePoint(codePoint);
      const text = `a${character}${character}b ${character}1`;
      expect(counter.count(text), codePoint.toString(16)).toBe(recount(text));
    }
  });

  it('FR-3.2 merges long words as js-tiktoken does', () => {
    const letters = fc.constantFrom('a', 'b', 'e', 's', 't', 'ing', 'é', '漢');
    fc.assert(
      fc.property(fc.array(letters, { minLength: 30, maxLength: 250, size: 'max' }), (word) => {
        expect(counter.count(word.join(''))).toBe(recount(word.join('')));
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('FR-3.2 agrees with js-tiktoken on texts of many windows', () => {
    fc.assert(
      fc.property(longText(60, 400), (text) => {
        expect(counter.count(text)).toBe(recount(text));
      }),
      { numRuns: propertyRuns('door') },
    );
  });

  it('FR-3.2 gives the same count for a text in two parts at a seam', () => {
    fc.assert(
      fc.property(hostileText(12), (text) => {
        const seams = Array.from(text, (_, at) => at).filter(
          (at) => at > 0 && isSeam(text.charCodeAt(at - 1), text.charCodeAt(at)),
        );
        const whole = recount(text);
        for (const at of seams) expect(recount(text.slice(0, at)) + recount(text.slice(at))).toBe(whole);
      }),
    );
  });

  it('FR-3.2 counts special-token text as plain text', () => {
    expect(counter.count('<|endoftext|>')).toBe(7);
  });

  it('counts one token for every three digits of a number', () => {
    for (let n = 0; n < 1000; n++) {
      expect(counter.count(String(n))).toBe(1);
      expect(counter.count(`999${String(n).padStart(3, '0')}`)).toBe(2);
    }
  });

  it.each([
    ['a', 32_000],
    [' ', 2_000],
    ['\n', 8_000],
    ['=', 4_000],
    ['1', 85_334],
  ])('handles 256,000 times %j', (unit, tokens) => {
    expect(counter.count(unit.repeat(256_000))).toBe(tokens);
  });

  it('stops at a limit', () => {
    expect(counter.count('one two three', 3)).toBe(3);
    expect(counter.count('one two three', 2)).toBe(Number.POSITIVE_INFINITY);
    expect(counter.count('a'.repeat(300), 2)).toBe(Number.POSITIVE_INFINITY);
    expect(counter.count('', 0)).toBe(0);
  });

  it('has no token longer than TOKEN_MAX_BYTES', () => {
    expect(counter.count(' '.repeat(TOKEN_MAX_BYTES))).toBe(1);
    expect(counter.count(' '.repeat(TOKEN_MAX_BYTES + 1))).toBe(2);
  });
});

describe('prefixOf', () => {
  it('ends with whole characters, within the requested tokens, and returns everything if everything fits', () => {
    fc.assert(
      fc.property(hostileText(30), fc.nat(60), (text, tokens) => {
        const whole = Buffer.from(text).toString();
        const end = counter.prefixOf(whole, tokens);
        const total = recount(whole);
        if (total <= tokens) expect(end).toBe(whole.length);
        else expect(end).toBeLessThan(whole.length);
        expect(whole.slice(0, end)).toBe(Buffer.from(whole.slice(0, end)).toString());
      }),
    );
  });

  it('splits a long word at its tokens', () => {
    expect(counter.prefixOf('a'.repeat(800), 10)).toBe(80);
    expect(counter.prefixOf('a'.repeat(200_000), 20_000)).toBe(160_000);
    expect(counter.prefixOf(`${'one two '.repeat(9000)}end`, 18_000)).toBe(8 * 9000 - 1);
    expect(counter.prefixOf('x = 1', 0)).toBe(0);
  });
});

describe('estimate', () => {
  it('equals the count of a short text', () => {
    fc.assert(
      fc.property(hostileText(40), (text) => {
        expect(counter.estimate(text.slice(0, 4096))).toBe(counter.count(text.slice(0, 4096)));
      }),
    );
  });

  it.each([
    ['source', readFileSync(import.meta.filename, 'utf8').repeat(40)],
    [
      'a log',
      Array.from({ length: 20_000 }, (_, i) => `12:00:${i} [worker ${i % 7}] GET /a/${i * 7919} 200\n`).join(''),
    ],
    ['one letter', 'a'.repeat(500_000)],
    ['base64', Buffer.from(Uint8Array.from({ length: 400_000 }, (_, i) => (i * i * 31) >> 3)).toString('base64')],
  ])('gives the same number each time, within a tenth of the count of %s', (_, text) => {
    const estimate = counter.estimate(text);
    expect(counter.estimate(text)).toBe(estimate);
    expect(Math.abs(estimate / counter.count(text) - 1)).toBeLessThan(0.1);
  });
});

describe('loadCounter', () => {
  const inTempDir = (run: (dir: string) => void): void => {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-ranks-'));
    try {
      run(dir);
    } finally {
      rmSync(dir, { recursive: true });
    }
  };

  it('names the missing table and how to get it', () => {
    expect(() => loadCounter('/nonexistent/ranks')).toThrowError(/token table \/nonexistent\/ranks cannot be read/);
  });

  it('refuses a table that is cut short or is not a table', () => {
    inTempDir((dir) => {
      const file = join(dir, 'ranks');
      const table = readFileSync(RANK_FILE);
      for (const bytes of [
        table.subarray(0, table.length - 1),
        table.subarray(0, 5),
        Buffer.alloc(0),
        Buffer.alloc(9e5),
      ]) {
        writeFileSync(file, bytes);
        expect(() => loadCounter(file)).toThrowError(/cannot be read/);
      }
    });
  });
});
