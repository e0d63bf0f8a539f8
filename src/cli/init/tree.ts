import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';

/** What exists at a path of the project. Links are not followed. */
export type Found =
  | { kind: 'missing' }
  | { kind: 'directory' }
  | { kind: 'file'; text: string; mode: number }
  | { kind: 'link'; target: string }
  | { kind: 'other'; name: string };

const FILE_MAX_BYTES = 1024 * 1024;

/**
 * Looks at a path below the root. Throws CONFLICT if a parent is not a real directory, such as a link that leads out of
 * the project: nothing is read or written through it.
 */
export async function inspect(root: string, path: string): Promise<Found> {
  if (!(await hasRealParents(root, path))) return { kind: 'missing' };
  const full = join(root, path);
  const stats = await lstatOrMissing(full);
  if (stats === undefined) return { kind: 'missing' };
  if (stats.isDirectory()) return { kind: 'directory' };
  if (stats.isSymbolicLink()) return { kind: 'link', target: await readlink(full) };
  return stats.isFile() ? readSmallFile(full, path) : { kind: 'other', name: 'neither a file nor a directory' };
}

/** What was found, in words. */
export function describeFound(found: Found): string {
  if (found.kind === 'link') return `a symbolic link to ${found.target}`;
  return found.kind === 'other' ? found.name : `a ${found.kind}`;
}

async function hasRealParents(root: string, path: string): Promise<boolean> {
  const parent = dirname(path);
  if (parent === '.') return true;
  if (!(await hasRealParents(root, parent))) return false;
  const stats = await lstatOrMissing(join(root, parent));
  if (stats === undefined) return false;
  if (stats.isDirectory()) return true;
  throw new ContextdError(
    'CONFLICT',
    `${parent} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a directory'}`,
    {
      remedy: `contextd writes only inside the project. Replace ${parent} by a directory, then run this again.`,
      details: { path: parent },
    },
  );
}

async function lstatOrMissing(full: string) {
  try {
    return await lstat(full);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Does not follow a link or wait for a pipe that has replaced the file meanwhile. */
async function readSmallFile(full: string, path: string): Promise<Found> {
  const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { kind: 'other', name: 'no longer a file' };
    if (stats.size > FILE_MAX_BYTES)
      return { kind: 'other', name: `a file of ${stats.size} bytes (limit ${FILE_MAX_BYTES})` };
    const text = decode(await handle.readFile());
    return text === undefined
      ? { kind: 'other', name: `not UTF-8 text` }
      : { kind: 'file', text, mode: stats.mode & 0o777 };
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new ContextdError('CONFLICT', `cannot read ${path} (${error.code})`, { cause: error, details: { path } });
  } finally {
    await handle.close();
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
