import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import { resolveProjectRoot } from '../project-root.ts';
import type { Answer } from '../toolchains/offer.ts';
import type { Answers } from './answers.ts';

/**
 * The top of the repository of which a directory is a part; null if it has a repository of its own, is in none, or if the
 * top cannot be a project.
 */
export async function findRepositoryAbove(context: CliContext, root: string): Promise<string | null> {
  const top = await findRepository(root);
  return top === null || top === root ? null : orNull(resolveProjectRoot('/', top, context.env.home, context.paths));
}

/** The nearest directory at or above an absolute path that holds a repository of git; null without one. */
export async function findRepository(directory: string): Promise<string | null> {
  for (let at = directory; ; at = dirname(at)) {
    if (await hasGit(at)) return at;
    if (at === dirname(at)) return null;
  }
}

/** Asks whether to set up the whole repository instead. Returns the directory to set up: the given one without an answer. */
export async function offerRepository(
  context: CliContext,
  root: string,
  answer: Answer,
  answers: Answers,
): Promise<string> {
  const top = await findRepositoryAbove(context, root);
  if (top === null || answer !== 'ask') return root;
  const lines = [`${root} is a part of the repository ${top}.`];
  const question = {
    about: [`set up ${top}`],
    line: `Only ${root} is set up, as you chose. To set up ${top}: ctxd init ${top}`,
  };
  return (await answers.ask(context, question, () => isWanted(context, lines, `Set up ${top} instead?`))) ? top : root;
}

/** Whether commands of a project use the repository around it. */
export interface RepositoryUse {
  readonly top: string;
  readonly state: 'allowed' | 'pending';
  /** Why the repository cannot be used although a person wants it. */
  readonly why?: string;
}

/** Lets commands use the repository around a project if the person says yes; null if no repository is around it. */
export async function offerReading(
  context: CliContext,
  client: Pick<DaemonClient, 'listPaths' | 'allowPath'>,
  root: string,
  answer: Answer,
  answers: Answers,
): Promise<RepositoryUse | null> {
  const top = await findRepositoryAbove(context, root);
  if (top === null) return null;
  if ((await client.listPaths({ root })).paths.includes(top)) return { top, state: 'allowed' };
  const lines = [`git does not work in ${root} without the repository ${top}.`];
  const question = `Let commands read all of ${top} and commit in its repository? They can change files in ${root} only.`;
  // What is declined is named by `repositoryLines`.
  const about = [`read ${top}`];
  const ask = async (): Promise<boolean> => {
    if (answers.hasDeclined(about)) return false;
    const isAgreed = await isWanted(context, lines, question);
    if (!isAgreed && context.stdin.isTTY === true) await answers.decline(about);
    return isAgreed;
  };
  if (answer === 'no' || (answer === 'ask' && !(await ask()))) return { top, state: 'pending' };
  try {
    await client.allowPath({ root, path: top });
    return { top, state: 'allowed' };
  } catch (thrown) {
    if (!(thrown instanceof ContextdError) || thrown.code !== 'PATH_INVALID') throw thrown;
    return { top, state: 'pending', why: thrown.message };
  }
}

/** Asks a person at the terminal; false without one. */
export async function isWanted(
  context: CliContext,
  lines: readonly string[],
  question: string,
  usual: 'yes' | 'no' = 'no',
): Promise<boolean> {
  if (context.stdin.isTTY !== true) return false;
  const declined = new ContextdError('PERMISSION_DENIED', 'declined');
  try {
    await confirm(context, lines, question, declined, usual);
    return true;
  } catch (cause) {
    if (cause !== declined) throw cause;
    return false;
  }
}

async function hasGit(dir: string): Promise<boolean> {
  return (await orNull(lstat(`${dir}/.git`))) !== null;
}

function orNull<T>(promise: Promise<T>): Promise<T | null> {
  return promise.catch(() => null);
}
