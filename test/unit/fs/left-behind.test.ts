import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Releases } from '#src/sandbox/machine/releases.js';
import { openPlace } from '#src/sandbox/storage/places.js';

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const REMOVE_TREE = pathToFileURL(join(import.meta.dirname, '../../../dist/src/fs/remove-tree.js')).href;

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'contextd-left-'));
  chmodSync(base, 0o755);
  if (isRoot) chownSync(base, NOBODY, NOBODY);
});
afterEach(() => {
  spawnSync('chmod', ['-R', 'u+rwx', base]);
  rmSync(base, { recursive: true, force: true });
});

/** Runs as an ordinary user, because no mode stops root. */
function asUser(script: string): { status: number | null; stderr: string } {
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: base, encoding: 'utf8', ...user });
}

describe('what a command leaves', () => {
  test('is removed also if it has closed its directories', () => {
    const made = asUser(`
      import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
      mkdirSync('tree/closed/inner', { recursive: true });
      writeFileSync('tree/closed/inner/file', 'x');
      chmodSync('tree/closed/inner', 0o000);
      chmodSync('tree/closed', 0o500);
      chmodSync('tree', 0o000);
    `);
    expect(made).toMatchObject({ status: 0 });
    const removed = asUser(`import { removeTree } from '${REMOVE_TREE}'; removeTree('tree'); removeTree('tree');`);
    expect(removed).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(base)).toEqual([]);
  });

  test('and follows no link out of the directory', () => {
    mkdirSync(join(base, 'other'), { mode: 0o555 });
    mkdirSync(join(base, 'tree'));
    symlinkSync('../other', join(base, 'tree', 'link'));
    if (isRoot) chownSync(join(base, 'tree'), NOBODY, NOBODY);
    chmodSync(join(base, 'tree'), 0o500);
    expect(asUser(`import { removeTree } from '${REMOVE_TREE}'; removeTree('tree');`)).toMatchObject({ status: 0 });
    expect(lstatSync(join(base, 'other')).mode & 0o777).toBe(0o555);
    expect(readdirSync(base)).toEqual(['other']);
  });

  test.skipIf(!isRoot)(
    'is set aside if it cannot be removed, so that the next daemon starts (skipped without root)',
    () => {
      mkdirSync(join(base, 'git', 'foreign'), { recursive: true, mode: 0o755 });
      writeFileSync(join(base, 'git', 'foreign', 'file'), 'x');
      chownSync(join(base, 'git'), NOBODY, NOBODY);
      const done = asUser(`import { setAsideOrRemove } from '${REMOVE_TREE}'; setAsideOrRemove('git');`);
      expect(done).toMatchObject({ status: 0, stderr: '' });
      expect(readdirSync(base)).toEqual([expect.stringMatching(/^git\.left-[0-9a-f]{8}$/)]);
    },
  );
});

test('what a sandbox used is released to the end if the file system refuses a part, and once', () => {
  const done: string[] = [];
  const used = new Releases();
  used.add(() => void done.push('first'));
  used.add(() => {
    rmSync(join(base, 'missing'));
  });
  used.add(() => void done.push('last'));
  used.release();
  used.release();
  expect(done).toEqual(['first', 'last']);
  used.add(() => {
    throw new TypeError('a fault of the program');
  });
  expect(() => used.release()).toThrow(TypeError);
});

test('opening a storage changes nothing behind a link that a command put in place of a cache', () => {
  const request = {
    project: '/p',
    session: 's',
    identity: { kind: 'self' } as const,
    cachesInside: null,
    coveredInHome: [],
    coveredInTmp: [],
    homeFiles: [],
  };
  const { caches } = openPlace(base, request);
  const target = join(base, 'target');
  mkdirSync(target);
  chmodSync(target, 0o751);
  for (const unit of ['xdg', 'go']) rmSync(join(caches, unit), { recursive: true });
  symlinkSync(target, join(caches, 'xdg'));
  openPlace(base, request);
  expect(lstatSync(target).mode & 0o777).toBe(0o751);
  expect(lstatSync(join(caches, 'xdg')).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(caches, 'go')).mode & 0o777).toBe(0o700);
});

test('a person can remove the whole storage as an ordinary user with rm -rf', () => {
  const places = pathToFileURL(join(import.meta.dirname, '../../../dist/src/sandbox/storage/places.js')).href;
  const opened = asUser(`
    import { openPlace } from '${places}';
    openPlace('${base}/storage', { project: '/p', session: 's', identity: { kind: 'self' }, cachesInside: null, coveredInHome: [], coveredInTmp: [], homeFiles: [] });
  `);
  expect(opened).toMatchObject({ status: 0, stderr: '' });
  expect(asUser(`import { rmSync } from 'node:fs'; rmSync('storage', { recursive: true });`)).toMatchObject({
    status: 0,
  });
  expect(readdirSync(base)).toEqual([]);
});
