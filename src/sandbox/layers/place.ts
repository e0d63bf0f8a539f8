import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { projectFolder } from '../../core/project-folder.ts';
import type { LayerKind } from '../contract/mounted.ts';

/*
 * The layers on the host:
 *
 *   <root>/<project>/<branch>/upper   what the branch changed, as the overlay keeps it; the user inside owns it
 *   <root>/<project>/<branch>/work    the overlay's own
 *   <root>/<project>/<branch>/copy    in place of both if this machine has no overlay: the whole workspace
 *   <root>/<project>/<branch>/lock    held by the one process that has it mounted
 *   <root>/<project>/<branch>/*.tar   `upper` or `copy` from a backup, until the branch is used for the first time
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

/** The directory of a branch with files of its own. */
export function layerDir(root: string, project: string, branch: string): string {
  if (!BRANCH.test(branch)) throw new ContextdError('ARGS_INVALID', `${JSON.stringify(branch)} names no branch`);
  return join(root, projectFolder(project), branch);
}

export function placeOf(root: string, project: string, branch: string): LayerPlace {
  const dir = layerDir(root, project, branch);
  const at = (name: string): string => join(dir, name);
  return { dir, upper: at('upper'), work: at('work'), copy: at('copy'), lock: at('lock') };
}

/** Where a backup puts the files of a branch: this machine makes `upper` or `copy` of them, as the owner of the project. */
export function packedAt({
  upper,
  copy,
}: LayerPlace): { readonly kind: LayerKind; readonly packed: string; readonly files: string }[] {
  return [
    { kind: 'overlay', packed: `${upper}.tar`, files: upper },
    { kind: 'copy', packed: `${copy}.tar`, files: copy },
  ];
}

/**
 * Options of GNU tar for `upper`: the attribute says which directories hide those of the base. What the branch removed is a device
 * file, which tar packs as such. The other attributes of an overlay are hints about the base of one machine.
 */
export const OVERLAY_ATTRIBUTES = ['--xattrs', '--xattrs-include=user.overlay.opaque'];

/** Of a file in a branch that is unpacked, in bytes. A branch may have made a file of nearly any size, with holes. */
export const LAYER_FILE_MAX_BYTES = 1024 ** 4;
