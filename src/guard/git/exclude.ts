import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { fdPath, openPlace, readUpTo, statAt } from '../../fs/file-access.ts';
import { isWithin, parentOf, type RawPath } from '../../fs/raw-path.ts';

/** The names that contextd gives to what it sets aside, as git reads a pattern. */
export const SET_ASIDE = '*.quarantined-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]';
/** Largest file to which the pattern is added. */
const EXCLUDE_MAX_BYTES = 1024 * 1024;

const { O_RDONLY, O_RDWR, O_CREAT, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The repository that would see a new file at `path`: the nearest `.git` directory above it, or the root that is one. */
export function repositoryAt(
  path: RawPath,
  roots: readonly RawPath[],
  isGitDir: (path: RawPath) => boolean,
): RawPath | null {
  for (let dir = parentOf(path); roots.some((root) => isWithin(root, dir)); dir = parentOf(dir)) {
    if (isGitDir(dir)) return null;
    if (statAt(`${dir}/.git`)?.isDirectory() === true) return `${dir}/.git`;
  }
  return roots.slice(1).find((root) => isGitDir(root)) ?? null;
}

/**
 * Makes git of the host leave out what was set aside, so that `git add -A` does not commit it. Works on open files: commands
 * that still run can change every path. Does nothing if the file is not an ordinary file with one name.
 */
export function excludeSetAside(gitDir: RawPath): void {
  const place = openPlace(gitDir);
  if (place === null) return;
  try {
    makeInfo(place);
    const info = openPlace(`${gitDir}/info`);
    if (info === null) return;
    try {
      addPattern(info);
    } finally {
      closeSync(info);
    }
  } finally {
    closeSync(place);
  }
}

/** As the owner of the git directory. */
function makeInfo(place: number): void {
  try {
    mkdirSync(`${fdPath(place)}/info`, { mode: 0o755 });
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(fdPath(place));
    // By descriptor, and only a directory: by now a file of root may have the name, as a hard link.
    const info = openSync(`${fdPath(place)}/info`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      fchownSync(info, uid, gid);
    } finally {
      closeSync(info);
    }
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST', 'ENOTDIR', 'ELOOP', 'ENOENT')) throw cause;
  }
}

function addPattern(info: number): void {
  const fd = openSync(`${fdPath(info)}/exclude`, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    const { nlink, size } = fstatSync(fd);
    const { uid, gid } = statSync(fdPath(info));
    if (!fstatSync(fd).isFile() || nlink !== 1) return;
    const text = readUpTo(fd, EXCLUDE_MAX_BYTES);
    if (text === null || text.split('\n').includes(SET_ASIDE)) return;
    if (process.getuid?.() === 0 && size === 0) fchownSync(fd, uid, gid);
    writeSync(fd, `${text === '' || text.endsWith('\n') ? '' : '\n'}# What contextd sets aside.\n${SET_ASIDE}\n`);
  } finally {
    closeSync(fd);
  }
}
