import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../../src/cli/client.ts';
import { makeFiles } from '../lib/files.ts';
import { installForBench } from '../lib/machine.ts';
import { type Contender, race } from '../lib/measure.ts';
import { rowsOf, type Section, type Table } from '../lib/section.ts';

const BASE = 'safe_bash true';
const FILES = [1_000, 10_000, 100_000];
const FILES_PER_DIRECTORY = 100;
const WRITES = 'for i in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM$RANDOM >package-$i/file-1.ts; done';
/** Milliseconds until the next sandbox is ready. */
const REST_MS = 60;

/** What a branch with files of its own costs from its opening to the undo of its merge. */
export const mergesSection: Section = {
  async run({ rounds }, report) {
    for (const files of FILES) report({ tables: [await measure(files, rounds)] });
    return {};
  },
};

async function measure(files: number, rounds: number): Promise<Table> {
  const at = await installForBench({});
  try {
    makeFiles(at.project, files, FILES_PER_DIRECTORY);
    return await at.withDaemon(async (daemon) => {
      let [branch, undo] = ['', ''];
      const contender = (name: string, once: () => Promise<unknown>): Contender => ({
        name,
        once: async () => void (await once()),
        after: () => delay(REST_MS),
      });
      const contenders: Contender[] = [
        contender(BASE, () => daemon.call('safe_bash', { command: 'true' })),
        contender('open', async () => {
          const opened = await daemon.call('branch', { description: 'bench', prompt: 'Measure.', files: 'own' });
          branch = String(JSON.parse(opened).data.branch_id);
        }),
        contender('write ten files in it', () => daemon.call('safe_bash', { command: WRITES, branch })),
        contender('diff', () => at.ctxd('branch', 'diff', branch)),
        contender('return with merge', async () => {
          const returned = await daemon.call('return', { branch, message: 'Measured.', files: 'merge' });
          undo = /undo_[0-9a-z]{8}/.exec(returned)?.[0] ?? '';
        }),
        contender('undo of it', () =>
          withClient(at.paths, (client) => client.undoChanges({ root: at.project, which: undo, partial: false })),
        ),
      ];
      const title = `${files.toLocaleString('en')} files, ms`;
      return { title, base: BASE, rows: rowsOf(await race(contenders, rounds, 1)), aims: [] };
    });
  } finally {
    await at.remove();
  }
}
