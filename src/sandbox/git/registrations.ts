import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Denial } from '../../core/envelope.ts';
import { isErrno } from '../../core/errors.ts';
import { fdPath, openDirectory, openPlace, readSmallFile } from '../../fs/file-access.ts';
import { toRaw } from '../../fs/raw-path.ts';
import { gitDirNamedBy } from '../../guard/git/git-dir.ts';
import { pasted } from '../denials/rules.ts';

/** Without one of these files git does not know the worktree. */
const REQUIRED = ['gitdir', 'commondir', 'HEAD'] as const;
/** Largest of these files. */
const PART_MAX_BYTES = 8192;
/** Worktrees of one repository that are looked at. */
const WORKTREES_MAX = 128;

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

interface Registration {
  /** The directory in `.git/worktrees`. */
  readonly dir: string;
  readonly checkout: string;
  /** The texts of the files, one character per byte. */
  readonly parts: ReadonlyMap<string, string>;
}

/**
 * The linked worktrees of repositories. `git worktree remove` deletes the registration even if it could not delete the
 * checkout, whose `.git` is mounted if it is a person's. Then neither git nor the person finds the worktree again.
 */
export class Registrations {
  readonly #gitDirs: readonly string[];
  #before: readonly Registration[] = [];

  constructor(gitDirs: readonly string[]) {
    this.#gitDirs = gitDirs;
  }

  /** Call it right before the command. */
  remember(): void {
    const dirs = this.#gitDirs.flatMap((gitDir) => worktreeDirs(gitDir).slice(0, WORKTREES_MAX));
    this.#before = dirs.flatMap((dir) => read(dir) ?? []);
  }

  /** Call it when the command is dead: registers again each worktree whose `.git` still names its registration. */
  restore(): Denial[] {
    return this.#before
      .filter((one) => isLost(one) && write(one))
      .map(({ checkout }) => ({
        kind: 'read_only',
        path: checkout,
        rule: 'commands cannot remove a worktree that a person made; it is registered again, as it was',
        how_to_allow:
          `Files of it that git removed come back: \`git -C ${pasted(checkout)} reset && git -C ${pasted(checkout)} restore .\`. ` +
          `A person can remove it then: \`git worktree remove ${pasted(checkout)}\`.`,
      }));
  }
}

/** The directory of each linked worktree below the git directory. */
export function worktreeDirs(gitDir: string): string[] {
  const worktrees = join(gitDir, 'worktrees');
  return existsSync(worktrees) ? readdirSync(worktrees).map((name) => join(worktrees, name)) : [];
}

function read(dir: string): Registration | null {
  const parts = new Map<string, string>();
  for (const name of [...REQUIRED, 'locked']) {
    const text = readSmallFile(toRaw(join(dir, name)), PART_MAX_BYTES);
    if (text !== null) parts.set(name, text);
  }
  const checkout = dirname(parts.get('gitdir')?.trim() ?? '');
  const one = { dir, checkout: Buffer.from(checkout, 'latin1').toString(), parts };
  return REQUIRED.every((name) => parts.has(name)) && isNamedBack(one) ? one : null;
}

function isNamedBack({ dir, checkout }: Registration): boolean {
  return gitDirNamedBy(`${toRaw(checkout)}/.git`)?.target === toRaw(dir);
}

function isLost(one: Registration): boolean {
  return REQUIRED.some((name) => !existsSync(join(one.dir, name))) && isNamedBack(one);
}

/** Works in open directories only: commands that still run can change every path. Returns false if it is impossible. */
function write({ dir, parts }: Registration): boolean {
  try {
    makeDirectory(dirname(dir));
    makeDirectory(dir);
    const place = openPlace(toRaw(dir));
    if (place === null) return false;
    try {
      for (const [name, text] of parts) writePart(`${fdPath(place)}/${name}`, text, fstatSync(place));
    } finally {
      closeSync(place);
    }
    return true;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** git removes `worktrees` together with the last registration. */
function makeDirectory(path: string): void {
  const place = existsSync(path) ? null : openPlace(toRaw(dirname(path)));
  if (place === null) return;
  try {
    mkdirSync(`${fdPath(place)}/${basename(path)}`, { mode: 0o755 });
    const made = openDirectory(toRaw(path));
    if (made === null) return;
    const { uid, gid } = fstatSync(place);
    if (process.getuid?.() === 0) fchownSync(made, uid, gid);
    closeSync(made);
  } finally {
    closeSync(place);
  }
}

function writePart(path: string, text: string, owner: { uid: number; gid: number }): void {
  if (existsSync(path)) return;
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
  try {
    if (process.getuid?.() === 0) fchownSync(fd, owner.uid, owner.gid);
    writeSync(fd, Buffer.from(text, 'latin1'));
  } finally {
    closeSync(fd);
  }
}
