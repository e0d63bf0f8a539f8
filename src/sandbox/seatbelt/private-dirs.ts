import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';

const PREFIX = 'contextd-run-';

/** Temporary files and home of one run, for its owner alone. */
export interface PrivateDir {
  readonly root: string;
  readonly tmp: string;
  readonly home: string;
  /** Idempotent. */
  remove(): void;
}

/** Made below `parent`, a real path. Its name holds the daemon's pid, so that a later daemon can tell it was left. */
export function makePrivateDir(parent: string): PrivateDir {
  const root = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  const [tmp, home] = [join(root, 'tmp'), join(root, 'home')];
  mkdirSync(tmp, { mode: 0o700 });
  mkdirSync(home, { mode: 0o700 });
  return { root, tmp, home, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Removes what a killed daemon of this user left. */
export function removeLeftDirs(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^contextd-run-(\d+)-/.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const path = join(parent, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() && stats.uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return !isErrno(cause, 'ESRCH');
  }
}
