import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { startAlone } from '#src/daemon/serve.js';
import { echo } from '../helpers/behind.ts';
import { openDoor, type TestDoor } from '../helpers/door.ts';

let dir: string;
let door: TestDoor | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'single-'));
});
afterEach(async () => {
  await door?.remove();
  door = undefined;
  await rm(dir, { recursive: true, force: true });
});

/** Time advances by a second whenever it is read. */
function deps(socket: string, certsDir = dir) {
  let now = 0;
  const clock = {
    now: () => 0,
    monotonic: () => {
      now += 1000;
      return now;
    },
  };
  return { probe: { socket, certsDir }, clock, logger: silentLogger };
}
const locked = (): ContextdError => new ContextdError('CONFLICT', 'another contextd holds the state database');

describe('a starting daemon', () => {
  it('waits for a daemon that is about to end', async () => {
    let tries = 0;
    const started = await startAlone(
      async () => {
        tries += 1;
        if (tries < 3) throw locked();
        return 'up';
      },
      deps(join(dir, 'none.sock')),
    );
    expect([started, tries]).toEqual(['up', 3]);
  });

  it('gives up on a daemon that neither ends nor answers', async () => {
    await expect(startAlone(() => Promise.reject(locked()), deps(join(dir, 'none.sock')))).rejects.toThrow(
      'state database',
    );
  });

  it('names a daemon that answers, without waiting', async () => {
    door = await openDoor({ dispatch: async (request) => echo(request) });
    const attempt = startAlone(() => Promise.reject(locked()), deps(door.paths.socket, door.paths.certsDir));
    await expect(attempt).rejects.toThrow(`already running with pid ${process.pid}`);
  });

  it('does not try again after any other failure', async () => {
    let tries = 0;
    const fails = async (): Promise<never> => {
      tries += 1;
      throw new ContextdError('STORAGE_FULL', 'full');
    };
    await expect(startAlone(fails, deps(join(dir, 'none.sock')))).rejects.toThrow('full');
    expect(tries).toBe(1);
  });
});
