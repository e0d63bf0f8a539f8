import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Accounting, CallLoad } from '../helpers/call-load.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { AT_NIGHT, PROPERTY_SEED } from '../helpers/property-runs.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const KILLS = AT_NIGHT ? 200 : 6;
const RESTARTS = AT_NIGHT ? 50 : 2;
const SESSIONS = 6;
/** Milliseconds: about as long as a call takes, so that an end of the daemon meets calls at every step. */
const SPREAD_MS = 120;
/** Milliseconds that one end and the next start may take on a busy machine. */
const END_MAX_MS = 20_000;

let at: Installation;
const random = seededRandom(PROPERTY_SEED);
beforeAll(async () => {
  at = await install();
  writeFileSync(join(at.project, 'constant'), 'constant\n');
});
afterAll(() => at.remove());

/** Ends the daemon again and again at random moments while six sessions call, and counts what the calls have done. */
async function callsThrough(name: string, ends: number, end: (pid: number) => Promise<void>): Promise<Accounting> {
  const load = new CallLoad(at, name, SESSIONS, random);
  load.start();
  for (let made = 0; made < ends; made++) {
    await load.ended(Math.ceil((1 + random()) * SESSIONS));
    const pid = await pidOfDaemon();
    await delay(random() * SPREAD_MS);
    await end(pid);
    const verified = await at.run(CTXD, ['audit', 'verify']);
    expect(verified, `${name} ${made}: ${verified.stdout}${verified.stderr}`).toMatchObject({ code: 0 });
  }
  await load.ended(SESSIONS);
  const account = await load.stop();
  console.log(JSON.stringify({ [name]: ends, ...account }));
  return account;
}

/** The calls start the daemon. */
async function pidOfDaemon(): Promise<number> {
  let pid = 0;
  const read = async (): Promise<number> => {
    pid = (await at.status().catch(() => ({ pid: 0 }))).pid;
    return pid;
  };
  await expect.poll(read, { timeout: 3 * END_MAX_MS }).toBeGreaterThan(0);
  return pid;
}

const NO_LOSS = { lost: [], doubled: [], denied: [], unanswered: [], failedReads: [] };

it(
  'NFR-2.3: a daemon that is killed again and again under load loses no answered call, runs none twice and leaves none unanswered',
  async () => {
    const account = await callsThrough('kills', KILLS, async (pid) => void process.kill(pid, 'SIGKILL'));
    expect(account).toMatchObject({ ...NO_LOSS, refused: {} });
    expect(account.interrupted).toBeGreaterThan(0);
  },
  (KILLS + 3) * END_MAX_MS,
);

it(
  'NFR-2.3: a daemon that is restarted again and again under load answers every call, and runs none twice',
  async () => {
    const account = await callsThrough('restarts', RESTARTS, async () => {
      const { code, stdout, stderr } = await at.run(CTXD, ['server', 'restart']);
      expect({ code, said: stdout + stderr }).toMatchObject({ code: 0 });
    });
    expect(account).toMatchObject({ ...NO_LOSS, refused: {}, interrupted: 0, answered: account.calls });
  },
  (RESTARTS + 3) * END_MAX_MS,
);
