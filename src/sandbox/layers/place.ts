import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';

/*
 * The layers on the host:
 *
 *   <root>/<project>/<branch>/upper   what the branch changed, as the overlay keeps it; the user inside owns it
 *   <root>/<project>/<branch>/work    the overlay's own
 *   <root>/<project>/<branch>/copy    in place of both if this machine has no overlay: the whole workspace
 *   <root>/<project>/<branch>/lock    held by the one process that has it mounted
 *   <root>/removed-*                  what is being removed
 *
 * Only the daemon's user can enter the root, and no sandbox has it.
 */

/** The places of one layer. */
export interface LayerPlace {
  readonly dir: string;
  readonly upper: string;
  readonly work: string;
  readonly copy: string;
  readonly lock: string;
}

const BRANCH = /^[A-Za-z0-9_-]{1,64}$/;
export const REMOVED = 'removed-';

/** Of all layers of a project. */
function projectDir(root: string, project: string): string {
  return join(root, createHash('sha256').update(project).digest('hex').slice(0, 24));
}

/** The directory of a branch with files of its own. */
export function layerDir(root: string, project: string, branch: string): string {
  if (!BRANCH.test(branch)) throw new ContextdError('ARGS_INVALID', `${JSON.stringify(branch)} names no branch`);
  return join(projectDir(root, project), branch);
}

export function placeOf(root: string, project: string, branch: string): LayerPlace {
  const dir = layerDir(root, project, branch);
  const at = (name: string): string => join(dir, name);
  return { dir, upper: at('upper'), work: at('work'), copy: at('copy'), lock: at('lock') };
}
