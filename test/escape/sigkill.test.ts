import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Ground, identitiesHere, type Outcome, RunFailure } from '../helpers/sandbox-identities.ts';
import { cgroupsOf, commandLine, descendantsOf, marked, markedInside, newMark } from './processes.ts';

const CALLS = 16;
const DEADLINE = { timeout: 15_000, interval: 50 };

describe.each(identitiesHere())('death by SIGKILL, %s', (identity) => {
  let ground: Ground;
  beforeEach(async () => {
    ground = await Ground.open(identity);
  });
  afterEach(() => ground.close());

  /** Starts runs that would last a minute, each with a child that has left its group and session. */
  async function startLongRuns(mark: string): Promise<Promise<Outcome | unknown>[]> {
    const script = `trap '' TERM HUP; (setsid bash -c 'exec -a ${mark}-child sleep 60' >/dev/null &); exec -a ${mark} sleep 60`;
    const runs = Array.from({ length: CALLS }, () => ground.run(script, { timeoutMs: 60_000 }).catch((cause) => cause));
    await expect.poll(() => sleepers(mark), DEADLINE).toBe(2 * CALLS);
    return runs;
  }

  test('SEC-2.1 leaves no process if the daemon dies during 16 calls', async () => {
    const mark = newMark();
    const runs = await startLongRuns(mark);
    const below = descendantsOf(ground.hostPid);
    expect(below.length).toBeGreaterThanOrEqual(2 * CALLS);
    await ground.killHost();
    await expect.poll(() => marked(mark), DEADLINE).toEqual([]);
    await expect.poll(() => below.filter(isContextds), DEADLINE).toEqual([]);
    for (const run of await Promise.all(runs)) expect(run).toBeInstanceOf(Error);
  });

  test('SEC-2.1 leaves files of a killed daemon, which the next one removes when it starts', async () => {
    const mark = newMark();
    await startLongRuns(mark);
    const pids = [ground.hostPid, ...descendantsOf(ground.hostPid)];
    await ground.killHost();
    await expect.poll(() => marked(mark), DEADLINE).toEqual([]);
    const next = await Ground.open(identity);
    try {
      await next.run('true');
      await expect.poll(() => cgroupsOf(pids), DEADLINE).toEqual([]);
    } finally {
      await next.close();
    }
  });

  test('SEC-2.1 makes 16 calls fail at once if the spawner dies, and the next call works', async (context) => {
    const spawner = await ground.spawnerPid();
    if (spawner === null) {
      console.warn('SKIPPED: the death of the spawner was not tried: there is no spawner process');
      return context.skip();
    }
    const mark = newMark();
    const runs = await startLongRuns(mark);
    process.kill(spawner, 'SIGKILL');
    for (const failure of await Promise.all(runs)) {
      expect(failure).toBeInstanceOf(RunFailure);
      expect(failure).toMatchObject({ known: true });
    }
    await expect.poll(() => marked(mark), DEADLINE).toEqual([]);
    expect(await ground.run('echo again')).toMatchObject({ exitCode: 0, out: 'again\n' });
    expect(await ground.spawnerPid()).not.toBe(spawner);
  });

  test('SEC-2.1 leaves no process if sixteen calls are cancelled at once', async () => {
    const mark = newMark();
    const script = `touch began-$1; (setsid bash -c 'exec -a ${mark}-child sleep 60' >/dev/null &); exec -a ${mark} sleep 60`;
    const runs = Array.from({ length: CALLS }, (_, i) =>
      ground.start('', { argv: ['bash', '-c', script, 'bash', String(i)] }),
    );
    await expect
      .poll(() => runs.every((_, i) => existsSync(join(ground.workspace, `began-${i}`))), DEADLINE)
      .toBe(true);
    for (const run of runs) await run.cancel();
    for (const run of runs) expect((await run.result).endedBy).toBe('cancelled');
    expect(markedInside(mark)).toEqual([]);
  });
});

/** The commands themselves. A shell that has not started its command yet has the mark in its script. */
function sleepers(mark: string): number {
  return marked(mark).filter((pid) => commandLine(pid).startsWith(mark)).length;
}

function isContextds(pid: number): boolean {
  return /bwrap|contextd|setpriv/.test(commandLine(pid));
}
