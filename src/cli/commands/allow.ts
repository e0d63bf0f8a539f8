import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import type { Toolchain__Output as Toolchain } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { realDirectory } from '../files/real-directory.ts';
import { currentProject, findProjectRoot, projectAt } from '../project-root.ts';
import { describeToolchains } from '../toolchains/describe.ts';
import { offerToolchains } from '../toolchains/offer.ts';

const PROJECT = { syntax: '[path]', help: 'the project directory (default: the current project)' };

/** Directories outside the project that commands may write. A repository cannot ask for one. */
const allowPath = defineCommand({
  name: ['allow', 'path'],
  summary: 'Let commands write a directory outside the project (../wt), or use the repository around it.',
  parameters: [{ syntax: '<dir>', help: 'the directory; it is created if it does not exist' }, PROJECT],
  options: [{ syntax: '--yes', help: 'no effect: nothing is asked, because the directory is named' }],
  async run(context, args) {
    const root = await projectAt(context, args.word(1));
    const wanted = await placeOf(context, args.requiredWord(0));
    const isNew = !(await isDirectory(wanted));
    if (isNew) makeAsOwner(wanted, root);
    try {
      const { paths } = await withClient(context.paths, (client) => client.allowPath({ root, path: wanted }));
      return { root, path: wanted, created: isNew, paths };
    } catch (thrown) {
      if (isNew) parentOf(wanted, root).removeDirectory(basename(wanted));
      throw thrown;
    }
  },
  view: ({ root, path, created }) => ({
    kind: 'lines',
    lines: [
      ...(created ? [`Created ${path}.`] : []),
      isAround(root, path)
        ? `Commands in ${root} can read ${path} and commit in its repository. Undo: ctxd allow remove ${path}`
        : `Commands in ${root} can write ${path}. It is watched like the project. Undo: ctxd allow remove ${path}`,
    ],
  }),
});

const allowToolchains = defineCommand({
  name: ['allow', 'toolchains'],
  summary: 'Find programs outside /usr (nvm, rustup, pyenv, …) and let commands of every project run them.',
  options: [{ syntax: '--yes', help: 'do not ask' }],
  async run(context, args) {
    await ensureRunning(context);
    const project = (await findProjectRoot(context.cwd)) ?? null;
    const offer = await withClient(context.paths, (client) =>
      offerToolchains(context, client, project, args.flag('yes') ? 'yes' : 'ask'),
    );
    if (offer.state === 'allowed' || offer.state === 'none') return offer;
    throw new ContextdError('CANCELLED', 'the toolchains were not allowed', {
      remedy: 'Answer yes, or pass --yes if nobody can be asked.',
    });
  },
  view: ({ state, added }) => ({ kind: 'lines', lines: viewOffer(state, added) }),
});

function viewOffer(state: string, added: readonly Toolchain[]): string[] {
  if (state === 'none') return ['No programs outside /usr are on PATH.'];
  if (added.length === 0) return ['Commands can run all toolchains on PATH already.'];
  return ['Commands of every project can now run:', ...describeToolchains(added)];
}

const allowList = defineCommand({
  name: ['allow', 'list'],
  summary: 'List what commands may use outside the project: toolchains, and directories that they can write.',
  parameters: [PROJECT],
  async run(context, args) {
    const root = await rootIfAny(context, args.word(0));
    return withClient(context.paths, async (client) => {
      const { toolchains, path } = await client.listToolchains({});
      return { root, paths: root === null ? [] : (await client.listPaths({ root })).paths, toolchains, path };
    });
  },
  view: ({ root, paths, toolchains }) => ({
    kind: 'lines',
    lines: [
      ...(root === null ? [] : [`Directories outside ${root} that its commands can use:`]),
      ...(root === null
        ? []
        : paths.length === 0
          ? ['  none']
          : paths.map(
              (path) => `  ${path}${isAround(root, path) ? ' (the repository around it: read, and commit)' : ''}`,
            )),
      'Toolchains that commands of every project can run:',
      ...(toolchains.length === 0 ? ['  none'] : describeToolchains(toolchains)),
    ],
  }),
});

const allowRemove = defineCommand({
  name: ['allow', 'remove'],
  summary: 'Withdraw a directory of the current project, or a toolchain. Nothing is deleted.',
  parameters: [{ syntax: '<what>', help: 'the directory, or the name of the toolchain' }, PROJECT],
  async run(context, args) {
    const what = args.requiredWord(0);
    return withClient(context.paths, async (client) => {
      const { toolchains, path } = await client.listToolchains({});
      const rest = toolchains.filter(({ name }) => name !== what);
      if (rest.length < toolchains.length) {
        await client.setToolchains({ toolchains: rest, path });
        return { removed: what };
      }
      const root = await projectAt(context, args.word(1));
      const { paths } = await client.listPaths({ root });
      const place = await placeOf(context, what).catch(() => resolve(context.cwd, what));
      const removed = paths.find((one) => one === place || one === what) ?? place;
      await client.disallowPath({ root, path: removed });
      return { removed };
    });
  },
  view: ({ removed }) => ({ kind: 'lines', lines: [`${removed} is no longer allowed.`] }),
});

export const allowCommands = [allowPath, allowToolchains, allowList, allowRemove];

/** Whether a directory that was allowed is the repository of which the project is a part. */
function isAround(root: string, path: string): boolean {
  return isBelow(path, root);
}

async function rootIfAny(context: CliContext, path: string | undefined): Promise<string | null> {
  if (path !== undefined) return projectAt(context, path);
  return (await findProjectRoot(context.cwd)) === undefined ? null : currentProject(context);
}

/** The real path of a directory, of which the last part may not exist yet. Throws PATH_NOT_FOUND. */
async function placeOf({ cwd }: CliContext, given: string): Promise<string> {
  const path = resolve(cwd, given);
  try {
    return await realpath(path);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
  }
  try {
    return join(realDirectory(dirname(path)), basename(path));
  } catch (cause) {
    if (cause instanceof ContextdError) throw cause;
    throw new ContextdError('PATH_NOT_FOUND', `${dirname(path)} does not exist`, {
      remedy: 'Create it, or name a directory that exists.',
      cause,
    });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return false;
    throw thrown;
  }
  throw new ContextdError('PATH_INVALID', `${path} is not a directory`, { remedy: 'Name a directory.' });
}

/** As root, the directory is made by the owner of the project: root must not act where another user can place links. */
function makeAsOwner(path: string, root: string): void {
  const parent = parentOf(path, root);
  try {
    parent.makeDirectory(basename(path), 0o777);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    throw new ContextdError('PATH_INVALID', `${path} cannot be created by ${parent.writer} (${cause.code})`, {
      remedy: `Create it, give it to the owner of ${root}, then repeat the command.`,
      cause,
    });
  }
}

function parentOf(path: string, root: string): OwnedDirectory {
  return OwnedDirectory.at(dirname(path), OwnedDirectory.at(root).user);
}
