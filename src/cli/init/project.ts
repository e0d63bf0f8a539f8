import { ContextdError } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import { formatLock, LOCK_FILE, parseLock } from '../../install/lock-file.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import type { Action } from './action.ts';
import { applyActions, checkWritable } from './apply.ts';
import { OTHER_CLIENTS } from './clients/other-clients.ts';
import { EXCLUDE_FILE, isTracked } from './git-exclude.ts';
import { type Layout, mergesFor } from './layout.ts';
import { deleteManifest, emptyManifest, type Manifest, readManifest, writeManifest } from './manifest.ts';
import type { Addition } from './merged-file.ts';
import { absentTools, isRecorded, type Plan, planForeignFolders, planInit, planRemoval } from './plan.ts';
import type { PassedOver } from './plan-merges.ts';
import { planUnmerge } from './plan-unmerge.ts';

/** What was changed in a project, by path. */
export interface ProjectChanges {
  created: string[];
  updated: string[];
  removed: string[];
  /** Left as they are, because they were changed since contextd created them. */
  kept: string[];
  /** Clients that are not set up, because a file of theirs cannot be read. Missing: none. */
  passed_over?: readonly PassedOver[];
}

/** A change that was checked and can be carried out. */
export interface PreparedChange {
  apply(): Promise<ProjectChanges>;
}

/**
 * Plans what `ctxd init` changes in the project. `isSeenByGit`: as for `planInit`. Throws, with nothing changed, if something is
 * in the way.
 */
export async function prepareInit(
  path: string,
  layout: Layout,
  projectsDir: string,
  isSeenByGit = false,
): Promise<PreparedChange> {
  const recorded = await readManifest(projectsDir, path);
  const root = OwnedDirectory.at(path);
  const { actions, manifest, kept, passed } = planInit(root, layout, recorded, isSeenByGit);
  checkWritable(root, actions);
  return {
    async apply() {
      // The record comes first, so that after a crash this command and --uninstall know what may already exist.
      if (!sameManifest(recorded, manifest)) await writeManifest(projectsDir, manifest);
      applyActions(root, actions);
      return { ...changesOf(actions, kept), ...(passed.length === 0 ? {} : { passed_over: passed }) };
    },
  };
}

/**
 * Plans `ctxd init --uninstall`. Returns undefined if there is no record of an init here. The record stays while
 * something that init created is kept because it was changed.
 */
export async function prepareUninstall(path: string, projectsDir: string): Promise<PreparedChange | undefined> {
  const recorded = await readManifest(projectsDir, path);
  if (recorded === undefined) return undefined;
  const root = OwnedDirectory.at(path);
  const { actions, manifest, kept } = planUninstall(root, recorded);
  checkWritable(root, actions);
  return {
    async apply() {
      applyActions(root, actions);
      if (kept.length === 0) await deleteManifest(projectsDir, path);
      else await writeManifest(projectsDir, manifest);
      return changesOf(actions, kept);
    },
  };
}

function sameManifest(a: Manifest | undefined, b: Manifest): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function changesOf(actions: readonly Action[], kept: readonly string[]): ProjectChanges {
  const changes: ProjectChanges = { created: [], updated: [], removed: [], kept: [...kept] };
  for (const action of actions) {
    if (action.kind === 'remove') changes.removed.push(action.path);
    else if (action.kind === 'link' || action.kind === 'write') {
      (action.replaces ? changes.updated : changes.created).push(action.path);
    }
  }
  return changes;
}

/** Plans the removal of what the manifest names and of what has contextd's marks, unless it was changed since. */
function planUninstall(root: OwnedDirectory, recorded: Manifest): Omit<Plan, 'passed'> {
  // A record names its own entries; only the kind of each file matters here.
  const absent = absentTools(root, [], recorded);
  const additions = mergesFor({ core: [], installed: [], absent }, root.path, '', false, OTHER_CLIENTS);
  const merged: Action[] = [];
  const kept: string[] = [];
  for (const [path, record] of Object.entries(recorded.merges)) {
    const addition: Addition | undefined = path === EXCLUDE_FILE ? { kind: 'block', lines: [] } : additions.get(path);
    const action = addition === undefined ? undefined : planUnmerge(root, path, addition, record);
    if (action === 'kept') kept.push(path);
    else if (action !== undefined) merged.push(action);
  }
  const foreign = planForeignFolders(root, recorded);
  const locked: Action[] = isOwnLock(root, recorded) ? [{ kind: 'remove', path: LOCK_FILE }] : [];
  const removal = planRemoval(root, recorded);
  const allKept = [...kept, ...foreign.kept, ...removal.kept];
  const actions = [...merged, ...foreign.actions, ...locked, ...removal.actions];
  return { actions, manifest: manifestOf(root.path, recorded, allKept), kept: allKept };
}

/**
 * Whether the lock file is what `ctxd tool install` wrote here: of tools that this machine has, unchanged, and not committed. Any other one
 * is the team's.
 */
function isOwnLock(root: OwnedDirectory, recorded: Manifest): boolean {
  try {
    const found = root.inspect(LOCK_FILE);
    if (found.kind !== 'file' || isTracked(root, [LOCK_FILE]) === true) return false;
    const tools = parseLock(found.text);
    return found.text === formatLock(tools) && tools.every(({ name }) => isRecorded(recorded, name));
  } catch (thrown) {
    if (thrown instanceof ContextdError) return false;
    throw thrown;
  }
}

/** The record of the paths that stay, so that a later init knows that it created them. */
function manifestOf(root: string, recorded: Manifest, kept: readonly string[]): Manifest {
  const only = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(entries).filter(([path]) => kept.includes(path)));
  return {
    ...emptyManifest(root),
    directories: recorded.directories.filter((directory) => kept.some((path) => isBelow(directory, path))),
    files: only(recorded.files),
    links: only(recorded.links),
    merges: only(recorded.merges),
  };
}
