import type { JsonObject } from '../core/json.ts';
import type { Grant } from '../core/profile.ts';

/** What opens a method of ToolHost: a grant of tool.json, or that the tool is one of ours. */
type Access = { grant: Grant } | { coreOnly: true };

/** Every method of host.proto. */
export const HOST_METHODS = {
  Exec: { grant: 'exec' },
  Scrub: { grant: 'scrub' },
  Log: { grant: 'log' },
  MemorySearch: { grant: 'memory_search' },
  MemoryStore: { grant: 'memory_store' },
  CheckpointSave: { grant: 'checkpoint_save' },
  CheckpointRestore: { grant: 'checkpoint_restore' },
  ArtifactView: { coreOnly: true },
  MemoryGet: { coreOnly: true },
  MemoryFeedback: { coreOnly: true },
  CheckpointList: { coreOnly: true },
  BranchOpen: { coreOnly: true },
  BranchReturn: { coreOnly: true },
  SessionInit: { coreOnly: true },
} as const satisfies Record<string, Access>;

export type HostMethod = keyof typeof HOST_METHODS;

/** What a service gives back. */
export interface ServiceAnswer {
  answer: JsonObject;
  /** Id of a stored output of the session that the call shows instead of text of its own. */
  shows?: string;
}

/** What the daemon keeps for tools, by method; those of Exec, Scrub and Log are no services. Throws ContextdError. */
export type HostServices = Readonly<
  Partial<Record<HostMethod, (sessionKey: string, request: JsonObject) => Promise<ServiceAnswer>>>
>;
