import { existsSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { pastableWord } from '../../core/shell-quote.ts';

/**
 * The first other project that is the directory, lies in it or holds it. A root that is gone from the disk does not count.
 * `own`: a project that may overlap.
 */
export function overlappingProject(directory: string, roots: readonly string[], own: string): string | undefined {
  return roots.find(
    (root) => root !== own && (isWithin(root, directory) || isWithin(directory, root)) && existsSync(root),
  );
}

/**
 * Checks that a new project overlaps no other: commands of the outer one could write the inner one, past what was
 * allowed there. Projects that were registered before stay as they are.
 */
export function checkApart(root: string, roots: readonly string[]): void {
  const other = roots.includes(root) ? undefined : overlappingProject(root, roots, root);
  if (other === undefined) return;
  const how = isWithin(root, other) ? 'holds' : 'lies in';
  throw new ContextdError('PATH_INVALID', `${root} cannot be a project: it ${how} the project ${other}`, {
    remedy: `Work in ${other}, or remove that project first: ctxd init --uninstall ${pastableWord(other) ?? 'DIRECTORY'}`,
    details: { path: root },
  });
}

/**
 * Checks that a directory may be a project (ARCHITECTURE.md, step 2): it is a real directory, and neither `/`, the home
 * directory or an ancestor of it, nor a root that holds contextd's own directories or its installation. PATH_INVALID
 * names the rule that is broken, and what the directory cannot do (`to`).
 */
export async function checkProjectRoot(root: string, home: string, paths: Paths, to = 'be a project'): Promise<void> {
  const invalid = (why: string): ContextdError =>
    new ContextdError('PATH_INVALID', `${root} cannot ${to}: ${why}`, {
      remedy: to === 'be a project' ? 'Run `ctxd init` in the directory of one project.' : 'Name another directory.',
      details: { path: root },
    });
  await checkDirectory(root, invalid);
  const refused: readonly [string, string][] = [
    [home, 'the home directory'],
    [paths.installRoot, 'the installation of contextd'],
    [paths.configDir, "contextd's configuration"],
    [paths.dataDir, "contextd's data"],
    [paths.stateDir, "contextd's state"],
    [paths.runDir, "contextd's socket"],
    [paths.userGitleaksDir, "contextd's gitleaks program"],
  ];
  for (const [place, what] of refused) {
    const real = await realpath(place).catch(() => place);
    if (isWithin(root, real)) throw invalid(root === real ? `it is ${what}` : `it holds ${what} (${real})`);
    if (place !== home && isWithin(real, root)) throw invalid(`it lies inside ${what} (${real})`);
  }
}

/** The sticky bit, and write permission for everybody. */
const SHARED_MODE = 0o1002;

async function checkDirectory(root: string, invalid: (why: string) => ContextdError): Promise<void> {
  if (!isAbsolute(root) || root.includes('\0')) throw invalid('it is not an absolute path');
  try {
    if ((await realpath(root)) !== root) throw invalid('it is reached through a symbolic link');
    const stats = await lstat(root);
    if (!stats.isDirectory()) throw invalid('it is not a directory');
    // As /tmp is. A directory of one project that everybody may write, as in a container, has no sticky bit.
    if ((stats.mode & SHARED_MODE) === SHARED_MODE) throw invalid('it is a directory that all users share');
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) throw invalid('it does not exist');
    throw thrown;
  }
}
