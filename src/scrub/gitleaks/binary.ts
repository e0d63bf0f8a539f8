import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { GO_MODULE } from './pinned.ts';

/** Where gitleaks may be: directories of contextd and those of the user's PATH. */
export interface GitleaksPlaces {
  /** Directories of contextd, in the order in which they are searched. */
  directories: readonly string[];
  /** PATH as the environment has it; "" for none. */
  searchPath: string;
}

export interface GitleaksBinary {
  /** Absolute, links resolved. */
  path: string;
  /** Such as "8.30.1"; null if the program does not tell. */
  version: string | null;
}

const NAME = 'gitleaks';

/**
 * Returns our own copy, otherwise the first on PATH; null if there is no gitleaks. Relative directories of PATH are
 * ignored.
 */
export async function findBinary({ directories, searchPath }: GitleaksPlaces): Promise<GitleaksBinary | null> {
  return (await firstIn(directories)) ?? (await findOnPath(searchPath));
}

export function findOnPath(searchPath: string): Promise<GitleaksBinary | null> {
  return firstIn(searchPath.split(delimiter).filter((entry) => isAbsolute(entry)));
}

async function firstIn(directories: readonly string[]): Promise<GitleaksBinary | null> {
  for (const directory of directories) {
    const found = await binaryIn(directory);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the gitleaks of a directory if it is the Go program and not a script of the same name. */
export async function binaryIn(directory: string): Promise<GitleaksBinary | null> {
  const file = join(directory, NAME);
  try {
    await access(file, constants.X_OK);
    if (!(await stat(file)).isFile()) return null;
    const bytes = await readFile(file);
    return isGitleaks(bytes) ? { path: await realpath(file), version: versionOf(bytes) } : null;
  } catch (error) {
    if (isErrno(error)) return null;
    throw error;
  }
}

/** What the linker recorded about the module; a release also has a version flag. */
const BUILD_INFO = `mod\t${GO_MODULE}\t`;
const RELEASE_FLAG = `${GO_MODULE}/version.Version=`;

function isGitleaks(bytes: Buffer): boolean {
  return bytes.includes(`path\t${GO_MODULE}\n`) || bytes.includes(BUILD_INFO);
}

function versionOf(bytes: Buffer): string | null {
  return semverAfter(bytes, BUILD_INFO) ?? semverAfter(bytes, RELEASE_FLAG);
}

function semverAfter(bytes: Buffer, marker: string): string | null {
  const at = bytes.indexOf(marker);
  if (at === -1) return null;
  const text = bytes.toString('latin1', at + marker.length, at + marker.length + 40);
  return /^v?(\d+\.\d+\.\d+)\b/.exec(text)?.[1] ?? null;
}
