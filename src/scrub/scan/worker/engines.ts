import type { RuleSources } from '../../exact/rule-pack.ts';
import { createEngine, type ScrubEngine } from '../../hardened/engine.ts';
import type { WorkspaceRules } from '../../workspace-rules.ts';

/** Projects with rules of their own whose engines are kept. */
const MAX_ENGINES = 8;

/** The engine of all, and those of projects that bring rules. */
export class Engines {
  readonly #sources: RuleSources;
  readonly #common: ScrubEngine;
  /** By the key of the rules; the last used is at the end. */
  readonly #ofWorkspaces = new Map<string, ScrubEngine>();

  constructor(sources: RuleSources) {
    this.#sources = sources;
    this.#common = createEngine(sources.pack, { official: sources.official });
  }

  for(workspace: WorkspaceRules | null): ScrubEngine {
    if (workspace === null) return this.#common;
    const engine = this.#ofWorkspaces.get(workspace.key) ?? this.#build(workspace);
    this.#ofWorkspaces.delete(workspace.key);
    this.#ofWorkspaces.set(workspace.key, engine);
    const [oldest] = this.#ofWorkspaces.keys();
    if (this.#ofWorkspaces.size > MAX_ENGINES && oldest !== undefined) this.#ofWorkspaces.delete(oldest);
    return engine;
  }

  /** The patterns of the file were compiled when it was read, all others when the thread started. */
  #build({ files, allowances }: WorkspaceRules): ScrubEngine {
    const { pack, official } = this.#sources;
    return createEngine(pack, { official, added: files, allowances, compile: 'when used' });
  }
}
