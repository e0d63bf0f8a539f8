import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { binDirsOf } from '../sandbox/host.ts';
import { buildEnvironment } from '../sandbox/policy.ts';

/**
 * The program that a bare name stands for inside the sandbox, as a real path; null when there is none, and when the
 * one that would run lies in the workspace, where an agent can write it.
 */
export function findProgram(name: string, roPaths: readonly string[], workspace: string): string | null {
  const { PATH = '' } = buildEnvironment(binDirsOf(roPaths));
  for (const dir of PATH.split(':')) {
    const program = programAt(join(dir, name));
    if (program !== null) return [dir, program].some((path) => isInside(path, workspace)) ? null : program;
  }
  return null;
}

function programAt(path: string): string | null {
  try {
    if (!statSync(path).isFile()) return null;
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isInside(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir + sep);
}
