import { makeFiles } from '../lib/files.ts';
import { type BenchInstallation, type Caller, installForBench } from '../lib/machine.ts';
import { type Contender, race, timed } from '../lib/measure.ts';
import { type Fact, rowsOf, type Section, type Table } from '../lib/section.ts';

const SIZES = [1_000, 10_000];
const FILES_PER_DIRECTORY = 20;
/** Milliseconds until the next sandbox is ready. */
const SETTLE_MS = 60;
/** By what happens. Each place writes files of its own: otherwise the return finds conflicts. */
const WORK: Readonly<Record<string, (place: string) => string>> = {
  'nothing happens': () => 'true',
  'ten files are written': (place) => `for i in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM >package-$i/${place}.ts; done`,
  'every file is looked at': () => 'find . -size +1k | wc -l',
};

/** The same call on the base and in a branch whose files lie over it, in turn. */
export const branchFilesSection: Section = {
  async run({ rounds }) {
    const tables: Table[] = [];
    const facts: Fact[] = [];
    for (const files of SIZES) {
      const at = await open(files);
      try {
        await at.withDaemon(async (daemon) => {
          const measured = await compare(daemon, files, rounds);
          tables.push(...measured.tables);
          facts.push(...measured.facts);
        });
      } finally {
        await at.remove();
      }
    }
    return { tables, facts };
  },
};

async function compare(daemon: Caller, files: number, rounds: number): Promise<{ tables: Table[]; facts: Fact[] }> {
  await daemon.call('safe_bash', { command: 'true' });
  let branch = '';
  const opening = await timed(async () => {
    const input = { description: 'bench', prompt: 'Measure.', files: 'own', budget_tokens: 200_000 };
    branch = String(JSON.parse(await daemon.call('branch', input)).data.branch_id);
    return undefined;
  });
  const first = await timed(async () => void (await daemon.call('safe_bash', { command: 'true', branch })));
  const contender = (name: string, command: string, more: object): Contender => ({
    name,
    once: async () => void (await daemon.call('safe_bash', { command, ...more })),
    after: () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS)),
  });
  const tables: Table[] = [];
  for (const [title, command] of Object.entries(WORK)) {
    const contenders = [contender('base', command('file-1'), {}), contender('branch', command('file-2'), { branch })];
    tables.push({
      title: `${title}, ${files} files, ms`,
      base: 'base',
      rows: rowsOf(await race(contenders, rounds)),
      aims: [],
    });
  }
  const returning = await timed(
    async () => void (await daemon.call('return', { branch, message: 'Measured.', files: 'merge' })),
  );
  const named = (what: string, ms: number): Fact => ({ name: `${what}, ${files} files, ms`, value: Math.round(ms) });
  return { tables, facts: [named('open', opening), named('first call', first), named('return', returning)] };
}

async function open(files: number): Promise<BenchInstallation> {
  const at = await installForBench({});
  makeFiles(at.project, files, FILES_PER_DIRECTORY);
  return at;
}
