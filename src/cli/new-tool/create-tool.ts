import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { realDirectory } from '../files/real-directory.ts';

/** What a tool can be made in. Each has a folder of templates. */
export const LANGUAGES = ['ts', 'go', 'python', 'sh'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface NewTool {
  name: string;
  language: Language;
  /** Absolute; becomes the tool's own folder. */
  dir: string;
}

/** Stands for the name of the tool in the templates, which are a tool of this name. */
const PLACEHOLDER = 'tool_name';

/**
 * Makes a tool from the templates below `sdkSourceDir`, with a copy of the SDK for Go. Returns its files, sorted. The folder
 * appears when it is complete. Throws CONFLICT if there is something in it already.
 */
export async function createTool({ name, language, dir }: NewTool, sdkSourceDir: string): Promise<string[]> {
  const templates = join(sdkSourceDir, 'templates');
  const named = (text: string): string => text.replaceAll(PLACEHOLDER, name);
  const files = [...(await readTree(join(templates, 'common'))), ...(await readTree(join(templates, language)))].map(
    (file) => ({ ...file, text: named(file.text) }),
  );
  if (language === 'go')
    for (const file of await readTree(join(sdkSourceDir, 'go'), SDK_FILE))
      files.push({ ...file, path: `contextd/${file.path}` });
  place(files, dir, name);
  return files.map(({ path }) => path).sort();
}

/** The files of the Go SDK that a tool needs: its tests and checksums stay. */
const SDK_FILE = /(?<!_test)\.go$|^go\.mod$/;

interface NewFile {
  /** Relative to the folder of the tool. */
  path: string;
  text: string;
  mode: number;
}

async function readTree(from: string, which = /./): Promise<NewFile[]> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const wanted = paths.map((path) => path.slice(from.length + 1)).filter((path) => which.test(path));
  return Promise.all(
    wanted.map(async (path) => {
      const isProgram = ((await stat(join(from, path))).mode & 0o111) !== 0;
      return { path, text: await readFile(join(from, path), 'utf8'), mode: isProgram ? 0o755 : 0o644 };
    }),
  );
}

/** Makes the folder of the tool, or fills an empty one that is there, such as the current directory. Anything else stays. */
function place(files: readonly NewFile[], dir: string, name: string): void {
  try {
    const existing = openIfThere(dir);
    if (existing === null) makeWhole(openOrMake(dirname(dir)), basename(dir), files);
    else fill(existing, files, name);
  } catch (cause) {
    if (isErrno(cause)) throw unplaced(dir, name, cause);
    throw cause;
  }
}

/** Writes the files beside their place, then renames the folder, which appears when it is complete. */
function makeWhole(parent: OwnedDirectory, name: string, files: readonly NewFile[]): void {
  const staging = `.${name}.${process.pid}`;
  write(parent, `${staging}/`, files, () => parent.rename(staging, name));
}

/** A shell may be in the directory, so it is not replaced by another one. */
function fill(directory: OwnedDirectory, files: readonly NewFile[], name: string): void {
  if (directory.entries('').length > 0) throw thereAlready(directory.path, name);
  write(directory, '', files, () => {});
}

/** Writes all of the files or, if one fails, none. */
function write(into: OwnedDirectory, prefix: string, files: readonly NewFile[], finish: () => void): void {
  const made: string[] = [];
  const written: string[] = [];
  try {
    for (const file of files) {
      const path = `${prefix}${file.path}`;
      makeMissing(into, dirname(path), made);
      into.create(path, file.text, file.mode);
      written.push(path);
    }
    finish();
  } catch (cause) {
    for (const path of written) into.remove(path);
    for (const path of made.toReversed()) into.removeDirectory(path);
    throw cause;
  }
}

function thereAlready(dir: string, name: string, cause?: unknown): ContextdError {
  return new ContextdError('CONFLICT', `${dir} is there already and is not empty`, {
    remedy: `A tool needs a folder of its own, new or empty: --dir ./${name}`,
    cause,
  });
}

function unplaced(dir: string, name: string, cause: NodeJS.ErrnoException): ContextdError {
  if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(cause.code ?? '')) return thereAlready(dir, name, cause);
  if (cause.code === 'ENOSPC' || cause.code === 'EDQUOT') return ContextdError.from(cause);
  return new ContextdError('PATH_INVALID', `${dir} cannot be written (${cause.code})`, {
    remedy: 'Name a folder with --dir in a directory that its owner can write.',
    cause,
  });
}

/** The directory at a path, made if it is missing. */
function openOrMake(path: string): OwnedDirectory {
  const existing = openIfThere(path);
  if (existing !== null) return existing;
  const above = openOrMake(dirname(path));
  above.makeDirectory(basename(path), 0o777);
  return OwnedDirectory.at(join(above.path, basename(path)), above.user);
}

function openIfThere(path: string): OwnedDirectory | null {
  try {
    return OwnedDirectory.at(realDirectory(path));
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return null;
    throw cause;
  }
}

function makeMissing(parent: OwnedDirectory, path: string, made: string[]): void {
  const names = path.split('/').filter((name) => name !== '.');
  for (const depth of names.keys()) {
    const directory = names.slice(0, depth + 1).join('/');
    if (made.includes(directory)) continue;
    parent.makeDirectory(directory, 0o777);
    made.push(directory);
  }
}
