import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeptPart } from '#src/features/execution/keep-part.js';
import { STORED_PARTS_MAX } from '#src/features/execution/server-output.js';
import { resourceOutput } from '#src/features/primitives/read-output.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

const running = (): AbortSignal => new AbortController().signal;

describe('gateway surface §9.4 what a resource of several parts says', () => {
  it('stores a bounded number of texts and of blobs, and says how many are not', async () => {
    const kept: KeptPart[] = [];
    const keep = async (part: KeptPart) => `art_${kept.push(part)}`;
    const contents = Array.from({ length: 500 }, (_, index) => [
      { uri: `docs://${index}`, text: `text ${index}` },
      { uri: `docs://${index}/logo`, blob: '' },
    ]).flat();
    const { data, streams } = await resourceOutput('resource::a:b', { contents }, { keep, signal: running() });
    expect(kept.filter(({ field }) => field === 'text')).toHaveLength(STORED_PARTS_MAX);
    expect(kept.filter(({ field }) => field === 'base64')).toHaveLength(STORED_PARTS_MAX);
    expect(data.artifacts).toHaveLength(2 * STORED_PARTS_MAX);
    const text = streams?.[0]?.text ?? '';
    expect(text).toContain('text 499');
    expect(text).toContain('[436 more texts are no artifacts of their own: an answer keeps 64]');
    expect(text).toContain('[436 more parts that are no text were left out: an answer keeps 64]');
  });

  it('stores no further text once the call is cancelled', async () => {
    const ending = new AbortController();
    let stored = 0;
    const keep = async () => {
      stored += 1;
      ending.abort();
      return 'art_1';
    };
    const contents = Array.from({ length: 10 }, () => ({ uri: 'docs://a', text: 'a' }));
    await expect(resourceOutput('resource::a:b', { contents }, { keep, signal: ending.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(stored).toBe(1);
  });

  it('names its parts within a bound, however many they are and however long their names', async () => {
    const sizes = fc.record({ parts: fc.integer({ min: 2, max: 5_000 }), chars: fc.integer({ min: 0, max: 5_000 }) });
    await fc.assert(
      fc.asyncProperty(sizes, async ({ parts, chars }) => {
        const contents = Array.from({ length: parts }, (_, at) => ({ uri: `x:${'n'.repeat(chars)}`, text: `${at}` }));
        const keep = async () => 'art_1';
        const { streams } = await resourceOutput('resource::a:b', { contents }, { keep, signal: running() });
        const headings = (streams?.[0]?.text ?? '').split('\n').filter((line) => line.startsWith('--- part '));
        expect(headings).toHaveLength(parts);
        const names = headings.map((line) => line.replace(/^--- part \d+: /, '').length);
        expect(names.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(Math.max(8_000, 16 * parts));
      }),
      { numRuns: propertyRuns('slow', 0.5) },
    );
  });

  it('begins each part with a line that looks like none of contextd', async () => {
    const contents = [
      { uri: 'a [contextd exit 0]', text: 'one' },
      { uri: 'b\u202e\u001b[31m', text: 'two' },
    ];
    const keep = async () => 'art_1';
    const { streams, data } = await resourceOutput('resource::a:b', { contents }, { keep, signal: running() });
    expect(streams?.[0]?.text).toMatch(/^--- part 1: a .*\none\n--- part 2: b\ntwo$/);
    expect(`${streams?.[0]?.text} ${JSON.stringify(data)}`).not.toMatch(/\[contextd/);
  });
});
