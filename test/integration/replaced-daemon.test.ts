import { linkSync, lstatSync, rmSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { connect } from '#src/cli/client.js';
import { createContext } from '#src/cli/context.js';
import { replaceDaemon } from '#src/cli/daemon/replace.js';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { left } from '#src/dispatch/carried-call.js';
import { createGrpcDoor, type Door } from '#src/doors/grpc/grpc.js';
import type { Management } from '#src/protocol/management-contract.js';
import { attemptReplacement } from '#src/proxy/start-lock.js';
import { echo, management, noServers, refuse } from '../helpers/behind.ts';
import { openDoor, type TestDoor } from '../helpers/door.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(own: Partial<Management>): Promise<TestDoor> {
  const door = await openDoor({ dispatch: async (request) => echo(request), management: own });
  cleanups.push(() => door.remove());
  return door;
}

/** Takes the place of the door at the same socket once it starts. */
function nextDoor(paths: TestDoor['paths'], own: Partial<Management>): Door {
  const door = createGrpcDoor({
    paths,
    dispatch: async (request) => echo(request),
    refuse,
    management: management(own),
    passing: noServers,
    answerHook: async () => null,
    mask: (text) => text,
    clock: systemClock,
    logger: silentLogger,
    replaces: () => true,
  });
  cleanups.push(() => door.stop());
  return door;
}

it('NFR-2.3: an act that a replaced daemon refuses is carried out once, by the next daemon', async () => {
  const asked: string[] = [];
  let next: Door | undefined;
  const first = await open({
    async disallowPath() {
      asked.push('first');
      await next?.start();
      throw left();
    },
  });
  next = nextDoor(first.paths, {
    async disallowPath({ path }) {
      asked.push('next');
      return { paths: [path] };
    },
  });
  const client = await connect(first.paths);
  cleanups.push(async () => client.close());
  expect(await client.disallowPath({ root: '/p', path: '/shared' })).toEqual({ paths: ['/shared'] });
  expect(asked).toEqual(['first', 'next']);
});

it('NFR-2.3: what finds a closed door while the daemon is replaced is asked of the next one, a stop too', async () => {
  const asked: string[] = [];
  const own: Partial<Management> = {
    async disallowPath({ path }) {
      asked.push('remove');
      return { paths: [path] };
    },
    async stopServer() {
      asked.push('stop');
      return { pid: 2, active_calls: 0, ended_calls: 0 };
    },
  };
  for (const name of ['remove', 'stop']) {
    const first = await open({});
    const next = nextDoor(first.paths, own);
    const client = await connect(first.paths);
    cleanups.push(async () => client.close());
    // The look at the socket found the first door.
    await first.door.stop();
    const attempt = attemptReplacement(first.paths.startLock, name);
    if (attempt.kind !== 'held') throw new Error('the lock is taken');
    const answered =
      name === 'stop'
        ? client.stopServer({ grace_ms: 0, restart: false }, 10_000)
        : client.disallowPath({ root: '/p', path: '/shared' });
    answered.catch(() => {});
    await next.start();
    await answered;
    attempt.lock.release();
  }
  expect(asked).toEqual(['remove', 'stop']);
});

it('NFR-2.3: a door that has left does not remove a socket at its path, even if that has the number of its own', async () => {
  const { door, paths } = await open({});
  // A number that is free again may be given to the socket of a later daemon.
  const kept = `${paths.socket}.kept`;
  linkSync(paths.socket, kept);
  door.leave?.();
  rmSync(paths.socket);
  linkSync(kept, paths.socket);
  await door.stop();
  expect(lstatSync(paths.socket).ino).toBe(lstatSync(kept).ino);
});

it('what finds no daemon is not asked again', async () => {
  const door = await open({});
  const client = await connect(door.paths);
  cleanups.push(async () => client.close());
  await door.door.stop();
  await expect(client.listPaths({ root: '/p' })).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
});

it('a restart whose new daemon does not start is not asked for again', async () => {
  let asked = 0;
  const door = await open({
    async restartServer() {
      asked += 1;
      throw new ContextdError('DAEMON_UNAVAILABLE', 'the new daemon did not start');
    },
  });
  const client = await connect(door.paths);
  cleanups.push(async () => client.close());
  await expect(client.restartServer({ path: '' }, 10_000)).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
  expect(asked).toBe(1);
});

it('NFR-2.3: a restart that takes too long is reported, and counts as one that a daemon cannot do only if it answers nothing', async () => {
  const late = (): never => {
    throw new ContextdError('TIMEOUT', 'too late');
  };
  const { signal } = new AbortController();
  const contextOf = ({ paths }: TestDoor) => {
    const context = createContext(process, '/', signal);
    return { ...context, paths: { ...context.paths, ...paths } };
  };
  await expect(replaceDaemon(contextOf(await open({ restartServer: async () => late() })))).rejects.toMatchObject({
    code: 'TIMEOUT',
  });
  expect(await replaceDaemon(contextOf(await open({ serverStatus: async () => late() })))).toBeNull();
});
