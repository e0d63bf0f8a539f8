import { lstat, mkdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { ownerOf, type ServiceDefinition } from './definition.ts';

type Definition = Pick<ServiceDefinition, 'file' | 'text'>;

/** Writes the file. Returns what was done. Throws CONFLICT, and changes nothing, if another hand wrote or changed what is there. */
export async function writeService({ file, text }: Definition): Promise<'written' | 'replaced' | 'unchanged'> {
  const present = await readOwn(file);
  if (present === text) return 'unchanged';
  await mkdir(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}.tmp`;
  await writeFile(unfinished, text, { flag: 'wx', mode: 0o644 });
  await rename(unfinished, file);
  return present === null ? 'written' : 'replaced';
}

/** Removes the file, and the link by which systemd starts it. Returns false if it is not there. Throws CONFLICT as above. */
export async function removeService({ file }: Definition): Promise<boolean> {
  const isThere = (await readOwn(file)) !== null;
  if (isThere) await rm(file);
  const wanted = join(dirname(file), 'default.target.wants', basename(file));
  if ((await linkTarget(wanted)) === file) await rm(wanted);
  return isThere;
}

/** Null if there is no file. */
async function readOwn(file: string): Promise<string | null> {
  try {
    if (!(await lstat(file)).isFile()) throw refused(file, 'is no regular file');
    const text = await readFile(file, 'utf8');
    const owner = ownerOf(text);
    if (owner === 'own') return text;
    throw refused(file, owner === 'foreign' ? 'was not written by ctxd' : 'was changed after ctxd wrote it');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

async function linkTarget(link: string): Promise<string | null> {
  try {
    return resolve(dirname(link), await readlink(link));
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EINVAL')) return null;
    throw error;
  }
}

function refused(file: string, why: string): ContextdError {
  return new ContextdError('CONFLICT', `${file} ${why}`, {
    remedy:
      'It stays as it is. Move it elsewhere and run the command again; `ctxd server install --print` shows what ctxd would write.',
  });
}
