import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensurePublicMountPoints } from '#src/sandbox/machine/reach.js';

const UMASKS = ['000', '022', '027', '077'];
let base = '';
let place = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'contextd-modes-'));
  place = join(base, 'public');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

/** The modes of the place, its directories and its files, each once. */
function modes(): Record<string, string[]> {
  const of = (kind: string) =>
    new Set(
      readdirSync(place)
        .filter((name) => name.startsWith(kind))
        .map((name) => modeOf(join(place, name))),
    );
  return { place: [modeOf(place)], directories: [...of('d')], files: [...of('f')] };
}

function withUmask(umask: number, work: () => void): void {
  const before = process.umask(umask);
  try {
    work();
  } finally {
    process.umask(before);
  }
}

const WANTED = { place: ['755'], directories: ['755'], files: ['644'] };

describe('SEC-2.1 the mount points that the owner of a project traverses', () => {
  it.each(UMASKS)('have the same modes under umask %s', (umask) => {
    withUmask(Number.parseInt(umask, 8), () => ensurePublicMountPoints(place));
    expect(modes()).toEqual(WANTED);
  });

  it('get their modes back if an earlier daemon gave them narrower ones', () => {
    mkdirSync(join(place, 'd0'), { recursive: true });
    writeFileSync(join(place, 'f0'), '');
    for (const [path, mode] of [
      ['f0', 0o600],
      ['d0', 0o700],
      ['', 0o700],
    ] as const)
      chmodSync(join(place, path), mode);
    withUmask(0o077, () => ensurePublicMountPoints(place));
    expect(modes()).toEqual(WANTED);
  });

  it.each([
    ['is open to other users', () => chmodSync(place, 0o777), /has mode 777: other users can write to it/],
    ['is a link', () => relink(), /is a link, or not what contextd keeps there/],
    ['is a file', () => refile(), /is a link, or not what contextd keeps there/],
    ['holds a link', () => symlinkSync('/etc', join(place, 'd0')), /d0 is a link, or not what contextd keeps there/],
    ['holds a file with content', () => writeFileSync(join(place, 'f0'), 'x'), /f0 is not an empty file/],
    ['holds another name of a file', () => hardlink(), /f0 is not an empty file with one name/],
  ])('are refused with the remedy if the place %s', (_what, spoil, message) => {
    mkdirSync(place);
    spoil();
    const before = statSync(place).mode;
    expect(() => ensurePublicMountPoints(place)).toThrowError(
      expect.objectContaining({
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringMatching(message),
        remedy: expect.stringContaining(`rm -rf ${place}`),
      }),
    );
    expect(statSync(place).mode).toBe(before);
  });

  it.runIf(process.getuid?.() === 0)('are refused, naming both users, if the place belongs to another user', () => {
    mkdirSync(place);
    chownSync(place, 65_534, 65_534);
    expect(() => ensurePublicMountPoints(place)).toThrowError(/belongs to uid 65534, not to uid 0/);
  });

  function relink(): void {
    rmSync(place, { recursive: true });
    mkdirSync(join(base, 'elsewhere'));
    symlinkSync(join(base, 'elsewhere'), place);
  }

  function refile(): void {
    rmSync(place, { recursive: true });
    writeFileSync(place, '');
  }

  function hardlink(): void {
    writeFileSync(join(base, 'other'), '');
    linkSync(join(base, 'other'), join(place, 'f0'));
  }
});
