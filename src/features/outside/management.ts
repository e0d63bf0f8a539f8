import { createHash } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import type { Paths } from '../../config/paths.ts';
import { ContextdError } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import type { Management } from '../../protocol/management-contract.ts';
import { identityFor, personOf } from '../../sandbox/machine/identity.ts';
import { checkRoPath, checkWorkspace, whyNeverWritable } from '../../sandbox/machine/mountable.ts';
import { whyNotMounted } from '../../sandbox/run/repository-above.ts';
import { type Consents, pathSubject } from '../../stores/consents.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import { checkProjectRoot, overlappingProject } from '../projects/project-root.ts';
import { isAround, type Outside } from './outside.ts';

export interface OutsideManagementDeps {
  home: string;
  paths: Paths;
  projects: ProjectStore;
  consents: Consents;
  outside: Outside;
}

type OutsideManagement = Pick<
  Management,
  'setToolchains' | 'listToolchains' | 'allowPath' | 'disallowPath' | 'listPaths'
>;

/** What a person allows outside projects: programs to read and run, and directories to write. */
export function createOutsideManagement(deps: OutsideManagementDeps): OutsideManagement {
  const { outside, consents } = deps;
  const { toolchains } = outside;
  const list = () => ({
    toolchains: toolchains.list().map(({ name, mounts, variables }) => ({
      name,
      mounts: [...mounts],
      variables: { ...variables },
    })),
    path: [...toolchains.path()],
  });
  return {
    async setToolchains({ toolchains: wanted, path }) {
      for (const { mounts } of wanted) for (const mount of mounts) await checkToolchain(mount, deps);
      await toolchains.set(wanted, path);
      return list();
    },
    listToolchains: async () => list(),
    async allowPath({ root, path }) {
      await checkAllowed(root, path, deps);
      await consents.give(root, pathSubject(path), createHash('sha256').update(path).digest('hex'));
      return { paths: outside.pathsOf(root) };
    },
    async disallowPath({ root, path }) {
      if (await consents.withdraw(root, pathSubject(path))) return { paths: outside.pathsOf(root) };
      throw new ContextdError('PATH_NOT_FOUND', `${path} was not allowed in ${root}`, {
        remedy: 'See `ctxd allow list`.',
      });
    },
    async listPaths({ root }) {
      return { paths: outside.pathsOf(root) };
    },
  };
}

/** Commands could replace what lies in a project by a link to anything, so a toolchain must lie outside all projects. */
async function checkToolchain(path: string, { home, paths, projects, outside }: OutsideManagementDeps): Promise<void> {
  checkRoPath(path, paths);
  if (isWithin(path, home)) throw refuse(path, 'it is the home directory or holds it');
  const roots = (await projects.list()).map(({ root }) => root);
  const project = roots.find((root) => isWithin(root, path));
  if (project !== undefined) throw refuseToolchain(path, `it lies in the project ${project}`);
  for (const root of roots) {
    const allowed = outside
      .pathsOf(root)
      .find((one) => !isAround(root, one) && (isWithin(one, path) || isWithin(path, one)));
    if (allowed === undefined) continue;
    throw refuseToolchain(
      path,
      `commands of ${root} can write ${allowed}; withdraw it first: ctxd allow remove ${allowed} ${root}`,
    );
  }
}

function refuseToolchain(path: string, why: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${path} cannot be a toolchain: ${why}`, {
    remedy: 'Install the programs in a directory that no project writes.',
    details: { path },
  });
}

async function checkAllowed(root: string, path: string, deps: OutsideManagementDeps): Promise<void> {
  const { home, paths, projects, outside } = deps;
  await checkProjectRoot(path, home, paths, 'be allowed');
  checkWorkspace(path, paths);
  const toolchains = outside.toolchains.list().flatMap((toolchain) => toolchain.mounts);
  const homes = await Promise.all(homesOf(root, deps).map((one) => realpath(one).catch(() => one)));
  const never = whyNeverWritable(path, { root, homes, paths, toolchains });
  if (never !== null) throw refuse(path, never);
  if (isWithin(path, root)) {
    const why = whyNotMounted(root, path);
    if (why !== null)
      throw refuse(
        path,
        `it holds the project, and ${why}; to work in all of it, remove the project first (\`ctxd init --uninstall\`)`,
      );
    return;
  }
  const other = overlappingProject(path, projects.roots(), root);
  if (other !== undefined)
    throw refuse(path, other === path ? 'it is a project of its own' : `it overlaps the project ${other}`);
  const known = outside
    .pathsOf(root)
    .find((one) => one !== path && !isAround(root, one) && (isWithin(one, path) || isWithin(path, one)));
  if (known !== undefined) throw refuse(path, `${known} is allowed already and overlaps it`);
  const [ours, theirs] = await Promise.all([lstat(root), lstat(path)]);
  if (theirs.uid === 0 && path.startsWith('/var/')) throw refuse(path, 'it is a directory of the system');
  if (ours.uid !== theirs.uid) throw refuse(path, `it belongs to uid ${theirs.uid}, the project to uid ${ours.uid}`);
}

/** The homes of the person who runs contextd and of the project's owner, who differ if contextd runs as root. */
function homesOf(root: string, { home, paths }: OutsideManagementDeps): string[] {
  return [home, personOf(identityFor(root, process.getuid?.() ?? 0), paths).home];
}

function refuse(path: string, why: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${path} cannot be allowed: ${why}`, {
    remedy: 'Choose a directory of its own, such as one beside the project.',
    details: { path },
  });
}
