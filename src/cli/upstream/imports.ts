import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { isErrno } from '../../core/errors.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { writePrivateFile } from '../files/private-file.ts';

/** The last import of a project, with what it takes to undo it. */
export interface ImportRecord {
  readonly root: string;
  readonly servers: readonly string[];
  /** Files of the project, below its root: their texts before and after. They may hold secrets. */
  readonly files: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

/** Null if nothing was imported, or if it was undone. */
export async function readImport(paths: Pick<Paths, 'stateDir'>, root: string): Promise<ImportRecord | null> {
  try {
    // Written below, in a directory that only the person can enter.
    return JSON.parse(await readFile(recordFile(paths, root), 'utf8')) as ImportRecord;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    throw thrown;
  }
}

export async function writeImport(paths: Pick<Paths, 'stateDir'>, record: ImportRecord): Promise<void> {
  await writePrivateFile(recordFile(paths, record.root), JSON.stringify(record));
}

/** Writes the record before the files, so that whatever happens can be undone. */
export async function replaceFiles(paths: Pick<Paths, 'stateDir'>, record: ImportRecord): Promise<void> {
  await writeImport(paths, record);
  const project = OwnedDirectory.at(record.root);
  for (const { path, after } of record.files) project.write(path, after, project.modeOf(path) & 0o777);
}

export async function forgetImport(paths: Pick<Paths, 'stateDir'>, root: string): Promise<void> {
  await rm(recordFile(paths, root), { force: true });
}

export function recordFile({ stateDir }: Pick<Paths, 'stateDir'>, root: string): string {
  return join(stateDir, 'imports', `${createHash('sha256').update(root).digest('hex').slice(0, 24)}.json`);
}
