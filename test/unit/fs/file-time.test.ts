import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { earliestFileTime, mayChangeUnseen, whenSettled } from '#src/fs/file-time.js';

const dir = mkdtempSync(join(tmpdir(), 'file-time-'));
afterAll(() => rmSync(dir, { recursive: true }));

let made = 0;
const fresh = (): string => join(dir, String(++made));
const file = (): string => {
  const path = fresh();
  writeFileSync(path, '');
  return path;
};
const directory = (): string => {
  const path = fresh();
  mkdirSync(path);
  return path;
};

interface Change {
  readonly prepare: () => string;
  readonly make: (path: string) => void;
}

const CHANGES: Readonly<Record<string, Change>> = {
  'makes a file': { prepare: fresh, make: (path) => writeFileSync(path, '') },
  'writes in place': { prepare: file, make: (path) => writeFileSync(path, 'x') },
  'changes a mode': { prepare: file, make: (path) => chmodSync(path, 0o700) },
  'adds a link': { prepare: file, make: (path) => linkSync(path, fresh()) },
  'moves a file here': { prepare: fresh, make: (path) => renameSync(file(), path) },
  'makes a name in a directory': { prepare: directory, make: (path) => symlinkSync('x', join(path, 'link')) },
};

test('SEC-2.3 no file that changes later gets an earlier time than the kernel gave when it was asked', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.entries(CHANGES)), ([name, { prepare, make }]) => {
      const path = prepare();
      const earliest = earliestFileTime(systemClock);
      make(path);
      // Times of files are fractions that a number does not hold exactly.
      expect(statSync(path).ctimeMs, name).toBeGreaterThanOrEqual(earliest - 0.01);
    }),
  );
});

test('SEC-2.3 a clock of its own is asked, and differs from the times of files as before', () => {
  const ahead = earliestFileTime({ now: () => Date.now() + 5_000 });
  const { ctimeMs } = statSync(file());
  expect(ahead - ctimeMs).toBeGreaterThan(4_000);
  expect(ahead - ctimeMs).toBeLessThanOrEqual(5_000.01);
});

test('SEC-2.3 what was changed just now may change again unseen, until it is settled', async () => {
  const path = file();
  const { ctimeMs } = statSync(path);
  expect(mayChangeUnseen(ctimeMs, earliestFileTime(systemClock))).toBe(true);
  await new Promise<void>((resolve) => whenSettled(ctimeMs, systemClock, resolve));
  expect(mayChangeUnseen(ctimeMs, earliestFileTime(systemClock))).toBe(false);
  writeFileSync(path, 'x');
  expect(statSync(path).ctimeMs).toBeGreaterThan(ctimeMs);
});

test('SEC-2.3 neither what is settled nor the time of a clock that was set back is waited for', () => {
  let calls = 0;
  for (const ahead of [-60_000, 3_600_000]) whenSettled(Date.now() + ahead, systemClock, () => calls++);
  expect(calls).toBe(2);
});
