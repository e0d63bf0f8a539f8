import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { type Installation, install } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const SESSIONS = 8;
/** About five minutes on a quiet machine, and in `npm run nightly` more than an hour. */
const ROUNDS = AT_NIGHT ? 400 : 24;
const CALLS_OF_ROUND = 240;
/**
 * Rounds until the same secrets come again. Each new one is remembered, which costs 10 KiB (test/unit/scrub/vault/known-values.test.ts):
 * an hour of new ones would look like a leak.
 */
const ROUNDS_OF_SECRETS = 25;
/** Rounds from one line of the log to the next. */
const SHOWN_EVERY = 20;
/** Rounds until caches, pools and heaps have their size. */
const WARM_ROUNDS = 4;
/** Of issue 37: resident memory between 1,000 and 5,000 calls. */
const MEMORY_GROWTH = 1.1;
/** Bytes of the state for a call: its audit record, its row in the journal and its stored output. */
const STATE_OF_CALL = 24 * 1024;

/** What a day of an agent has: reads, writes, failures, large outputs, secrets, and processes that are left running. */
const KINDS: readonly ((id: string) => readonly [string, object])[] = [
  (id) => ['safe_bash', { command: `echo ${id} > made-${id}; cat made-${id}; rm made-${id}` }],
  () => ['safe_bash', { command: 'seq 20000' }],
  () => ['safe_bash', { command: 'cat missing; exit 3' }],
  () => ['safe_read', { path: 'constant' }],
  (id) => ['safe_write', { path: `written-${id.slice(-1)}`, content: `${id}\n` }],
  (id) => ['safe_bash', { command: `echo "password = $(echo ${id} | sha256sum)"; (sleep 600 &)` }],
];

interface Holdings {
  /** MiB that everything of contextd in Node has resident: the daemon, the spawner, core tools, snapshots. */
  memory: number;
  descriptors: number;
  processes: number;
  /** Bytes of the state on the disk. */
  state: number;
}

let at: Installation;
let callers: DaemonCaller[];
beforeAll(async () => {
  at = await install();
  await at.run('sh', ['-c', 'echo constant > constant']);
  callers = await Promise.all(Array.from({ length: SESSIONS }, (_, session) => openCaller(at, `soak-${session}`)));
});
afterAll(async () => {
  for (const caller of callers) caller.close();
  await at.remove();
});

async function callRound(round: number): Promise<void> {
  await Promise.all(
    callers.map(async (caller, session) => {
      for (let number = session; number < CALLS_OF_ROUND; number += SESSIONS) {
        const [tool, input] = KINDS[number % KINDS.length]?.(`${round % ROUNDS_OF_SECRETS}-${number}`) ?? [
          'safe_bash',
          { command: 'true' },
        ];
        const { envelope } = await caller.call(tool, input);
        expect(envelope.success, envelope.error ?? '').toBe(true);
      }
    }),
  );
}

async function holdings(): Promise<Holdings> {
  const { pid } = await at.status();
  const pids = [pid, ...childrenOf(pid)];
  // Sandboxes come and go; what serves them stays.
  const own = pids.filter((one) => read(`/proc/${one}/cmdline`).split('\0')[0]?.endsWith('/node'));
  const resident = own.map((one) => Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${one}/status`))?.[1] ?? 0));
  return {
    memory: resident.reduce((sum, kib) => sum + kib, 0) / 1024,
    descriptors: own.reduce((sum, one) => sum + readdirSync(`/proc/${one}/fd`).length, 0),
    processes: pids.length,
    state: bytesBelow(at.home),
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Of every thread, and of their children. */
function childrenOf(pid: number): number[] {
  const tasks = read(`/proc/${pid}/stat`) === '' ? [] : readdirSync(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...childrenOf(child)]);
}

function bytesBelow(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}

it(
  'NFR-2.3: thousands of calls leave memory, descriptors, processes and the disk as the first hundreds did',
  async () => {
    for (let round = 0; round < WARM_ROUNDS; round++) await callRound(round);
    const before = await holdings();
    for (let round = WARM_ROUNDS; round < ROUNDS; round++) {
      await callRound(round);
      // If it is not flat, this says when it grew.
      if (round % SHOWN_EVERY === 0) console.log(JSON.stringify({ round, ...(await holdings()) }));
    }
    const calls = (ROUNDS - WARM_ROUNDS) * CALLS_OF_ROUND;
    let after = await holdings();
    // The heap is given back, and sandboxes that wait are replaced, once no call comes for some seconds.
    const isFlat = async (): Promise<Partial<Record<keyof Holdings, number>>> => {
      after = await holdings();
      const growth = {
        memory: after.memory / before.memory - MEMORY_GROWTH,
        descriptors: after.descriptors - before.descriptors,
        processes: after.processes - before.processes,
        state: (after.state - before.state) / calls - STATE_OF_CALL,
      };
      return Object.fromEntries(Object.entries(growth).filter(([, over]) => over > 0));
    };
    await expect.poll(isFlat, { timeout: 60_000 }).toEqual({});
    console.log(JSON.stringify({ calls, before, after }));
  },
  AT_NIGHT ? 7_200_000 : 1_800_000,
);
