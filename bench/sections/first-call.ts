import { readFileSync } from 'node:fs';
import { type BenchInstallation, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { race, runProcess, spreadOf } from '../lib/measure.ts';
import { type Outcome, rowsOf, type Section, type SectionOptions } from '../lib/section.ts';

const NODE = 'node -e 0 (Node 24)';
const FIRST = 'safe_bash true, no daemon running';
const NEXT = 'safe_bash true, the call after it';
const STARTED = 'part of the first call: the daemon, from start to ready';

/** A call that has to start the daemon, compared with starting the Node that the daemon runs on. */
export const firstCallSection: Section = {
  async run(options) {
    const at = await installForBench({});
    try {
      return await compare(at, options);
    } finally {
      await at.remove();
    }
  },
};

async function compare(at: BenchInstallation, { rounds }: SectionOptions): Promise<Outcome> {
  const call = async (): Promise<undefined> => {
    await runProcess(SAFE_BASH_LINK, ['{"command":"true"}'], { cwd: at.project, env: at.env });
  };
  const measured = await race(
    [
      { name: NODE, once: async () => void (await runProcess(process.execPath, ['-e', '0'])) },
      { name: FIRST, once: call },
      { name: NEXT, once: call, after: async () => void (await at.ctxd('server', 'stop')) },
    ],
    rounds,
  );
  const started = { name: STARTED, times: spreadOf(startTimes(at).slice(-rounds)), note: '' };
  const aims = [
    { row: FIRST, atMost: 600, times: null },
    { row: STARTED, atMost: 400, times: null },
  ];
  return { tables: [{ title: 'one call, ms', base: NODE, rows: [...rowsOf(measured), started], aims }], facts: [] };
}

/** The daemon logs how long each of its starts took. */
function startTimes(at: BenchInstallation): number[] {
  const lines = readFileSync(at.paths.logFile, 'utf8').split('\n');
  return lines.filter((line) => line.includes('"daemon.ready"')).map((line) => Number(JSON.parse(line).start_ms));
}
