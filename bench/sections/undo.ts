import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/sandbox/snapshots/place.ts';
import { makeFiles } from '../lib/files.ts';
import { type BenchInstallation, type Caller, installForBench } from '../lib/machine.ts';
import { type Contender, race } from '../lib/measure.ts';
import { type Outcome, rowsOf, type Section, type Table } from '../lib/section.ts';

const FILES = 10_000;
const FILES_PER_DIRECTORY = 20;
const WRITES = 'for i in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM >package-$i/file-1.ts; done';

const OFF = 'true, undo.enabled false';
const ON = 'true';
const WRITES_OFF = 'ten files, undo.enabled false';
const WRITES_ON = 'ten files';

const LOOKED_AT = 20_000;
const LOOK_ROUNDS_MAX = 10;
const GIT_ADD = 'git add -A into an empty repository';
const FIRST_LOOK = 'first look of the keeper of files';
/** The program of the keeper, which runs in a sandbox otherwise. */
const KEEPER = fileURLToPath(new URL('../../program/snapshots.js', import.meta.url));

/** What it costs to know what a call did to files: two daemons that differ in the setting take turns. */
export const undoSection: Section = {
  async run({ rounds }) {
    const off = await open({ 'undo.enabled': false });
    const on = await open({});
    try {
      const looks = await firstLooks(Math.min(rounds, LOOK_ROUNDS_MAX));
      const calls = await off.withDaemon((without) => on.withDaemon((watching) => compare(without, watching, rounds)));
      return { ...calls, tables: [...calls.tables, looks] };
    } finally {
      await off.remove();
      await on.remove();
    }
  },
};

/** All contents of a tree are read and kept once, as whole processes, by the keeper and by git. */
async function firstLooks(rounds: number): Promise<Table> {
  const base = mkdtempSync(join(tmpdir(), 'first-look-'));
  const project = join(base, 'project');
  mkdirSync(project);
  makeFiles(project, LOOKED_AT, FILES_PER_DIRECTORY);
  const stores = join(base, 'stores');
  const remove = async (): Promise<void> => rmSync(stores, { recursive: true, force: true });
  try {
    const looks = await race(
      [
        {
          name: GIT_ADD,
          once: async () => {
            const env = { ...process.env, GIT_DIR: stores, GIT_WORK_TREE: project };
            execFileSync('git', ['init', '-q'], { env });
            execFileSync('git', ['add', '-A'], { cwd: project, env });
            return undefined;
          },
          after: remove,
        },
        {
          name: FIRST_LOOK,
          once: async () => {
            const { store } = openStore(stores, project, { kind: 'self' });
            execFileSync(process.execPath, ['--no-warnings', KEEPER, 'keep', project, store], {
              input: '{"do":"sync"}\n',
            });
            return undefined;
          },
          after: remove,
        },
      ],
      rounds,
    );
    return {
      title: `the contents of ${LOOKED_AT} files are kept for the first time, ms`,
      base: GIT_ADD,
      rows: rowsOf(looks),
      aims: [{ row: FIRST_LOOK, atMost: 1, times: GIT_ADD }],
    };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

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
