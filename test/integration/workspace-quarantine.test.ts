import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDirectory, readSmallFile } from '#src/fs/file-access.js';
import { toRaw } from '#src/fs/raw-path.js';
import { moveAside, restoreLink } from '#src/guard/quarantine/set-aside.js';
import { type Bench, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
let at: (name: string) => string;
beforeEach(() => {
  bench = openBench();
  at = (name) => toRaw(join(bench.workspace, name));
});
afterEach(() => bench.close());

test('renames a path of any kind within its directory and returns the new path', () => {
  bench.sh(
    "mkdir -p .vscode/x $'d\\n\\303\\251' && touch .envrc && ln -s / .claude && mkfifo .idea && touch $'d\\n\\303\\251/.envrc'",
  );
  for (const name of ['.vscode', '.envrc', '.claude', '.idea', 'd\né/.envrc']) {
    const moved = moveAside(at(name));
    expect(moved).toMatch(/\.quarantined-[0-9a-f]{8}$/);
    expect(existsSync(Buffer.from(moved ?? '', 'latin1'))).toBe(true);
  }
  expect(bench.names()).toEqual([
    '.claude.quarantined',
    '.envrc.quarantined',
    '.idea.quarantined',
    '.vscode.quarantined',
    'd\né',
  ]);
});

test('SEC-2.3 never goes through a link, at the end or on the way', () => {
  mkdirSync(join(bench.base, 'outside/deep/.claude'), { recursive: true });
  bench.sh('mkdir a && ln -s ../outside l && ln -s ../../outside a/l');
  for (const name of ['l/deep/.claude', 'a/l/deep/.claude', 'l/deep', 'gone/.claude', 'gone']) {
    expect(moveAside(at(name))).toBeNull();
  }
  restoreLink(at('l/deep/link'), '/x');
  expect(existsSync(join(bench.base, 'outside/deep/.claude'))).toBe(true);
  expect(lstatSync(join(bench.base, 'outside/deep/link'), { throwIfNoEntry: false })).toBeUndefined();
  expect([openDirectory(at('l/deep')), openDirectory(at('l')), readSmallFile(at('l'), 10)]).toEqual([null, null, null]);
});

test('SEC-2.3 never goes through a link that replaces a directory on the way meanwhile', async () => {
  mkdirSync(join(bench.base, 'outside/.claude'), { recursive: true });
  bench.sh('mkdir -p d/.claude');
  const script = `
    const fs = require('node:fs');
    for (let i = 0; i < 1000; i++) {
      fs.renameSync('d', 'e');
      fs.symlinkSync('../outside', 'd');
      fs.mkdirSync('e/.claude', { recursive: true });
      fs.unlinkSync('d');
      fs.renameSync('e', 'd');
    }`;
  const swapper = spawn(process.execPath, ['-e', script], { cwd: bench.workspace, stdio: 'ignore' });
  const over = once(swapper, 'exit');
  let moved = 0;
  while (swapper.exitCode === null) {
    for (let i = 0; i < 200; i++) if (moveAside(at('d/.claude')) !== null) moved++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await over)[0]).toBe(0);
  expect(moved).toBeGreaterThan(0);
  expect(bench.sh('ls -A ../outside')).toBe('.claude\n');
});

test('a parent that cannot be written keeps its mode', () => {
  bench.sh('mkdir r && touch r/.envrc && chmod 500 r');
  expect(moveAside(at('r/.envrc'))).not.toBeNull();
  expect(lstatSync(join(bench.workspace, 'r')).mode & 0o777).toBe(0o500);
});

test('a link is put back if nothing is there, and nothing is overwritten', () => {
  restoreLink(at('.claude'), 'conf');
  expect(readlinkSync(join(bench.workspace, '.claude'))).toBe('conf');
  restoreLink(at('.claude'), 'other');
  expect(readlinkSync(join(bench.workspace, '.claude'))).toBe('conf');
});

test('a file is read only if it is a regular file, small, and has no second name', () => {
  writeFileSync(join(bench.workspace, 'f'), 'text');
  bench.sh('mkfifo p; mkdir d');
  symlinkSync('f', join(bench.workspace, 'l'));
  expect([readSmallFile(at('f'), 4), readSmallFile(at('f'), 3)]).toEqual(['text', null]);
  expect(['p', 'd', 'l', 'none'].map((name) => readSmallFile(at(name), 10))).toEqual([null, null, null, null]);
  bench.sh('ln f g');
  expect(readSmallFile(at('f'), 10)).toBeNull();
});
