import { constants, lstat, open, opendir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Entry, Tree } from './tree.ts';

/** Adds the files of a local folder to `tree`. Links that a command swaps in meanwhile are not followed. */
export async function readFolder(folder: string, tree: Tree): Promise<void> {
  try {
    // The person's own path may lead through links.
    const real = await realpath(folder);
    if (!(await lstat(real)).isDirectory()) throw notThere(folder, 'it is not a folder');
    await readDirectory(real, '', tree);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw notThere(folder, thrown.code ?? '', thrown);
    throw thrown;
  }
  await tree.finish();
}

async function readDirectory(folder: string, inside: string, tree: Tree): Promise<void> {
  for await (const { name } of await opendir(join(folder, inside), { encoding: 'buffer' as BufferEncoding })) {
    const path = join(inside, Buffer.isBuffer(name) ? name.toString('utf8') : name);
    if (tree.wants(path)) await readEntry(folder, path, tree);
  }
}

async function readEntry(folder: string, path: string, tree: Tree): Promise<void> {
  const stats = await lstat(join(folder, path));
  const entry: Entry = { path, mode: stats.mode & 0o7777 };
  if (stats.isDirectory()) {
    await tree.directory(entry);
    await readDirectory(folder, path, tree);
  } else if (stats.isFile()) {
    const handle = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await tree.file(entry, handle.createReadStream({ autoClose: false }));
    } finally {
      await handle.close();
    }
  } else if (stats.isSymbolicLink()) {
    await tree.link(entry, 'symbolic', await readlink(join(folder, path)));
  } else {
    tree.other(entry, 'a device, a pipe or a socket');
  }
}

function notThere(folder: string, fault: string, cause?: unknown): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `cannot read the folder ${folder}: ${fault}`, {
    remedy: 'Give the path of a folder that contextd may read.',
    cause,
  });
}
