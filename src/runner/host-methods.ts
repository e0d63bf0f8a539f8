import type { JsonObject } from '../core/json.ts';
import type { Grant } from '../core/profile.ts';

/** Who may use a method of ToolHost: a tool with a grant in tool.json, or only the core tools. */
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

/** What a service returns. */
export interface ServiceAnswer {
  answer: JsonObject;
  /** Id of a stored output of the session, which the call shows instead of its own text. */
  shows?: string;
}

/** The daemon's services for tools, by method; Exec, Scrub and Log are not among them. They throw ContextdError. */
export type HostServices = Readonly<
  Partial<Record<HostMethod, (sessionKey: string, request: JsonObject) => Promise<ServiceAnswer>>>
>;
