import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../../src/cli/client.ts';
import { makeFiles } from '../lib/files.ts';
import { type BenchInstallation, type Caller, installForBench } from '../lib/machine.ts';
import { type Contender, race } from '../lib/measure.ts';
import { rowsOf, type Section, type Table } from '../lib/section.ts';
import { fill, SIZES } from './session.ts';

const BASE = 'safe_bash true';
const FILES = [1_000, 10_000, 100_000];
const FILES_PER_DIRECTORY = 100;
const WRITES = 'for i in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM >package-$i/file-1.ts; done';
const WRITE = 'echo $RANDOM$RANDOM >one-file.txt';
/** Milliseconds until the next sandbox is ready. */
const REST_MS = 60;

/** What it costs to save, restore, start warm, undo and merge: with many events, and with many files. */
export const checkpointsSection: Section = {
  async run({ rounds }, report) {
    report({ tables: [await byEvents(rounds)] });
    for (const files of FILES) report({ tables: [await byFiles(files, rounds)] });
    return {};
  },
};

async function byEvents(rounds: number): Promise<Table> {
  const at = await installForBench({});
  try {
    await at.ctxd('server', 'stop');
    await fill(at);
    await at.ctxd('server', 'start');
    return await at.withDaemon(async (daemon) => {
      const contenders = [baseOf(daemon)];
      for (const events of SIZES) {
        const session = `bench-${events}`;
        const named = (what: string): string => `${what}, ${events.toLocaleString('en')} events`;
        const id = idOf(await daemon.call('checkpoint_save', {}, session));
        contenders.push(
          contender(named('save'), () => daemon.call('checkpoint_save', {}, session)),
          contender(named('restore'), () => daemon.call('checkpoint_restore', { id }, session)),
          contender(named('session_init'), () => daemon.call('session_init', {}, session)),
          { name: named('undo'), once: () => undoMs(at, daemon, session), after: rest },
          { name: named('merge'), once: () => mergeMs(daemon, session), after: rest },
        );
      }
      return { title: 'events, ms', base: BASE, rows: rowsOf(await race(contenders, rounds, 1)), aims: [] };
    });
  } finally {
    await at.remove();
  }
}

async function byFiles(files: number, rounds: number): Promise<Table> {
  const at = await installForBench({});
  try {
    makeFiles(at.project, files, FILES_PER_DIRECTORY);
    return await at.withDaemon(async (daemon) => {
      await daemon.call('safe_bash', { command: WRITES });
      // Until the project has been looked at, a checkpoint is saved without files.
      let saved = await daemon.call('checkpoint_save', {});
      while (saved.includes('files_not_kept')) saved = await daemon.call('checkpoint_save', {});
      const id = idOf(saved);
      let undo = '';
      const apply = async (): Promise<number> => {
        await daemon.call('safe_bash', { command: WRITES });
        await delay(REST_MS);
        const start = performance.now();
        const answer = await daemon.call('checkpoint_restore', { id, files: 'apply', level: 'summary' });
        const ms = performance.now() - start;
        undo = refOf(answer);
        return ms;
      };
      const takeBack = async (): Promise<undefined> => {
        await withClient(at.paths, (client) => client.undoChanges({ root: at.project, which: undo, partial: false }));
        return undefined;
      };
      const contenders: Contender[] = [
        baseOf(daemon),
        contender('save', () => daemon.call('checkpoint_save', {})),
        contender('session_init', () => daemon.call('session_init', {})),
        contender('report', () => daemon.call('checkpoint_restore', { id, files: 'report', level: 'summary' })),
        { name: 'apply to ten files', once: apply, after: rest },
        { name: 'undo of it', once: takeBack, after: rest },
      ];
      const title = `${files.toLocaleString('en')} files, ms`;
      return { title, base: BASE, rows: rowsOf(await race(contenders, rounds, 1)), aims: [] };
    });
  } finally {
    await at.remove();
  }
}

/** Takes back a call that wrote one file. */
async function undoMs(at: BenchInstallation, daemon: Caller, session: string): Promise<number> {
  const which = refOf(await daemon.call('safe_bash', { command: WRITE }, session));
  await rest();
  const start = performance.now();
  await withClient(at.paths, (client) => client.undoChanges({ root: at.project, which, partial: false }));
  return performance.now() - start;
}

/** Returns from a branch that wrote one file of its own. */
async function mergeMs(daemon: Caller, session: string): Promise<number> {
  const about = { description: 'bench', prompt: 'Measure.', files: 'own' };
  const branch = String(JSON.parse(await daemon.call('branch', about, session)).data.branch_id);
  await daemon.call('safe_bash', { command: WRITE, branch }, session);
  await rest();
  const start = performance.now();
  await daemon.call('return', { branch, message: 'Measured.', files: 'merge' }, session);
  return performance.now() - start;
}

const rest = (): Promise<void> => delay(REST_MS);

function baseOf(daemon: Caller): Contender {
  return contender(BASE, () => daemon.call('safe_bash', { command: 'true' }));
}

function contender(name: string, call: () => Promise<string>): Contender {
  const once = async (): Promise<undefined> => {
    await call();
    return undefined;
  };
  return { name, once, after: rest };
}

function refOf(envelope: string): string {
  return /undo_[0-9a-z]{8}/.exec(envelope)?.[0] ?? '';
}

function idOf(envelope: string): string {
  return /cp_[0-9a-z]{10}/.exec(envelope)?.[0] ?? '';
}
