import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProgressFeed, type ProgressFeedDeps } from '#src/runner/progress/progress-feed.js';
import type { Release } from '#src/runner/progress/progress-window.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

/** A feed whose time advances when a test says so. */
function openFeed(own: Partial<ProgressFeedDeps> = {}) {
  const shown: string[] = [];
  const faults: unknown[] = [];
  const waits: number[] = [];
  let action: (() => void) | null = null;
  const feed = new ProgressFeed({
    scrub: async (releases) => releases.map(({ text }) => text),
    show: (text) => void shown.push(text),
    later(ms, next) {
      if (action !== null) throw new Error('two updates wait at once');
      waits.push(ms);
      action = next;
      return () => {
        action = null;
      };
    },
    onFault: (thrown) => void faults.push(thrown),
    ...own,
  });
  /** Lets the time of the next update come; false: no update was requested. */
  const tick = async (): Promise<boolean> => {
    const due = action;
    action = null;
    due?.();
    await new Promise(setImmediate);
    return due !== null;
  };
  return { feed, shown, faults, waits, tick };
}

describe('the progress of a call', () => {
  it('is reported a tenth of a second after the first text, all of it at once', async () => {
    const { feed, shown, waits, tick } = openFeed();
    const command = feed.listen();
    expect(await tick()).toBe(false);
    command.output('stdout', Buffer.from('one\n'));
    command.output('stderr', Buffer.from('warning\n'));
    command.output('stdout', Buffer.from('two\n'));
    expect(waits).toEqual([100]);
    await tick();
    expect(shown).toEqual(['one\ntwo\nwarning\n']);
    expect(await tick()).toBe(false);
  });

  it('queues nothing while a text is searched', async () => {
    const searches: { releases: readonly Release[]; done(texts: string[]): void }[] = [];
    const scrub = (releases: readonly Release[]) =>
      new Promise<string[]>((done) => void searches.push({ releases, done }));
    const { feed, shown, tick } = openFeed({ scrub });
    const command = feed.listen();
    command.output('stdout', Buffer.from('a\n'));
    await tick();
    for (let i = 0; i < 1_000; i++) command.output('stdout', Buffer.alloc(65_536, `${i}\n`));
    expect(await tick()).toBe(false);
    searches[0]?.done(['A\n']);
    await new Promise(setImmediate);
    await tick();
    expect(searches).toHaveLength(2);
    expect(searches[1]?.releases[0]?.text.length).toBeLessThanOrEqual(6_400);
    searches[1]?.done(['B\n']);
    await new Promise(setImmediate);
    expect(shown[0]).toBe('A\n');
    expect(shown[1]).toMatch(/^\[contextd \d{8} bytes are not shown here\]\nB\n$/);
  });

  it('SEC-1.1 ends if a text cannot be searched, and shows nothing of it', async () => {
    const { feed, shown, faults, tick } = openFeed({ scrub: () => Promise.reject(new Error('no rules')) });
    const command = feed.listen();
    command.output('stdout', Buffer.from('a\n'));
    await tick();
    command.output('stdout', Buffer.from('b\n'));
    expect(await tick()).toBe(false);
    expect([shown, faults]).toEqual([[], [new Error('no rules')]]);
  });

  it('shows nothing after it was stopped, not even the text being searched', async () => {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    const { feed, shown, tick } = openFeed({ scrub: () => promise });
    const command = feed.listen();
    command.output('stdout', Buffer.from('a\n'));
    await tick();
    feed.stop();
    resolve(['a\n']);
    command.output('stdout', Buffer.from('b\n'));
    expect(await tick()).toBe(false);
    expect(shown).toEqual([]);
  });

  it('keeps the commands of a call apart, and shows the last lines of a command that has ended', async () => {
    const { feed, shown, tick } = openFeed();
    const [first, second] = [feed.listen(), feed.listen()];
    first.output('stdout', Buffer.from('fir'));
    second.output('stdout', Buffer.from('second\n'));
    first.output('stdout', Buffer.from('st'));
    first.ended();
    await tick();
    expect(shown).toEqual(['first\nsecond\n']);
  });
});

describe('SEC-1.1 a secret in the progress', () => {
  /** Works as the scrubber does: searches the whole text, shows the requested part. */
  const mask = ({ before, text, after }: Release): string => {
    let shown = '';
    let at = before.length;
    const end = before.length + text.length;
    for (const span of engine.scan(`${before}${text}${after}`)) {
      if (span.end <= before.length || span.start >= end) continue;
      shown += `${text.slice(at - before.length, Math.max(0, span.start - before.length))}[SECRET]`;
      at = Math.min(span.end, end);
    }
    return shown + text.slice(at - before.length);
  };

  it('is never shown, however it is cut into chunks and whenever they are searched', async () => {
    const random = seededRandom(11);
    const line = fc.constantFrom('building\n', 'a longer line of ordinary words\n', '\n', 'x'.repeat(9_000));
    const pieces = fc.array(fc.tuple(fc.nat(60), fc.boolean()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 6 }),
        pieces,
        fc.array(line, { maxLength: 6 }),
        async (before, cuts, after) => {
          const secret = generate('ghp_[A-Za-z0-9]{36}', random);
          const all = Buffer.from(`${before.join('')} token=${secret}\n${after.join('')}`);
          const { feed, shown, tick } = openFeed({ scrub: async (releases) => releases.map(mask) });
          const command = feed.listen();
          let at = Math.max(0, all.indexOf(secret) - 10);
          command.output('stdout', all.subarray(0, at));
          for (const [size, looks] of cuts) {
            command.output('stdout', all.subarray(at, at + size));
            at += size;
            if (looks) await tick();
          }
          command.output('stdout', all.subarray(Math.min(at, all.length)));
          command.ended();
          await tick();
          const text = shown.join('').replaceAll('\n', '');
          for (let i = 0; i + 12 <= secret.length; i += 4) expect(text).not.toContain(secret.slice(i, i + 12));
        },
      ),
      { numRuns: propertyRuns('slow') },
    );
  });
});
