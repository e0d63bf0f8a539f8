import { createHash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import type { InstalledSource } from '../../catalog/installed-source.ts';
import type { CallableTool__Output, CallableTools } from '../../protocol/generated/tool.ts';
import { compareText } from '../../stores/consents.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import { requireProject } from '../projects/require-project.ts';

export interface CallableToolDeps {
  catalog: Pick<Catalog, 'find' | 'verify'>;
  installed: Pick<InstalledSource, 'follow'>;
  projects: ProjectStore;
}

export interface ToolWatch {
  root: string;
  /** The version of an earlier answer; "" for none. */
  knownVersion: string;
  signal: AbortSignal;
}

/** The tools that calls of the project may name, as soon as their version is another than the known one. */
export async function watchTools(
  { root, knownVersion, signal }: ToolWatch,
  deps: CallableToolDeps,
): Promise<CallableTools> {
  for (;;) {
    // Followed before the tools are read, so that no change between the two is missed.
    const changed = nextChange(deps.installed, signal);
    const found = await callableTools(root, deps);
    if (found.version !== knownVersion) {
      changed.cancel();
      return found;
    }
    await changed.happened;
  }
}

function nextChange({ follow }: CallableToolDeps['installed'], signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => reject(signal.reason);
  const unfollow = follow(resolve);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const happened = promise.finally(() => {
    unfollow();
    signal.removeEventListener('abort', abort);
  });
  // Only the caller that waits learns of it.
  happened.catch(() => {});
  return { happened, cancel: resolve };
}

async function callableTools(root: string, { catalog, projects }: CallableToolDeps): Promise<CallableTools> {
  const project = await requireProject(root, projects);
  const found = project.tools.map(async ({ name }): Promise<CallableTool__Output[]> => {
    const tool = catalog.find(project, name);
    // The daemon's own verbs find tools, and a client that gets this list has found them all.
    if (tool === undefined || tool.manifest.isHost || !(await isIntact(catalog.verify(tool)))) return [];
    return [{ name, purpose: tool.manifest.purpose, schema_json: tool.schemaJson }];
  });
  const tools = (await Promise.all(found)).flat().sort((a, b) => compareText(a.name, b.name));
  return { tools, version: createHash('sha256').update(JSON.stringify(tools)).digest('hex') };
}

function isIntact(verified: Promise<void>): Promise<boolean> {
  return verified.then(
    () => true,
    () => false,
  );
}
