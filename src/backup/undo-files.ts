import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { projectFolder } from '../core/project-folder.ts';
import { identityFor, idsOutside, ownUid } from '../sandbox/machine/identity.ts';
import { movedStoreOf, placeOf } from '../sandbox/snapshots/place.ts';
import { projectFileOf } from './entry-paths.ts';
import { linkOrCopy, namesIn } from './files.ts';
import { copyOwned, namesInOwned } from './owned-files.ts';
import { endedCalls, recordedMs } from './undo-content.ts';

/** Times that the contents are listed: packs are replaced while the daemon goes on. */
const TRIES = 5;
/** Of a file of a store. contextd makes none that is larger. */
const FILE_MAX_BYTES = 512 * 1024 * 1024;

/**
 * Copies what undo, checkpoints and branches know of the files of a project into a backup. None of it depends on a key: contents
 * have the name that git gives them. Returns false if the project has no directory on this machine, and then copies nothing. `madeMs`: what came
 * later is left out.
 */
export async function exportUndo(dir: string, project: string, undoDir: string, madeMs: number): Promise<boolean> {
  if (storeOf(project, undoDir) === null) return false;
  const folder = projectFolder(project);
  const to = join(dir, 'undo');
  // What refers to contents is copied before them, so that none of it refers to a content that came later.
  const named = ['records', 'trees'].map((kind) => join(kind, folder));
  for (const place of named) await copyFiles(join(undoDir, place), to, place, madeMs);
  await copyCalls(join(undoDir, 'calls', folder), join(to, 'calls', folder), madeMs);
  await copyStore(() => storeOf(project, undoDir), to, join('moved', folder));
  // What was dropped meanwhile may have lost its contents.
  for (const place of named) {
    const left = new Set(await namesIn(join(undoDir, place)));
    for (const name of await namesIn(join(to, place))) if (!left.has(name)) await rm(join(to, place, name));
  }
  return true;
}

interface Store {
  readonly dir: string;
  /** Whose files are in it. */
  readonly uid: number;
}

/** Null if the directory of the project is gone: nothing says as whom it worked. */
function storeOf(project: string, undoDir: string): Store | null {
  const moved = movedStoreOf(undoDir, project);
  if (existsSync(moved)) return { dir: moved, uid: ownUid() };
  try {
    const identity = identityFor(project, ownUid());
    return { dir: placeOf(undoDir, project, identity).store, uid: idsOutside(identity).uid };
  } catch {
    return null;
  }
}

async function copyFiles(from: string, to: string, place: string, madeMs: number): Promise<void> {
  for (const name of await namesIn(from)) {
    const path = join(place, name);
    // A restore refuses records that are newer than the backup.
    if ((recordedMs(`undo/${path}`) ?? 0) > madeMs) continue;
    const target = await targetOf(to, path);
    if (target !== null) await linkOrCopy(join(from, name), target);
  }
}

/** Null for drafts and whatever else is no file of a backup, and for what is there already. */
async function targetOf(to: string, path: string): Promise<string | null> {
  const target = join(to, path);
  if (projectFileOf(`undo/${path}`) === null || existsSync(target)) return null;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  return target;
}

/** Once more if a content was gone: a pack of contents takes the place of others while the daemon goes on. */
async function copyStore(find: () => Store | null, to: string, moved: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const store = find();
    if (store === null || !existsSync(store.dir)) return;
    if (await copyContents({ ...store, dir: await realpath(store.dir) }, to, moved)) return;
  }
}

/** False if something was gone. */
async function copyContents({ dir, uid }: Store, to: string, moved: string): Promise<boolean> {
  const objects = namesInOwned(join(dir, 'objects')).map((fan) => join('objects', fan));
  const contents = objects.flatMap((fan) => namesInOwned(join(dir, fan)).map((name) => join(fan, name)));
  let isWhole = true;
  for (const path of ['files', ...contents]) {
    const target = await targetOf(to, join(moved, path));
    if (target === null) continue;
    const copied = copyOwned(join(dir, path), target, uid, FILE_MAX_BYTES);
    if (copied === 'gone' && path !== 'files') isWhole = false;
  }
  return isWhole;
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
