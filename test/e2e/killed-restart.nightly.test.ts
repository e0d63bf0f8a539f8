import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { miscounted } from '../helpers/audit-ends.ts';
import { CallLoad } from '../helpers/call-load.ts';
import { CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';
import { AT_NIGHT, PROPERTY_SEED } from '../helpers/property-runs.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const KILLS = AT_NIGHT ? 30 : 3;
const STOPS = AT_NIGHT ? 20 : 2;
const SESSIONS = 4;
/** Milliseconds: about as long as the start of the new daemon and the hand-over take. */
const SPREAD_MS = 1_500;
/** Milliseconds that a broken restart and the next start may take on a busy machine. */
const ROUND_MAX_MS = 60_000;
const VICTIMS = ['the old daemon', 'the new daemon', 'the spawner'] as const;
type Victim = (typeof VICTIMS)[number];

let at: Installation;
const random = seededRandom(PROPERTY_SEED);
beforeAll(async () => {
  at = await install();
  writeFileSync(join(at.project, 'constant'), 'constant\n');
});
afterAll(() => at.remove());

interface Standing {
  readonly pid: number;
  readonly sandbox: { readonly spawner_pid: number } | null;
}

/** The calls start the daemon. */
async function standing(): Promise<Standing> {
  let found: Standing | undefined;
  const read = async (): Promise<boolean> => {
    const { code, stdout } = await at.run(CTXD, ['server', 'status', '--json']);
    found = code === 0 ? JSON.parse(stdout) : undefined;
    return found !== undefined && found.sandbox !== null;
  };
  await expect.poll(read, { timeout: ROUND_MAX_MS }).toBe(true);
  if (found === undefined) throw new Error('no daemon');
  return found;
}

/** The pid of the daemon that this one has started to take over; null if the restart has ended before. */
async function successorOf(pid: number, restarted: Promise<unknown>): Promise<number | null> {
  let hasEnded = false;
  void restarted.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const children = await new Promise<string>((resolve) =>
      execFile('ps', ['-o', 'pid=,args=', '--ppid', `${pid}`], (_error, stdout) => resolve(stdout)),
    );
    const line = children.split('\n').find((one) => one.includes('--take-over'));
    if (line !== undefined) return Number.parseInt(line, 10);
    if (hasEnded) return null;
  }
}

/** Restarts under load, and gives one of the processes the signal at a random moment of each. */
async function disturbedRestarts(name: string, rounds: number, victims: readonly Victim[], signal: NodeJS.Signals) {
  const load = new CallLoad(at, name, SESSIONS, random);
  load.start();
  const hit = new Map<string, number>();
  const seen = new Set<number>();
  for (let made = 0; made < rounds; made++) {
    await load.ended(SESSIONS);
    const { pid, sandbox } = await standing();
    const restarted = at.runProcess(CTXD, ['server', 'restart']);
    const next = await successorOf(pid, restarted);
    await delay(random() * SPREAD_MS);
    const victim = victims[made % victims.length] ?? 'the old daemon';
    const pids = { 'the old daemon': pid, 'the new daemon': next, 'the spawner': sandbox?.spawner_pid ?? null };
    for (const one of Object.values(pids)) if (one !== null) seen.add(one);
    const target = pids[victim];
    if (target !== null && isAlive(target)) {
      process.kill(target, signal);
      hit.set(victim, (hit.get(victim) ?? 0) + 1);
    }
    await restarted;
    await load.ended(SESSIONS);
    const verified = await at.run(CTXD, ['audit', 'verify']);
    expect(verified, `${made}: ${verified.stdout}${verified.stderr}`).toMatchObject({ code: 0 });
  }
  const account = await load.stop();
  console.log(JSON.stringify({ rounds, signal, hit: Object.fromEntries(hit), ...account }));
  expect(account).toMatchObject({ lost: [], doubled: [], unanswered: [], failedReads: [] });
  expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  return { account, seen };
}

it(
  'NFR-2.3: a restart in which one of its processes is killed loses no answered call, runs none twice and leaves none unanswered',
  async () => {
    const { account } = await disturbedRestarts('killed', KILLS, VICTIMS, 'SIGKILL');
    // The tool processes end with the spawner. An answer with this code says what the call may have done.
    const { TOOL_CRASHED: _crashed, ...refused } = account.refused;
    expect(refused).toEqual({});
    expect(account.denied.filter((said) => !said.includes('"error_code":"TOOL_CRASHED"'))).toEqual([]);
  },
  (KILLS + 2) * ROUND_MAX_MS,
);

it(
  'NFR-2.3: a restart in which one of the daemons is asked to stop answers every call, and leaves no process and no socket',
  async () => {
    const { account, seen } = await disturbedRestarts(
      'stopped',
      STOPS,
      ['the old daemon', 'the new daemon'],
      'SIGTERM',
    );
    expect(account).toMatchObject({ denied: [], refused: {} });
    const { pid, sandbox } = await standing();
    expect(await at.run(CTXD, ['server', 'stop'])).toMatchObject({ code: 0 });
    for (const one of [...seen, pid, sandbox?.spawner_pid ?? pid])
      await expect.poll(() => isAlive(one), { timeout: ROUND_MAX_MS }).toBe(false);
    expect(existsSync(join(at.home, 'run/contextd.sock'))).toBe(false);
  },
  (STOPS + 2) * ROUND_MAX_MS,
);

it.each([
  ['a job', false],
  ['a job and a call', true],
])(
  'NFR-2.3: a daemon that gets SIGTERM while its state moves and %s runs leaves jobs to the new one, and answers its calls',
  async (_, hasCall) => {
    const env = { CONTEXTD_SESSION_ID: `moving-${hasCall}` };
    const job = await at.ask('safe_bash', { command: 'sleep 600', background: true }, { env });
    expect(job.data).toMatchObject({ job: 1, state: 'running' });
    const { pid } = await at.status();
    const command = 'touch begun; sleep 600';
    const call = hasCall ? at.ask('safe_bash', { command, timeout_ms: 900_000 }, { env }) : null;
    if (hasCall) await expect.poll(() => existsSync(join(at.project, 'begun')), { timeout: 30_000 }).toBe(true);
    const readyLines = (): number =>
      readFileSync(join(at.home, 'state/daemon.log'), 'utf8').split('"daemon.successor_ready"').length;
    const before = readyLines();
    const restarted = at.runProcess(CTXD, ['server', 'restart']);
    await expect.poll(readyLines, { timeout: ROUND_MAX_MS, interval: 1 }).toBeGreaterThan(before);
    process.kill(pid, 'SIGTERM');
    expect(await restarted).toMatchObject({ code: 0 });
    const interrupted = { error_code: 'INTERRUPTED', details: { stopped_by: 'signal' } };
    if (call !== null) expect((await call).data).toMatchObject(interrupted);
    await expect.poll(() => isAlive(pid), { timeout: ROUND_MAX_MS }).toBe(false);
    const shown = await at.ask('jobs', { action: 'show', job: 1 }, { env });
    expect(shown.data).toMatchObject({ state: 'running' });
    await at.ask('jobs', { action: 'stop', job: 1 }, { env });
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  },
  3 * ROUND_MAX_MS,
);
