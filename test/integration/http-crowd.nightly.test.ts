import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { answerOf, type BehindHttp, openHttpDoor, type TestHttpDoor } from '../helpers/http-door.ts';
import { ROOT } from '../helpers/installation.ts';

const EXECUTE = '/v1/tools/safe_bash/execute';
const CALL = { project: '/p', input: { command: 'true' } };

/** Descriptors that a process needs for itself. Node raises its own limit to the hard one. */
const OTHER_FILES = 1_000;
const CONNECTIONS = Math.min(10_000, hardLimit() - OTHER_FILES);

function hardLimit(): number {
  const [, , hard = ''] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}

let at: TestHttpDoor;
let crowd: ChildProcess | undefined;
afterEach(async () => {
  await disperse();
  await at.remove();
});

/** Another process that opens connections and keeps them. Resolves when it has opened all. */
async function gather(): Promise<void> {
  const program = join(ROOT, 'test/fixtures/many-connections.ts');
  const args = ['--no-warnings', program, String(at.port), String(CONNECTIONS)];
  crowd = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  if (crowd.stdout !== null) await once(crowd.stdout, 'data');
}

async function disperse(): Promise<void> {
  const leaving = crowd;
  crowd = undefined;
  if (leaving === undefined) return;
  const gone = once(leaving, 'exit');
  leaving.stdin?.end();
  await gone;
}

/** A door with a call under way, and what lets it end. */
async function openWithCall(behind: BehindHttp) {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  at = await openHttpDoor({
    ...behind,
    async dispatch(request) {
      arrive();
      await held;
      return answerOf(request);
    },
  });
  const call = at.ask(EXECUTE, { body: CALL });
  await arrived;
  return { call, release };
}

const openConnections = async (): Promise<number> =>
  Number(/^contextd_connections\{door="http"\} (\d+)$/m.exec((await at.ask('/metrics')).text)?.[1]);

describe(`issue 32.4 ${CONNECTIONS} connections with requests that never end`, () => {
  it('close the oldest idle connections, never one with a call under way, and the door goes on serving', async () => {
    const { call, release } = await openWithCall({ config: { max_connections: 32 } });
    await gather();
    expect((await at.ask('/v1/health')).status).toBe(200);
    expect(await openConnections()).toBeLessThanOrEqual(32);
    release();
    expect((await call).status).toBe(200);
    expect((await at.ask(EXECUTE, { body: CALL })).status).toBe(200);
  });

  it('are all kept if a person allows as many, until the time for their headers is over', async () => {
    const { call, release } = await openWithCall({
      config: { max_connections: 10_000 },
      limits: { headersMs: 90_000, requestMs: 90_000 },
    });
    await gather();
    expect(await openConnections()).toBeGreaterThan(CONNECTIONS - 100);
    for (let i = 0; i < 20; i += 1) expect((await at.ask('/v1/health')).status).toBe(200);
    release();
    expect((await call).status).toBe(200);
    await disperse();
    await expect.poll(openConnections).toBeLessThan(10);
  });

  it('end by themselves: a slow client has its time for headers, however many others are there', async () => {
    const { call, release } = await openWithCall({
      config: { max_connections: 10_000 },
      limits: { headersMs: 500, checkMs: 50 },
    });
    await gather();
    await expect.poll(openConnections).toBeLessThan(10);
    release();
    expect((await call).status).toBe(200);
  });
});
