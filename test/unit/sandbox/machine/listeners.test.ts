import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findListener } from '#src/sandbox/machine/listeners.js';

function newFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'listeners-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

it('SEC-2.1 finds a socket and a pipe; a link to one is not followed', async () => {
  const [dir, elsewhere] = [newFolder(), newFolder()];
  mkdirSync(join(dir, 'a/b'), { recursive: true });
  writeFileSync(join(dir, 'a/b/file'), '');
  const server = createServer().listen(join(elsewhere, 's'));
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  symlinkSync(join(elsewhere, 's'), join(dir, 'a/link'));
  expect(findListener(dir)).toBeNull();
  expect(findListener(`${dir}/none`)).toBeNull();
  expect(findListener(elsewhere)).toEqual({ path: join(elsewhere, 's') });
  execFileSync('mkfifo', [join(dir, 'a/b/pipe')]);
  expect(findListener(dir)).toEqual({ path: join(dir, 'a/b/pipe') });
  // A neighbour whose name begins in the same way.
  expect(findListener(elsewhere.slice(0, -1))).toBeNull();
});

it('SEC-2.1 finds a socket that was bound by a relative path, of which the kernel lists no directory', async () => {
  const dir = newFolder();
  mkdirSync(join(dir, 'deep'));
  const listen = "require('net').createServer().listen('s', () => console.log('ready'))";
  const child = spawn(process.execPath, ['-e', listen], {
    cwd: join(dir, 'deep'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(findListener(dir)).toEqual({ path: join(dir, 'deep/s') });
});

it('SEC-2.1 says so if a tree has more entries than are looked at', () => {
  const dir = newFolder();
  for (const name of ['a', 'b', 'c']) writeFileSync(join(dir, name), '');
  expect(findListener(dir, 3)).toBeNull();
  expect(findListener(dir, 2)).toEqual({ unread: 2 });
});
