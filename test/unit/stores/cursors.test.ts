import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newArtifactId } from '#src/core/ids.js';
import { CURSOR_MAX_RANGES, type CursorPayload, createCursors } from '#src/stores/cursors.js';
import { SESSION_A, SESSION_B } from './open-stores.js';

const cursors = createCursors({ cursorKey: (key) => createHash('sha256').update(`test ${key.session}`).digest() });
const ID = 'art_0123456789abcdef';

const payloads: fc.Arbitrary<CursorPayload> = fc
  .record({
    artifactId: fc.stringMatching(/^art_[0-9a-hjkmnp-tv-z]{16}$/),
    lengths: fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 46 }), fc.integer({ min: 1, max: 2 ** 46 })), {
      minLength: 1,
      maxLength: CURSOR_MAX_RANGES,
    }),
    first: fc.constantFrom(0, 1),
    revision: fc.integer({ min: 0, max: 15 }),
    isJson: fc.boolean(),
  })
  .map(({ artifactId, lengths, first, revision, isJson }) => {
    let at = first - 1;
    const ranges = lengths.map(([gap, length]) => {
      const start = at + gap;
      at = start + length;
      return { start, end: at };
    });
    return { artifactId, ranges, ...(revision === 0 ? {} : { revision }), ...(isJson ? { isJson } : {}) };
  });

const REFUSED = expect.objectContaining({ code: 'CURSOR_INVALID', remedy: expect.stringContaining('unchanged') });

function open(text: string, session = SESSION_A): unknown {
  try {
    return cursors.open(session, text);
  } catch (error) {
    return error;
  }
}

describe('a cursor', () => {
  it('FR-3.3 carries the artifact and what is left to read', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        expect(open(cursors.seal(SESSION_A, payload))).toEqual(payload);
      }),
    );
  });

  it('is refused in another session', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        expect(open(cursors.seal(SESSION_A, payload), SESSION_B)).toEqual(REFUSED);
      }),
    );
  });

  it('is refused if any one bit of its text is flipped', () => {
    const text = cursors.seal(SESSION_A, { artifactId: ID, ranges: [{ start: 6000, end: 100_000 }] });
    for (let bit = 0; bit < text.length * 8; bit++) {
      const bytes = Buffer.from(text);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(open(bytes.toString('latin1')), `bit ${bit}`).toEqual(REFUSED);
    }
  });

  it('is refused if any character is changed, added or left out: there is one spelling', () => {
    const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ \n');
    fc.assert(
      fc.property(payloads, fc.nat(), fc.nat(1), fc.oneof(character, fc.constant('')), (payload, at, cut, put) => {
        const text = cursors.seal(SESSION_A, payload);
        const position = at % (text.length + 1);
        const changed = text.slice(0, position) + put + text.slice(position + cut);
        fc.pre(changed !== text);
        expect(open(changed)).toEqual(REFUSED);
      }),
    );
  });

  it('is refused if it is garbage of any kind', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ minLength: 5000 })), (text) => {
        expect(open(text)).toEqual(REFUSED);
      }),
    );
  });

  it('is short: 39 characters for a 64 MiB artifact, 44 with two ranges of a 100 KB one', () => {
    const one = { artifactId: newArtifactId(), ranges: [{ start: 6000, end: 64 * 1024 * 1024 }] };
    expect(cursors.seal(SESSION_A, one)).toHaveLength(39);
    const two = {
      artifactId: newArtifactId(),
      ranges: [
        { start: 3000, end: 50_000 },
        { start: 51_000, end: 97_000 },
      ],
    };
    expect(cursors.seal(SESSION_A, two)).toHaveLength(44);
  });

  it.each([
    ['no range', []],
    ['an empty range', [{ start: 4, end: 4 }]],
    [
      'ranges that overlap',
      [
        { start: 0, end: 5 },
        { start: 4, end: 9 },
      ],
    ],
  ])('is not created for %s', (_, ranges) => {
    expect(() => cursors.seal(SESSION_A, { artifactId: ID, ranges })).toThrow(RangeError);
  });
});
