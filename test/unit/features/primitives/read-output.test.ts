import { describe, expect, it } from 'vitest';
import type { KeptPart } from '#src/features/execution/keep-part.js';
import { STORED_PARTS_MAX } from '#src/features/execution/server-output.js';
import { resourceOutput } from '#src/features/primitives/read-output.js';

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
