import { ContextdError } from '../../core/errors.ts';
import { mergesFor } from './layout.ts';
import type { Manifest } from './manifest.ts';
import { emptyManifest } from './manifest.ts';
import { type MergeRecord, unmerge, type Wish } from './merged-file.ts';
import { type Action, type Plan, planRemoval } from './plan.ts';
import { look } from './tree.ts';

/** What `ctxd init --uninstall` takes away: exactly what the manifest names, unless it was changed since. */
export async function planUninstall(root: string, recorded: Manifest): Promise<Plan> {
  const wishes = mergesFor([]);
  const merged: Action[] = [];
  const kept: string[] = [];
  for (const [path, record] of Object.entries(recorded.merges)) {
    const wish = wishes.get(path);
    const action = wish === undefined ? undefined : await planUnmerge(root, path, wish, record);
    if (action === 'kept') kept.push(path);
    else if (action !== undefined) merged.push(action);
  }
  const removal = await planRemoval(root, recorded);
  const allKept = [...kept, ...removal.kept];
  return { actions: [...merged, ...removal.actions], manifest: manifestOf(root, recorded, allKept), kept: allKept };
}

/** What stays on record: the paths that were left, so that a later init knows that they were once its own. */
function manifestOf(root: string, recorded: Manifest, kept: readonly string[]): Manifest {
  const only = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(entries).filter(([path]) => kept.includes(path)));
  return {
    ...emptyManifest(root),
    directories: recorded.directories.filter((directory) => kept.some((path) => path.startsWith(`${directory}/`))),
    files: only(recorded.files),
    links: only(recorded.links),
    merges: only(recorded.merges),
  };
}

async function planUnmerge(
  root: string,
  path: string,
  wish: Wish,
  record: MergeRecord,
): Promise<Action | 'kept' | undefined> {
  const found = await look(root, path);
  if (found.kind === 'missing') return undefined;
  if (found.kind !== 'file') return 'kept';
  try {
    const text = unmerge(found.text, wish, record);
    if (text === undefined) return { kind: 'remove', path };
    return text === found.text ? undefined : { kind: 'write', path, text, replaces: true, mode: found.mode };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ContextdError) return 'kept';
    throw error;
  }
}
