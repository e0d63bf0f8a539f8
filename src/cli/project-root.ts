import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Paths } from '../config/paths.ts';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isWithin } from '../core/paths.ts';
import type { ParsedArgs } from './command.ts';
import type { CliContext } from './context.ts';
import { realDirectory } from './files/real-directory.ts';

/** The project root of `--project [dir]`: "" without the option, the current project without a directory. */
export async function projectOption(context: CliContext, args: ParsedArgs): Promise<string> {
  if (!args.flag('project')) return '';
  const directory = args.text('project');
  return directory === undefined
    ? currentProject(context)
    : resolveProjectRoot(context.cwd, directory, context.env.home, context.paths);
}

/** The project root of a parameter `[path]`: the current project if it is missing. */
export async function projectAt(context: CliContext, path: string | undefined): Promise<string> {
  if (path === undefined) return currentProject(context);
  return resolveProjectRoot(context.cwd, path, context.env.home, context.paths);
}

/** The root of the current project. Throws PATH_NOT_FOUND if the current directory is not in a project. */
export async function currentProject(context: CliContext): Promise<string> {
  const root = await findProjectRoot(context.cwd);
  if (root !== undefined) return root;
  throw new ContextdError('PATH_NOT_FOUND', `${context.cwd} is not in a project of contextd`, {
    remedy: 'Run `ctxd init` in the directory of the project.',
    details: { path: context.cwd },
  });
}

/**
 * The directory as a project root: absolute, with links resolved. Throws PATH_NOT_FOUND if it does not exist, and
 * PATH_INVALID if it must never be a project, because tools may write anywhere in it.
 */
export async function resolveProjectRoot(cwd: string, directory: string, home: string, paths: Paths): Promise<string> {
  const root = existingDirectory(resolve(cwd, directory));
  if (root === dirname(root)) throw refusal(root, 'it is the root of the file system');
  if (/[\p{Cc}]/u.test(root)) throw refusal(root, 'its path holds control characters');
  const realHome = await realOrGiven(home);
  if (root === realHome) throw refusal(root, 'it is your home directory');
  if (isWithin(root, realHome)) throw refusal(root, 'it holds your home directory');
  const own = [paths.configDir, paths.dataDir, paths.stateDir, paths.runDir, paths.userGitleaksDir];
  for (const place of await Promise.all(own.map(realOrGiven))) {
    if (isWithin(root, place)) throw refusal(root, `it holds contextd's own directory ${place}`);
    if (isWithin(place, root)) throw refusal(root, `it lies in contextd's own directory ${place}`);
  }
  const installation = await realOrGiven(paths.installRoot);
  if (isWithin(root, installation)) throw refusal(root, `it holds the installation of contextd, ${installation}`);
  return root;
}

/** The nearest directory at or above `directory` with a `.claude/tools`, or undefined. */
export async function findProjectRoot(directory: string): Promise<string | undefined> {
  for (let at = await realOrGiven(resolve(directory)); ; at = dirname(at)) {
    if (await isDirectory(`${at}/.claude/tools`)) return at;
    if (at === dirname(at)) return undefined;
  }
}

function existingDirectory(directory: string): string {
  try {
    return realDirectory(directory);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    throw new ContextdError('PATH_NOT_FOUND', `${directory} is not a directory`, {
      remedy: 'Pass an existing directory, or run this inside one.',
      details: { path: directory },
      cause,
    });
  }
}

export async function realOrGiven(path: string): Promise<string> {
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

function refusal(root: string, reason: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${root} cannot be a project: ${reason}`, {
    remedy: 'Pass the directory of one project. Tools may read and write everything in it.',
    details: { path: root },
  });
}
