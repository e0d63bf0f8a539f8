import { Dir, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { branchesOf } from '#src/sandbox/git/branches.js';
import { exceeds } from '#src/sandbox/git/directory-size.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'full-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

/** Makes a directory of 4,000 files. */
function fill(path: string): void {
  mkdirSync(path, { recursive: true });
  for (let at = 0; at < 4_000; at++) writeFileSync(join(path, `f${at}`), '');
}

describe('a directory that a command has filled', () => {
  it('has branches of every name, and is read only as far as branches are counted', () => {
    fill(join(dir, 'refs/heads'));
    const reads = vi.spyOn(Dir.prototype, 'readSync');
    expect(branchesOf(dir)('other')).toBe(true);
    expect(reads).toHaveBeenCalledTimes(2_001);
  });

  it('has branches of every name if it holds many empty directories', () => {
    for (let outer = 0; outer < 50; outer++)
      for (let inner = 0; inner < 50; inner++)
        mkdirSync(join(dir, `refs/heads/${outer}/${inner}`), { recursive: true });
    expect(branchesOf(dir)('other')).toBe(true);
  });

  it('is measured only up to the limit', () => {
    fill(dir);
    const reads = vi.spyOn(Dir.prototype, 'readSync');
    expect(exceeds(dir, 1e9, 100)).toBe(true);
    expect(reads).toHaveBeenCalledTimes(101);
  });
});

describe('the branches of an ordinary repository', () => {
  it('are those in its files and in packed-refs', () => {
    mkdirSync(join(dir, 'refs/heads/a'), { recursive: true });
    writeFileSync(join(dir, 'refs/heads/a/b'), '');
    writeFileSync(join(dir, 'packed-refs'), `${'0'.repeat(40)} refs/heads/packed\n`);
    expect(['a/b', 'packed', 'a', 'other'].map(branchesOf(dir))).toEqual([true, true, false, false]);
  });
});
