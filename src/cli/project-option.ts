import { ContextdError } from '../core/errors.ts';
import type { Given } from './command.ts';
import type { CliContext } from './context.ts';
import { findProjectRoot, resolveProjectRoot } from './init/project-root.ts';

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
