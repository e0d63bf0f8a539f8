import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { awaitStart } from '#src/cli/await-start.js';
import { attemptLock, attemptReplacement } from '#src/proxy/start-lock.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'await-start-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const paths = () => ({ socket: join(dir, 'contextd.sock'), startLock: join(dir, 'start.lock') });

function hold(attemptOne = attemptReplacement) {
  const attempt = attemptOne(paths().startLock, 'nonce');
  if (attempt.kind !== 'held') throw new Error('the lock is taken');
  return attempt.lock;
}

it('NFR-2.3: a command of a person waits for a daemon that is being replaced', async () => {
  const lock = hold();
  const order: string[] = [];
  const waited = awaitStart(paths()).then(() => order.push('asked'));
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(paths().socket, () => {
      order.push('listens');
      resolve();
    });
  });
  await waited;
  expect(order).toEqual(['listens', 'asked']);
  lock.release();
  server.close();
});

it('goes on at once if no daemon is being replaced, and when one could not be', async () => {
  await awaitStart(paths());
  const lock = hold();
  const waited = awaitStart(paths());
  lock.release();
  await waited;
});

it('does not wait for a daemon that a program is starting: that may have asked ctxd to start it', async () => {
  const lock = hold(attemptLock);
  await awaitStart(paths());
  lock.release();
});
