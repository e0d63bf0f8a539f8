import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { projectFolder } from '../core/project-folder.ts';
import { identityFor } from '../sandbox/machine/identity.ts';
import { movedStoreOf, placeOf } from '../sandbox/snapshots/place.ts';
import { projectFileOf } from './entry-paths.ts';
import { copyIfThere, linkOrCopy, namesIn } from './files.ts';
import { endedCalls, recordedMs } from './undo-content.ts';

/** Times that the contents are listed: packs are replaced while the daemon goes on. */
const TRIES = 5;

/**
 * Copies what undo, checkpoints and branches know of the files of a project into a backup. None of it depends on a key: contents
 * have the name that git gives them. Returns false if the project has no directory on this machine, and then copies nothing. `madeMs`: what came
 * later is left out.
 */
export async function exportUndo(dir: string, project: string, undoDir: string, madeMs: number): Promise<boolean> {
  const store = storeOf(project, undoDir);
  if (store === null) return false;
  const folder = projectFolder(project);
  const to = join(dir, 'undo');
  // What refers to contents is copied before them, so that none of it refers to a content that came later.
  const named = ['records', 'trees'].map((kind) => join(kind, folder));
  for (const place of named) await copyFiles(join(undoDir, place), to, place, madeMs);
  await copyCalls(join(undoDir, 'calls', folder), join(to, 'calls', folder), madeMs);
  const moved = join('moved', folder);
  await copyOne(join(store, 'files'), to, join(moved, 'files'), copyIfThere);
  await linkContents(store, to, moved);
  // What was dropped meanwhile may have lost its contents.
  for (const place of named) {
    const left = new Set(await namesIn(join(undoDir, place)));
    for (const name of await namesIn(join(to, place))) if (!left.has(name)) await rm(join(to, place, name));
  }
  return true;
}

/** Null if the directory of the project is gone: nothing says as whom it worked. */
function storeOf(project: string, undoDir: string): string | null {
  const moved = movedStoreOf(undoDir, project);
  if (existsSync(moved)) return moved;
  try {
    return placeOf(undoDir, project, identityFor(project, process.getuid?.() ?? 0)).store;
  } catch {
    return null;
  }
}

async function copyFiles(from: string, to: string, place: string, madeMs: number): Promise<void> {
  for (const name of await namesIn(from)) {
    const path = join(place, name);
    // A restore refuses records that are newer than the backup.
    if ((recordedMs(`undo/${path}`) ?? 0) <= madeMs) await copyOne(join(from, name), to, path, linkOrCopy);
  }
}

/** Leaves out drafts and whatever else is no file of a backup. */
async function copyOne(from: string, to: string, path: string, copy: typeof linkOrCopy): Promise<boolean> {
  if (projectFileOf(`undo/${path}`) === null) return true;
  const target = join(to, path);
  if (existsSync(target)) return true;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  return copy(from, target);
}

async function linkContents(store: string, to: string, moved: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    let isWhole = true;
    for (const fan of await namesIn(join(store, 'objects'))) {
      const place = join('objects', fan);
      if (fan.startsWith('tmp_obj_')) continue;
      for (const name of await namesIn(join(store, place)))
        isWhole = (await copyOne(join(store, place, name), to, join(moved, place, name), linkOrCopy)) && isWhole;
    }
    if (isWhole) return;
  }
}

/** Without the calls that go on. */
async function copyCalls(from: string, to: string, madeMs: number): Promise<void> {
  const calls = endedCalls(await textOf(from), madeMs);
  if (calls === '') return;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await writeFile(to, calls, { mode: 0o600 });
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
