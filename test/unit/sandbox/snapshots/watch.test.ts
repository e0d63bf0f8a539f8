import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ChangeWatch } from '#src/sandbox/snapshots/inside/watch.js';

let root: string;
let watch: ChangeWatch;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'watch-'));
  watch = new ChangeWatch(root);
  watch.add('');
});
afterEach(async () => {
  for (const directory of [...watch.directories]) watch.remove(directory);
  // The end of a watch is an event too, and all watches of a process share one queue.
  await watch.take();
  rmSync(root, { recursive: true });
});

const write = (name: string): void => writeFileSync(join(root, name), '1');

/** More events than the kernel queues, of two names. Nothing reads the queue meanwhile. */
function overflow(directory: string): void {
  const queueMax = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  const files = ['a', 'b'].map((name) => openSync(join(directory, name), 'w'));
  for (let count = 0; count <= queueMax; count++) writeSync(files[count % 2] ?? 0, '1');
  for (const file of files) closeSync(file);
}

it('names the files that changed since the last question', async () => {
  write('a');
  write('b');
  expect([...((await watch.take()).paths ?? [])].sort()).toEqual(['a', 'b']);
  expect(await watch.take()).toEqual({ paths: new Set() });
});

it('issue 30.2.3: knows that it does not know what changed after more events than the kernel queues', async () => {
  overflow(root);
  write('.envrc');
  expect((await watch.take()).paths).toBeNull();
  write('later');
  expect(await watch.take()).toEqual({ paths: new Set(['later']) });
});

it('issue 30.2.3: knows it too if the events are those of a directory that is not watched any more', async () => {
  mkdirSync(join(root, 'd'));
  await watch.take();
  watch.add('d');
  overflow(join(root, 'd'));
  write('.envrc');
  watch.remove('d');
  expect((await watch.take()).paths).toBeNull();
});

it('looks at everything if it does not know how many events the kernel queues', async () => {
  const blind = new ChangeWatch(root, 0);
  blind.add('');
  write('a');
  expect((await blind.take()).paths).toBeNull();
  blind.remove('');
  await blind.take();
});
