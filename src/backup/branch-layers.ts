import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type LayerPlace, packedAt, placeOf } from '../sandbox/layers/place.ts';
import { identityFor, ownUid } from '../sandbox/machine/identity.ts';
import { textOf } from '../stores/sqlite.ts';
import { copyIfThere, linkOrCopy } from './files.ts';
import { type PackLimits, packLayer } from './pack-layer.ts';

/** What a branch keeps beside its files: what it was opened on, and what a merge needs. */
const BESIDE = ['open', 'opened', 'copied', 'before'];
const SAID_MAX_CHARS = 300;
const LIMITS: PackLimits = { maxBytes: 4 * 1024 ** 3, withinMs: 1_800_000 };

export interface LeftBranch {
  readonly id: string;
  /** What the program said. */
  readonly why: string;
}

/**
 * Packs the files that only branches have into a backup. Returns the branches whose files cannot be packed: without GNU tar nothing
 * here reads the attributes of an overlay.
 */
export async function exportBranches(
  dir: string,
  state: DatabaseSync,
  layersDir: string,
  limits = LIMITS,
): Promise<LeftBranch[]> {
  const left: LeftBranch[] = [];
  for (const { id, project } of branchesWithFiles(state)) {
    const place = placeOf(layersDir, project, id);
    const to = join(dir, 'layers', relative(layersDir, place.dir));
    try {
      await mkdir(to, { recursive: true, mode: 0o700 });
      for (const name of BESIDE) await copyIfThere(join(place.dir, name), join(to, name));
      await packFiles(project, place, to, limits);
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

async function packFiles(project: string, place: LayerPlace, to: string, limits: PackLimits): Promise<void> {
  for (const { packed, files } of packedAt(place)) {
    const target = join(to, relative(place.dir, packed));
    // A restored branch that was not used since.
    if (await linkOrCopy(packed, target)) return;
    if (!existsSync(files)) continue;
    await packLayer(identityFor(project, ownUid()), files, target, limits);
    return;
  }
  throw new Error('they are gone');
}
