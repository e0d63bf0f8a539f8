import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeStubs } from '#src/sandbox/run/stubs.js';

let base = '';
let project = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-stubs-')));
  project = join(base, 'project');
  mkdirSync(join(project, '.claude'), { recursive: true });
  writeFileSync(join(project, '.envrc'), '');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const PATHS = ['', '.claude', '.envrc'];
function pin() {
  return PATHS.map((path) => {
    const { dev, ino } = statSync(join(project, path));
    return { path: join(project, path).replace(/\/$/, ''), dev, ino };
  });
}

/**
 * Another file takes the name, as bubblewrap's stub would; the old one is kept so that its inode number is not used
 * again.
 */
function exchange(path: string, make: () => void): void {
  renameSync(path, join(base, `old-${Math.random()}`));
  make();
}

it('SEC-2.3 removes the empty mount points that building a sandbox made', () => {
  const pinned = pin();
  exchange(join(project, '.claude'), () => mkdirSync(join(project, '.claude')));
  exchange(join(project, '.envrc'), () => writeFileSync(join(project, '.envrc'), ''));
  removeStubs(pinned, 0);
  expect(PATHS.map((path) => existsSync(join(project, path)))).toEqual([true, false, false]);
});

it('SEC-2.3 never removes an empty project folder that replaced the previous one', () => {
  const pinned = pin();
  exchange(project, () => mkdirSync(project));
  removeStubs(pinned, 0);
  expect(existsSync(project)).toBe(true);
});

it('SEC-2.3 removes nothing inside a project folder that replaced the previous one', () => {
  const pinned = pin();
  exchange(project, () => {
    mkdirSync(join(project, '.claude'), { recursive: true });
    writeFileSync(join(project, '.envrc'), '');
  });
  removeStubs(pinned, 0);
  expect(PATHS.map((path) => existsSync(join(project, path)))).toEqual([true, true, true]);
});

it('SEC-2.3 removes nothing where a link leads that took the place of a directory', () => {
  writeFileSync(join(project, '.claude', 'settings.json'), '{}');
  const { dev, ino } = statSync(join(project, '.claude', 'settings.json'));
  const pinned = [...pin(), { path: join(project, '.claude', 'settings.json'), dev, ino }];
  const elsewhere = join(base, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'settings.json'), '');
  exchange(join(project, '.claude'), () => symlinkSync(elsewhere, join(project, '.claude')));
  removeStubs(pinned, 0);
  expect(existsSync(join(elsewhere, 'settings.json'))).toBe(true);
});
