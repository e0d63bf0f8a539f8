import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { miscounted } from '../helpers/audit-ends.ts';
import { CallLoad } from '../helpers/call-load.ts';
import { CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';
import { AT_NIGHT, PROPERTY_SEED } from '../helpers/property-runs.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const KILLS = AT_NIGHT ? 30 : 3;
const SESSIONS = 4;
/** Milliseconds: about as long as the start of the new daemon and the hand-over take. */
const SPREAD_MS = 1_500;
/** Milliseconds that a broken restart and the next start may take on a busy machine. */
const ROUND_MAX_MS = 60_000;
const VICTIMS = ['the old daemon', 'the new daemon', 'the spawner'] as const;

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

it(
  'NFR-2.3: a restart in which one of its processes is killed loses no answered call, runs none twice and leaves none unanswered',
  async () => {
    const load = new CallLoad(at, 'killed', SESSIONS, random);
    load.start();
    const killed = new Map<string, number>();
    for (let made = 0; made < KILLS; made++) {
      await load.ended(SESSIONS);
      const { pid, sandbox } = await standing();
      const restarted = at.runProcess(CTXD, ['server', 'restart']);
      const next = await successorOf(pid, restarted);
      await delay(random() * SPREAD_MS);
      const victim = VICTIMS[made % VICTIMS.length] ?? 'the old daemon';
      const pids = { 'the old daemon': pid, 'the new daemon': next, 'the spawner': sandbox?.spawner_pid ?? null };
      const target = pids[victim];
      if (target !== null && isAlive(target)) {
        process.kill(target, 'SIGKILL');
        killed.set(victim, (killed.get(victim) ?? 0) + 1);
      }
      await restarted;
      await load.ended(SESSIONS);
      const verified = await at.run(CTXD, ['audit', 'verify']);
      expect(verified, `${made}: ${verified.stdout}${verified.stderr}`).toMatchObject({ code: 0 });
    }
    const account = await load.stop();
    console.log(JSON.stringify({ rounds: KILLS, killed: Object.fromEntries(killed), ...account }));
    expect(account).toMatchObject({ lost: [], doubled: [], unanswered: [], failedReads: [] });
    // The tool processes end with the spawner. An answer with this code says what the call may have done.
    const { TOOL_CRASHED: _crashed, ...refused } = account.refused;
    expect(refused).toEqual({});
    expect(account.denied.filter((said) => !said.includes('"error_code":"TOOL_CRASHED"'))).toEqual([]);
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  },
  (KILLS + 2) * ROUND_MAX_MS,
);
