import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { quoteName } from '../core/own-line.ts';
import { isWithin } from '../core/paths.ts';

export { quoteName } from '../core/own-line.ts';
export { shellWord } from '../core/shell-quote.ts';

const LINKS_MAX = 40;

/** A path given by a caller, made absolute. */
export interface WorkspacePath {
  absolute: string;
  /** Relative to the workspace, as answers show it. */
  shown: string;
}

/**
 * Resolves a path in the workspace, absolute or relative to the directory that the call is made from. Throws PATH_INVALID
 * for a path outside, with `remedy` if it is given. The sandbox enforces this; the check gives a clear error.
 */
export function resolvePath(
  { workspace, cwd }: { workspace: string; cwd: string },
  path: string,
  remedy?: string,
): WorkspacePath {
  if (path === '' || path.includes('\0')) {
    throw new ContextdError('PATH_INVALID', `not a path: ${JSON.stringify(path)}`, { remedy: 'Name a file.' });
  }
  const absolute = resolve(cwd, path);
  if (!isWithin(workspace, absolute)) throw outside(workspace, path, absolute, remedy);
  return { absolute, shown: relative(workspace, absolute) || '.' };
}

/** The real path of an existing path. Throws PATH_NOT_FOUND, or PATH_INVALID if its links lead out of the workspace. */
export async function findExisting(workspace: string, path: WorkspacePath): Promise<string> {
  const real = await realpath(path.absolute).catch((cause: unknown) => {
    throw fileFault(cause, path.shown);
  });
  if (!isWithin(workspace, real)) throw outside(workspace, path.shown, real);
  return real;
}

/**
 * The path a file would be written to: follows links as far as they exist, including a link to a file that does not exist
 * yet. Throws PATH_INVALID if the path leads out of the workspace.
 */
export async function findTarget(workspace: string, path: WorkspacePath): Promise<string> {
  const target = await follow(path.absolute, LINKS_MAX).catch((cause: unknown) => {
    throw fileFault(cause, path.shown);
  });
  if (!isWithin(workspace, target)) throw outside(workspace, path.shown, target);
  return target;
}

async function follow(path: string, linksLeft: number): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT') || path === dirname(path)) throw thrown;
  }
  const parent = await follow(dirname(path), linksLeft);
  const here = join(parent, basename(path));
  const link = await readLinkOrNull(here);
  if (link === null) return here;
  if (linksLeft === 0)
    throw new ContextdError('PATH_INVALID', `a chain of more than ${LINKS_MAX} links: ${quoteName(path)}`);
  return follow(resolve(parent, link), linksLeft - 1);
}

async function readLinkOrNull(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    throw thrown;
  }
}

/** Converts a system error about a file to a ContextdError about `shown`. Returns any other error unchanged. */
export function fileFault(thrown: unknown, shown: string): unknown {
  if (thrown instanceof ContextdError || !isErrno(thrown)) return thrown;
  const details = { path: shown };
  switch (thrown.code) {
    case 'ENOENT':
      return new ContextdError('PATH_NOT_FOUND', `there is no ${quoteName(shown)} in the workspace`, {
        remedy: `A relative path starts where the call is made. List that directory with safe_bash 'ls'.`,
        details,
      });
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENAMETOOLONG':
    case 'EISDIR':
      return new ContextdError('PATH_INVALID', `not a usable path (${thrown.code}): ${quoteName(shown)}`, {
        remedy: 'Check each part of the path.',
        details,
      });
    case 'EACCES':
    case 'EPERM':
      return new ContextdError('PERMISSION_DENIED', `cannot open ${quoteName(shown)} (${thrown.code})`, {
        remedy: 'The permissions of the file forbid it. A person can change them.',
        details,
      });
    default:
      return ContextdError.from(thrown);
  }
}

function outside(
  workspace: string,
  path: string,
  absolute: string,
  remedy = 'Name a path inside the workspace.',
): ContextdError {
  return new ContextdError(
    'PATH_INVALID',
    `the path leads out of the workspace ${workspace}: ${quoteName(path)}${absolute === path ? '' : `, which resolves to ${quoteName(absolute)}`}`,
    {
      remedy,
      details: { path: absolute, workspace },
    },
  );
}

/**
 * Throws PERMISSION_DENIED if `target`, or a directory above it, is protected. `target` is a real path inside the
 * workspace.
 */
export function refuseProtected(workspace: string, target: string, protectedPaths: readonly string[]): void {
  const shown = relative(workspace, target).split(sep).join('/');
  const rule = findRule(shown, protectedPaths);
  if (rule !== null) throw protectedFault(shown, rule);
}

export function protectedFault(shown: string, rule: string): ContextdError {
  const howToAllow =
    'Programs outside the sandbox run or trust it, so no tool may write it. A person can, outside contextd.';
  return new ContextdError('PERMISSION_DENIED', `a protected path (rule: ${rule}): ${quoteName(shown)}`, {
    remedy: howToAllow,
    details: { kind: 'write', path: shown, rule, how_to_allow: howToAllow },
  });
}

/** A path in a worktree of Claude Code. */
const CHECKOUT = /^\.claude\/worktrees\/[^/]+\/(.+)$/s;

/**
 * The rule that protects a path, or null. A rule matches if its names follow each other in the path, at any depth. `.git`
 * itself is protected, but not the files in it. Case is ignored, because some file systems ignore it. In a checkout the names
 * count from its top; whether it is one, the sandbox decides: it is read-only otherwise.
 */
function findRule(shown: string, protectedPaths: readonly string[]): string | null {
  const inCheckout = CHECKOUT.exec(shown)?.[1] ?? shown;
  const path = `/${inCheckout.toLowerCase()}/`;
  if (path.endsWith('/.git/')) return '.git';
  return protectedPaths.find((rule) => path.includes(`/${rule.toLowerCase()}/`)) ?? null;
}
