import { makeFiles } from '../lib/files.ts';
import { type BenchInstallation, type Caller, installForBench } from '../lib/machine.ts';
import { type Contender, race } from '../lib/measure.ts';
import { type Outcome, rowsOf, type Section } from '../lib/section.ts';

const FILES = 10_000;
const FILES_PER_DIRECTORY = 20;
const WRITES = 'for i in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM >package-$i/file-1.ts; done';

const OFF = 'true, undo.enabled false';
const ON = 'true';
const WRITES_OFF = 'ten files, undo.enabled false';
const WRITES_ON = 'ten files';

/** What it costs to know what a call did to files: two daemons that differ in the setting take turns. */
export const undoSection: Section = {
  async run({ rounds }) {
    const off = await open({ 'undo.enabled': false });
    const on = await open({});
    try {
      return await off.withDaemon((without) => on.withDaemon((watching) => compare(without, watching, rounds)));
    } finally {
      await off.remove();
      await on.remove();
    }
  },
};

async function compare(without: Caller, watching: Caller, rounds: number): Promise<Outcome> {
  const start = performance.now();
  await watching.call('safe_bash', { command: 'true' });
  const first = performance.now() - start;
  const call = (name: string, daemon: Caller, command: string): Contender => ({
    name,
    once: async () => {
      await daemon.call('safe_bash', { command });
      return undefined;
    },
    after: () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS)),
  });
  const idle = rowsOf(await race([call(OFF, without, 'true'), call(ON, watching, 'true')], rounds));
  const busy = rowsOf(await race([call(WRITES_OFF, without, WRITES), call(WRITES_ON, watching, WRITES)], rounds));
  return {
    tables: [
      {
        title: `nothing changes, ${FILES} files, ms`,
        base: OFF,
        rows: idle,
        aims: [{ row: ON, atMost: 1.05, times: OFF }],
      },
      {
        title: `ten files change, ms`,
        base: WRITES_OFF,
        rows: busy,
        aims: [{ row: WRITES_ON, atMost: 2, times: WRITES_OFF }],
      },
    ],
    facts: [{ name: 'first call, ms', value: Math.round(first) }],
  };
}

/** Milliseconds until the next sandbox is ready. */
const SETTLE_MS = 60;

async function open(settings: object): Promise<BenchInstallation> {
  const at = await installForBench(settings);
  makeFiles(at.project, FILES, FILES_PER_DIRECTORY);
  return at;
}
