import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findListener } from '#src/sandbox/listeners.js';

function newFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'listeners-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

it('SEC-2.1 finds a socket in a tree of any size, and a pipe; a link to one is not followed', async () => {
  const [dir, elsewhere] = [newFolder(), newFolder()];
  mkdirSync(join(dir, 'a/b'), { recursive: true });
  writeFileSync(join(dir, 'a/b/file'), '');
  const server = createServer().listen(join(elsewhere, 's'));
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  symlinkSync(join(elsewhere, 's'), join(dir, 'a/link'));
  expect(findListener(dir)).toBeNull();
  expect(findListener(`${dir}/none`)).toBeNull();
  expect(findListener(elsewhere)).toBe(join(elsewhere, 's'));
  execFileSync('mkfifo', [join(dir, 'a/b/pipe')]);
  expect(findListener(dir)).toBe(join(dir, 'a/b/pipe'));
  // A neighbour whose name begins in the same way.
  expect(findListener(elsewhere.slice(0, -1))).toBeNull();
});
