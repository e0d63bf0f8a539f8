import { setTimeout as delay } from 'node:timers/promises';
import { type BenchInstallation, type Caller, installForBench, residentMib } from '../lib/machine.ts';
import type { Fact, Section } from '../lib/section.ts';

const SESSIONS = 16;
/** How many times the resident memory is read during the calls. */
const READINGS = 10;
/** Milliseconds until an idle daemon has released memory. */
const REST_MS = 15_000;
const MINUTE_MS = 60_000;
/** A log of 15 MB. Every line is different and none holds a secret. */
const LARGE = "seq 1 300000 | sed 's/$/ GET \\/index.html 200 an ordinary line of a log/' | head -c 15000000";

/** Resident memory of the daemon: idle, during the calls of many sessions, and after a large output. */
export const memorySection: Section = {
  async run({ calls }) {
    const at = await installForBench({});
    try {
      await at.ctxd('server', 'restart');
      const pid = await at.daemonPid();
      const read = (name: string): Fact => ({ name: `${name}, MiB`, value: residentMib(pid, 'VmRSS') });
      const facts = [read('at its start')];
      await delay(REST_MS);
      facts.push(read('idle'));
      facts.push(...(await at.withDaemon((daemon) => manyCalls(daemon, calls, read))));
      await delay(REST_MS);
      facts.push(read('idle after them'));
      facts.push(...(await largeOutput(at, read)));
      return { tables: [], facts };
    } finally {
      await at.remove();
    }
  },
};

/** The sessions call at the same time; the memory is read after every tenth of the calls. */
async function manyCalls(daemon: Caller, calls: number, read: (name: string) => Fact): Promise<Fact[]> {
  const facts: Fact[] = [];
  const part = Math.ceil(calls / READINGS);
  const start = performance.now();
  for (let done = 0; done < calls; done += part) {
    const numbers = Array.from({ length: Math.min(part, calls - done) }, (_, i) => done + i);
    const one = async (session: number): Promise<void> => {
      for (let i = numbers.pop(); i !== undefined; i = numbers.pop()) {
        await daemon.call('safe_bash', { command: `echo line ${i}` }, `bench-${session}`);
      }
    };
    await Promise.all(Array.from({ length: SESSIONS }, (_, session) => one(session)));
    facts.push(read(`after ${Math.min(done + part, calls)} calls of ${SESSIONS} sessions`));
  }
  const perSecond = Math.round((calls / (performance.now() - start)) * 1000);
  return [...facts, { name: 'calls per second', value: perSecond }];
}

async function largeOutput(at: BenchInstallation, read: (name: string) => Fact): Promise<Fact[]> {
  await at.withDaemon((daemon) => daemon.call('safe_bash', { command: LARGE, timeout_ms: 120_000 }));
  const facts = [read('after an output of 15 MB')];
  await delay(MINUTE_MS);
  return [...facts, read('a minute later')];
}
