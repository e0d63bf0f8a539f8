import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTS_PER_SCOPE } from '#src/egress/limits.js';
import { Uploads } from '#src/egress/uploads.js';

const MB = 1024 * 1024;

function open(named: readonly string[] = []) {
  const reported = new Map<string, number>();
  const uploads = new Uploads({
    isNamed: (host) => named.includes(host),
    report: (host, bytes) => void reported.set(host, bytes),
  });
  return { uploads, reported };
}

describe('the bytes that hosts got', () => {
  it('are never more than the limit, whatever is sent and whenever the process dies (upload_max_mb)', () => {
    const chunks = fc.array(fc.record({ bytes: fc.nat(300_000), dies: fc.boolean() }), { maxLength: 100 });
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 4 * MB }), (sent, max) => {
        let total = 0;
        let { uploads, reported } = open();
        uploads.begin('a.example');
        for (const { bytes, dies } of sent) {
          if (uploads.maySend('a.example', bytes, max)) total += bytes;
          expect(total).toBeLessThanOrEqual(max);
          if (!dies) continue;
          const counts = Object.fromEntries(reported);
          ({ uploads, reported } = open());
          uploads.restore(counts);
          for (const [host, count] of Object.entries(counts)) reported.set(host, count);
          uploads.begin('a.example');
        }
      }),
    );
  });

  it('are reported about a hundred times up to a limit, and not at all without one', () => {
    let reports = 0;
    const uploads = new Uploads({ isNamed: () => true, report: () => void reports++ });
    uploads.begin('a.example');
    for (let n = 0; n < 1_000; n += 1) uploads.maySend('a.example', MB, null);
    expect(reports).toBe(0);
    for (let n = 0; n < 1_000; n += 1) uploads.maySend('a.example', MB, 2_000 * MB);
    expect(reports).toBeGreaterThan(10);
    expect(reports).toBeLessThan(101);
  });

  it('are counted for a limited number of hosts: the one that was used longest ago is forgotten first', () => {
    const { uploads } = open(['named.example']);
    const sendTo = (host: string): boolean => {
      const end = uploads.begin(host);
      const sent = uploads.maySend(host, 10, 10);
      end();
      return sent;
    };
    for (const host of ['named.example', 'old.example', 'used.example']) expect(sendTo(host)).toBe(true);
    uploads.begin('open.example');
    uploads.maySend('open.example', 10, 10);
    expect(sendTo('used.example')).toBe(false);
    for (let n = 0; n < HOSTS_PER_SCOPE - 3; n += 1) sendTo(`h${n}.example`);
    const isFull = (host: string): boolean => uploads.isUsedUp(host, 10);
    expect(['named.example', 'old.example', 'used.example', 'open.example'].map(isFull)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    for (let n = 0; n < HOSTS_PER_SCOPE; n += 1) sendTo(`more${n}.example`);
    expect(['named.example', 'used.example', 'open.example'].map(isFull)).toEqual([true, false, true]);
  });
});
