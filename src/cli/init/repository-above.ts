import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import { resolveProjectRoot } from '../project-root.ts';

/**
 * The top of the repository of which a directory is a part; null if it has a repository of its own, is in none, or if the
 * top cannot be a project.
 */
export async function findRepositoryAbove(context: CliContext, root: string): Promise<string | null> {
  for (let at = root; ; at = dirname(at)) {
    if (await hasGit(at))
      return at === root ? null : orNull(resolveProjectRoot('/', at, context.env.home, context.paths));
    if (at === dirname(at)) return null;
  }
}

/** Asks whether to set up the whole repository instead. Returns the directory to set up: the given one without an answer. */
export async function offerRepository(context: CliContext, root: string): Promise<string> {
  const top = await findRepositoryAbove(context, root);
  if (top === null || context.stdin.isTTY !== true) return root;
  const lines = [`${root} is a part of the repository ${top}. git does not work in a project without its repository.`];
  const declined = new ContextdError('PERMISSION_DENIED', 'declined');
  try {
    await confirm(context, lines, `Set up ${top} instead?`, declined);
    return top;
  } catch (cause) {
    if (cause !== declined) throw cause;
    return root;
  }
}

async function hasGit(dir: string): Promise<boolean> {
  return (await orNull(lstat(`${dir}/.git`))) !== null;
}

function orNull<T>(promise: Promise<T>): Promise<T | null> {
  return promise.catch(() => null);
}
