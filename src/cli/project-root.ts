import { realpath, stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Paths } from '../config/paths.ts';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Given } from './command.ts';
import type { CliContext } from './context.ts';

/** What `--project [dir]` means: "" when it is left out, the project around here without a directory. */
export async function projectOption(context: CliContext, given: Given): Promise<string> {
  if (!given.flag('project')) return '';
  const directory = given.text('project');
  return directory === undefined
    ? projectAround(context)
    : resolveProjectRoot(context.cwd, directory, context.env.home, context.paths);
}

/** What a parameter `[path]` means: the project around here without one. */
export async function projectAt(context: CliContext, path: string | undefined): Promise<string> {
  if (path === undefined) return projectAround(context);
  return resolveProjectRoot(context.cwd, path, context.env.home, context.paths);
}

/** The project that the current directory lies in. Throws PATH_NOT_FOUND when there is none. */
export async function projectAround(context: CliContext): Promise<string> {
  const root = await findProjectRoot(context.cwd);
  if (root !== undefined) return root;
  throw new ContextdError('PATH_NOT_FOUND', `${context.cwd} is not in a project of contextd`, {
    remedy: 'Run `ctxd init` in the directory of the project.',
    details: { path: context.cwd },
  });
}

/**
 * The directory as a project root: absolute, links resolved. Throws PATH_NOT_FOUND, or PATH_INVALID for what must
 * never be one (design §3 step 2): a tool may write anywhere in it.
 */
export async function resolveProjectRoot(cwd: string, directory: string, home: string, paths: Paths): Promise<string> {
  const root = await realDirectory(resolve(cwd, directory));
  if (root === dirname(root)) throw refusal(root, 'it is the root of the file system');
  if (/[\p{Cc}]/u.test(root)) throw refusal(root, 'its path holds control characters');
  const realHome = await realOrGiven(home);
  if (root === realHome) throw refusal(root, 'it is your home directory');
  if (holds(root, realHome)) throw refusal(root, 'it holds your home directory');
  const own = [paths.configDir, paths.dataDir, paths.stateDir, paths.runDir];
  for (const place of await Promise.all(own.map(realOrGiven))) {
    if (holds(root, place)) throw refusal(root, `it holds contextd's own directory ${place}`);
    if (holds(place, root)) throw refusal(root, `it lies in contextd's own directory ${place}`);
  }
  const installation = await realOrGiven(paths.installRoot);
  if (holds(root, installation)) throw refusal(root, `it holds the installation of contextd, ${installation}`);
  return root;
}

/** The nearest directory at or above `directory` that holds `.claude/tools`; undefined when there is none. */
export async function findProjectRoot(directory: string): Promise<string | undefined> {
  for (let at = await realOrGiven(resolve(directory)); ; at = dirname(at)) {
    if (await isDirectory(`${at}/.claude/tools`)) return at;
    if (at === dirname(at)) return undefined;
  }
}

async function realDirectory(directory: string): Promise<string> {
  const real = await realOrGiven(directory);
  if (await isDirectory(real)) return real;
  throw new ContextdError('PATH_NOT_FOUND', `${directory} is not a directory`, {
    remedy: 'Name a directory that exists, or run this inside one.',
    details: { path: directory },
  });
}

async function realOrGiven(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isErrno(error)) return path;
    throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}

/** True when `inner` is `outer` or lies below it. */
function holds(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === '' || (way !== '..' && !way.startsWith('../') && !way.startsWith('/'));
}

function refusal(root: string, reason: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${root} cannot be a project: ${reason}`, {
    remedy: 'Name the directory of one project: tools may read and write everything in it.',
    details: { path: root },
  });
}
