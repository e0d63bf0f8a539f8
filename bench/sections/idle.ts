import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchInstallation, installForBench } from '../lib/machine.ts';
import { runProcess } from '../lib/measure.ts';
import type { Fact, Section } from '../lib/section.ts';
import { countHoldings, treeMemoryMib } from '../lib/tree.ts';

const PROJECTS = 13;
const FILES_PER_PROJECT = 2_000;
/** Milliseconds. The default is minutes; what is given back is the same. */
const IDLE_MS = 40_000;
/** Milliseconds until the pools are full, and until all that is idle has ended and garbage is collected. */
const SETTLE_MS = 5_000;
const REST_MS = 2 * IDLE_MS + 10_000;

/** Processes and memory of contextd with many projects: in use, and after all of them have been idle. */
export const idleSection: Section = {
  async run() {
    const at = await installForBench({ 'sandbox.idle_ms': IDLE_MS });
    const projects = Array.from({ length: PROJECTS }, makeProject);
    try {
      const facts = [...(await measure(at, 'at the start'))];
      for (const project of projects) await at.ctxd('init', project);
      await Promise.all(projects.map((project) => use(at, project)));
      await delay(SETTLE_MS);
      facts.push(...(await measure(at, `with ${PROJECTS} projects in use`)));
      await delay(REST_MS);
      facts.push(...(await measure(at, 'after all of them were idle')));
      const start = performance.now();
      await use(at, projects[0] ?? '');
      facts.push({ name: 'first calls after that, ms', value: Math.round(performance.now() - start) });
      return { tables: [], facts };
    } finally {
      await at.remove();
      for (const project of projects) rmSync(project, { recursive: true, force: true });
    }
  },
};

function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'bench-'));
  for (let i = 0; i < FILES_PER_PROJECT; i++) {
    const dir = join(project, `dir-${i % 50}`);
    if (i < 50) mkdirSync(dir);
    writeFileSync(join(dir, `file-${i}`), 'text\n');
  }
  return project;
}

async function use({ env }: BenchInstallation, cwd: string): Promise<void> {
  for (const [tool, input] of [
    ['safe_bash', { command: 'true' }],
    ['safe_read', { path: 'dir-0/file-0' }],
  ] as const) {
    await runProcess(join(cwd, `.claude/tools/${tool}/${tool}`), [JSON.stringify(input)], { cwd, env });
  }
}

async function measure(at: BenchInstallation, when: string): Promise<Fact[]> {
  const pid = await at.daemonPid();
  const { processes, daemonMib, spawnerMib } = countHoldings(pid, []);
  return [
    { name: `processes below the daemon ${when}`, value: processes },
    { name: `memory of all processes ${when}, MiB`, value: treeMemoryMib(pid) },
    { name: `of that the daemon, resident MiB`, value: daemonMib },
    { name: `and the spawner, resident MiB`, value: spawnerMib },
  ];
}
