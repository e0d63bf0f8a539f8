import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchInstallation, installForBench, residentMib, SAFE_BASH_LINK } from '../lib/machine.ts';
import { spreadOf } from '../lib/measure.ts';
import type { Section } from '../lib/section.ts';
import { countHoldings } from '../lib/tree.ts';

const STARTS = 7;

/** How long the daemon takes to start, and the memory of the daemon and of a call. */
export const daemonSection: Section = {
  async run() {
    const at = await installForBench({});
    try {
      const samples: number[] = [];
      for (let i = 0; i < STARTS; i++) samples.push(await restart(at));
      const row = { name: 'from spawn to ready', times: spreadOf(samples), note: '' };
      const idle = countHoldings(await at.daemonPid(), []);
      return {
        tables: [{ title: 'start, ms', base: null, rows: [row], aims: [] }],
        facts: [
          { name: 'memory of the idle daemon, MiB', value: idle.daemonMib },
          { name: 'memory of its spawner, MiB', value: idle.spawnerMib },
          { name: 'peak memory of the proxy, MiB', value: await proxyMemory(at) },
        ],
      };
    } finally {
      await at.remove();
    }
  },
};

/** Returns the milliseconds from spawn until the daemon logs that it is ready. */
async function restart(at: BenchInstallation): Promise<number> {
  await at.ctxd('server', 'stop');
  const start = performance.now();
  const child = spawn(at.paths.launcher, ['serve', '--foreground'], {
    cwd: '/',
    env: at.env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stderr.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (!seen.includes('"daemon.ready"')) return;
      resolve(performance.now() - start);
      child.stderr.removeAllListeners('data').resume();
      child.unref();
    });
    child.on('exit', () => reject(new Error(`the daemon did not start: ${seen}`)));
  });
}

/** Reads the proxy's memory while the command runs; the file that the command writes shows that it does. */
async function proxyMemory(at: BenchInstallation): Promise<number | null> {
  const proxy = spawn(SAFE_BASH_LINK, ['{"command":"echo begun > begun; sleep 1"}'], {
    cwd: at.project,
    env: at.env,
    stdio: 'ignore',
  });
  const done = new Promise((resolve) => proxy.on('exit', resolve));
  while (!readdirSync(join(at.project)).includes('begun')) await delay(10);
  const resident = residentMib(proxy.pid ?? 0, 'VmHWM');
  await done;
  return resident;
}
