import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { OVERLAY_ATTRIBUTES, packedAt, placeOf } from '../sandbox/layers/place.ts';
import { textOf } from '../stores/sqlite.ts';
import { copyIfThere, linkOrCopy } from './files.ts';

const run = promisify(execFile);

/** What a branch keeps beside its files: what it was opened on, and what a merge needs. */
const BESIDE = ['open', 'opened', 'copied', 'before'];
const SAID_MAX_CHARS = 300;

export interface LeftBranch {
  readonly id: string;
  /** What the program said. */
  readonly why: string;
}

/**
 * Packs the files that only branches have into a backup. Returns the branches whose files cannot be packed: without GNU tar nothing
 * here reads the attributes of an overlay.
 */
export async function exportBranches(dir: string, state: DatabaseSync, layersDir: string): Promise<LeftBranch[]> {
  const left: LeftBranch[] = [];
  for (const { id, project } of branchesWithFiles(state)) {
    const place = placeOf(layersDir, project, id);
    const to = join(dir, 'layers', relative(layersDir, place.dir));
    try {
      await mkdir(to, { recursive: true, mode: 0o700 });
      for (const name of BESIDE) await copyIfThere(join(place.dir, name), join(to, name));
      await packFiles(place, to);
    } catch (thrown) {
      await rm(to, { recursive: true, force: true });
      left.push({ id, why: (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, SAID_MAX_CHARS) });
    }
  }
  return left;
}

export function branchesWithFiles(state: DatabaseSync): { id: string; project: string }[] {
  return state
    .prepare(`SELECT id, project FROM branches WHERE files_state IN ('open', 'merging') ORDER BY id`)
    .all()
    .map((row) => ({ id: textOf(row, 'id'), project: textOf(row, 'project') }));
}

async function packFiles(place: ReturnType<typeof placeOf>, to: string): Promise<void> {
  for (const { packed, files } of packedAt(place)) {
    const target = join(to, relative(place.dir, packed));
    // A restored branch that was not used since.
    if (existsSync(packed)) await linkOrCopy(packed, target);
    else if (existsSync(files)) await pack(files, target);
    else continue;
    return;
  }
  throw new Error('they are gone');
}

/** As an ordinary user it takes a namespace: a command in the branch may have made files that their owner cannot read. */
async function pack(files: string, target: string): Promise<void> {
  const asRoot = process.getuid?.() === 0 ? [] : ['unshare', '--user', '--map-root-user', '--'];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const argv = [
    ...asRoot,
    'tar',
    '-c',
    '--one-file-system',
    ...owner,
    ...OVERLAY_ATTRIBUTES,
    '-f',
    target,
    '-C',
    files,
    '.',
  ];
  const [program = '', ...args] = argv;
  try {
    await run(program, args, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } });
  } catch (thrown) {
    // 1: a file was written meanwhile. The backup has it as it was in the middle of that, as after a loss of power.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 1) return;
    throw thrown;
  }
}
