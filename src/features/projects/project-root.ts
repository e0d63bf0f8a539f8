import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';

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

async function checkDirectory(root: string, invalid: (why: string) => ContextdError): Promise<void> {
  if (!isAbsolute(root) || root.includes('\0')) throw invalid('it is not an absolute path');
  try {
    if ((await realpath(root)) !== root) throw invalid('it is reached through a symbolic link');
    if (!(await lstat(root)).isDirectory()) throw invalid('it is not a directory');
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) throw invalid('it does not exist');
    throw thrown;
  }
}
