import type { HostCallRecord } from '../call/outcome.ts';
import type { SessionRef } from '../call/session.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Grant } from '../core/profile.ts';
import type { SandboxPolicy } from '../sandbox/sandbox-policy.ts';

/**
 * One row of the table of ToolHost. `grant`: the grant of tool.json that opens the method, or 'core tools' for a method
 * that only our own tools may use. `record`: what the audit record of a request holds.
 */
interface MethodRow {
  grant: Grant | 'core tools';
  record: keyof RecordFields;
}

/** By kind of record, the fields that the method itself fills in. Every record has method, result and duration. */
interface RecordFields {
  request: object;
  command: Pick<HostCallRecord, 'exit_code' | 'ended_by'>;
}

/** Every method of host.proto. A method without a row is refused, and the refusal is recorded. */
export const HOST_METHODS = {
  Exec: { grant: 'exec', record: 'command' },
  Scrub: { grant: 'scrub', record: 'request' },
  Log: { grant: 'log', record: 'request' },
  MemorySearch: { grant: 'memory_search', record: 'request' },
  MemoryStore: { grant: 'memory_store', record: 'request' },
  CheckpointSave: { grant: 'checkpoint_save', record: 'request' },
  CheckpointRestore: { grant: 'checkpoint_restore', record: 'request' },
  ArtifactView: { grant: 'core tools', record: 'request' },
  JobStart: { grant: 'core tools', record: 'request' },
  Jobs: { grant: 'core tools', record: 'request' },
  MemoryGet: { grant: 'core tools', record: 'request' },
  MemoryFeedback: { grant: 'core tools', record: 'request' },
  CheckpointList: { grant: 'core tools', record: 'request' },
  BranchOpen: { grant: 'core tools', record: 'request' },
  BranchReturn: { grant: 'core tools', record: 'request' },
  SessionInit: { grant: 'core tools', record: 'request' },
} as const satisfies Record<string, MethodRow>;

export type HostMethod = keyof typeof HOST_METHODS;

/** The fields of its record that a method may set. */
export type RecordOf<Method extends HostMethod> = RecordFields[(typeof HOST_METHODS)[Method]['record']];

export function isHostMethod(method: string): method is HostMethod {
  return Object.hasOwn(HOST_METHODS, method);
}

/** The answer of a service. */
export interface ServiceAnswer {
  answer: JsonObject;
  /** Id of a stored output of the session, which the call shows instead of its own text. */
  shows?: string;
  /** The view, as a caller writes it, if the call asks for none. Default: head_tail. */
  standardView?: Json;
}

/** What a service may know of the call in which it is asked. */
export interface ServiceCall {
  requestId: string;
  tool: string;
  /** False for a tool from elsewhere. */
  isCore: boolean;
  /** Monotonic milliseconds at which the call ends. */
  endsAt: number;
  /** Aborts when nobody waits for the call any more. */
  signal: AbortSignal;
  /** The policy of the commands of this call. */
  commandPolicy(): SandboxPolicy;
  /** Tokens whose values the call got. */
  opened: readonly string[];
  /** Bytes that a command may print before it is killed; 0: no limit. */
  outputKillBytes: number;
}

/** What the daemon keeps for tools, by method. Exec, Scrub and Log are not services. Throws ContextdError. */
export type HostServices = Readonly<
  Partial<Record<HostMethod, (session: SessionRef, request: JsonObject, call: ServiceCall) => Promise<ServiceAnswer>>>
>;
