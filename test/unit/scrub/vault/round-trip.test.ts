import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import type { Scrubber } from '#src/scrub/scrubber.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generate, seededRandom } from '../../../helpers/sample-patterns.ts';
import { sessionNamed } from '../../../helpers/sessions.ts';
import { engine, scanner } from '../../../helpers/test-rules.ts';

const SESSION = sessionNamed('s');

function newScrubber(): Scrubber {
  let last = 0;
  return createScrubber({
    scanner,
    engine,
    logger: silentLogger,
    clock: systemClock,
    numbers: { next: () => ++last, last: () => last },
  });
}

const VALUES = ['ghp_[A-Za-z0-9]{36}', '[A-Za-z0-9]{20}', '[A-Za-z0-9+/]{40}', '[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{12}'];
const JOINTS = [',', ':', ';', '.', '-', '|', '/', ' '];
/** What stands between two pieces: nothing that is part of a value, and lines that must stay. */
const BETWEEN = [
  '\n',
  '.',
  '-',
  ', ',
  ' and ',
  '\n---\n',
  '\n\n',
  '\nkeep this line\n',
  '\r\n',
  '\n  ',
  ' = ',
  '"\n"',
  '\n> ',
];
/** Lines that no value can be part of. */
const KEPT: ReadonlySet<string> = new Set(['keep this line', '---', '']);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const fold = (text: string, width: number): string => text.replace(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n');

/** Ways to write a value `a`, joined with another one, `b`. */
const WRITTEN: readonly ((a: string, b: string, joint: string) => string)[] = [
  (a) => a,
  (_a, b) => b,
  (a, b, joint) => `${a}${joint}${b}`,
  (a, b, joint) => `TOKENS=${a}${joint}${b}`,
  (a) => a.slice(0, 14),
  (a) => a.slice(-14),
  (a) => fold(a, 16),
  (a, b, joint) => fold(`${a}${joint}${b}`, 20),
  (a) => base64(a),
  (a, b, joint) => fold(base64(`x=${a}${joint}${b}\n`), 24),
  (a) => hex(a),
  (a) => JSON.stringify({ password: `${a}"\n` }),
  (a) => [...a].join(' '),
  (a) => [...a].reverse().join(''),
  () => 'PORT=8080',
  () => 'keep this line',
];

const file = fc.array(fc.tuple(fc.constantFrom(...WRITTEN), fc.constantFrom(...BETWEEN)), {
  minLength: 1,
  maxLength: 9,
});
const scene = fc.record({
  patterns: fc.tuple(fc.constantFrom(...VALUES), fc.constantFrom(...VALUES)),
  seed: fc.nat(),
  joint: fc.constantFrom(...JOINTS),
  files: fc.array(file, { minLength: 1, maxLength: 4 }),
});

function textsOf({ patterns, seed, joint, files }: typeof scene extends fc.Arbitrary<infer T> ? T : never): string[] {
  const random = seededRandom(seed);
  const [a, b] = patterns.map((pattern) => generate(pattern, random)) as [string, string];
  return [
    `TOKENS=${a}${joint}${b}\n`,
    ...files.map((parts) => parts.map(([write, between]) => write(a, b, joint) + between).join('')),
  ];
}

describe('issue 16.2 a text that holds values, pieces and joined values', () => {
  it('SEC-1.4 is what it was after its tokens are opened, also when others were read in between', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (made) => {
        const scrubber = newScrubber();
        const texts = textsOf(made);
        const shown: string[] = [];
        for (const text of texts) shown.push((await scrubber.scrub(SESSION, text)).value);
        for (const [at, text] of texts.entries()) expect(scrubber.openSecrets(SESSION, shown[at] ?? '')).toBe(text);
      }),
    );
  });

  it('keeps every line without a value', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (made) => {
        const scrubber = newScrubber();
        const kept = (text: string): number => text.split('\n').filter((line) => KEPT.has(line)).length;
        for (const text of textsOf(made)) {
          const { value } = await scrubber.scrub(SESSION, text);
          expect(kept(value), value).toBe(kept(text));
        }
      }),
    );
  });

  it('masks each credential of a list by itself', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(',', ';', '|', ', '), fc.nat(), fc.nat(3), async (joint, seed, more) => {
        const random = seededRandom(seed);
        const values = Array.from({ length: 2 + more }, () => generate('[A-Za-z0-9]{20}', random));
        const scrubber = newScrubber();
        const list = values.map((_, at) => `[SECRET_${at + 1}]`);
        const { value } = await scrubber.scrub(SESSION, `API_TOKENS="${values.join(joint)}"\n`);
        expect(value).toBe(`API_TOKENS="${list.join(joint)}"\n`);
        expect((await scrubber.scrub(SESSION, values.join('\n'))).value).toBe(list.join('\n'));
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});
