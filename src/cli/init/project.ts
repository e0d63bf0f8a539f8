import { applyActions } from './apply.ts';
import type { Layout } from './layout.ts';
import { deleteManifest, type Manifest, readManifest, writeManifest } from './manifest.ts';
import { type Action, planInit } from './plan.ts';
import { planUninstall } from './plan-uninstall.ts';
import { checkWritable } from './writable.ts';

/** What was done to a project, by path. */
export interface ProjectChanges {
  created: string[];
  updated: string[];
  removed: string[];
  /** Left alone, because they were changed since contextd made them. */
  kept: string[];
}

/** A change that was found to be possible and waits to be carried out. */
export interface PreparedChange {
  apply(): Promise<ProjectChanges>;
}

/** Finds out what `ctxd init` changes in the project; throws, with nothing changed, when something stands in the way. */
export async function prepareInit(root: string, layout: Layout, projectsDir: string): Promise<PreparedChange> {
  const recorded = await readManifest(projectsDir, root);
  const { actions, manifest, kept } = await planInit(root, layout, recorded);
  await checkWritable(root, actions);
  return {
    async apply() {
      // The record comes first: after a crash, the same command or --uninstall knows what may already be there.
      if (!sameManifest(recorded, manifest)) await writeManifest(projectsDir, manifest);
      await applyActions(root, actions);
      return changesOf(actions, kept);
    },
  };
}

/**
 * The same for `ctxd init --uninstall`; undefined when there is no record of an init here. The record stays for as long
 * as something that init made was kept because it was changed since.
 */
export async function prepareUninstall(root: string, projectsDir: string): Promise<PreparedChange | undefined> {
  const recorded = await readManifest(projectsDir, root);
  if (recorded === undefined) return undefined;
  const { actions, manifest, kept } = await planUninstall(root, recorded);
  await checkWritable(root, actions);
  return {
    async apply() {
      await applyActions(root, actions);
      if (kept.length === 0) await deleteManifest(projectsDir, root);
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
