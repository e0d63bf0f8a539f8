import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { fdPath, O_PATH } from '../../core/descriptors.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isRoot } from './act-as.ts';

const PLACE = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** As many as the kernel follows. */
const LINKS_MAX = 40;

/**
 * The real path of a directory, an absolute path. Root follows a link of another user only to a directory of this user:
 * otherwise a user could lead a command of root to any directory. Throws PATH_INVALID for such a link, and the error of the
 * system if the directory does not exist.
 */
export function realDirectory(path: string): string {
  // With `/.` a file is an error.
  if (!isRoot() || process.platform !== 'linux') return realpathSync(`${path}/.`);
  const followed: Link[] = [];
  const names = namesOf(path);
  let fd = openSync('/', PLACE);
  try {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const near = `${fdPath(fd)}/${name}`;
      const link = linkAt(near);
      if (link !== null) {
        followed.push(link);
        if (followed.length > LINKS_MAX) throw refusal(path, link, 'too many links follow each other');
        names.unshift(...namesOf(link.target));
      }
      const next = link === null ? openSync(near, PLACE) : link.target.startsWith('/') ? openSync('/', PLACE) : null;
      if (next === null) continue;
      closeSync(fd);
      fd = next;
    }
    const { uid } = fstatSync(fd);
    const foreign = followed.find((link) => link.uid !== 0 && link.uid !== uid);
    const real = readlinkSync(fdPath(fd));
    if (foreign === undefined) return real;
    throw refusal(path, foreign, `uid ${foreign.uid} made it, and it leads to ${real}, which belongs to uid ${uid}`);
  } finally {
    closeSync(fd);
  }
}

interface Link {
  readonly name: string;
  readonly target: string;
  readonly uid: number;
}

/** Null if something other than a link is there. */
function linkAt(near: string): Link | null {
  const { uid } = lstatSync(near);
  try {
    return { name: near.slice(near.lastIndexOf('/') + 1), target: readlinkSync(near), uid };
  } catch (error) {
    if (isErrno(error, 'EINVAL')) return null;
    throw error;
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function refusal(path: string, { name }: Link, why: string): ContextdError {
  return new ContextdError('PATH_INVALID', `root does not follow the link ${name} in ${path}: ${why}`, {
    remedy: 'Pass the real path of the directory that you mean.',
    details: { path },
  });
}
