import type { HostCallRecord } from '../call/outcome.ts';
import type { SessionRef } from '../call/session.ts';
import type { AnswerForm, WarningCode } from '../core/envelope.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Grant } from '../core/profile.ts';
import type { SandboxPolicy } from '../sandbox/contract/policy.ts';

/**
 * One row of ToolHost's method table. `grant`: the grant of tool.json that opens the method, or 'core tools' if only
 * our own tools may use it. `record`: what the audit record of a request holds.
 */
interface MethodRow {
  grant: Grant | 'core tools';
  record: keyof RecordFields;
}

/** Fields that the method itself fills in, by kind of record. Every record has method, result and duration. */
interface RecordFields {
  request: object;
  command: Pick<HostCallRecord, 'exit_code' | 'ended_by'>;
}

/** Every method of host.proto. A request for any other method is refused, and the refusal is recorded. */
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

/** The record fields that a method may set. */
export type RecordOf<Method extends HostMethod> = RecordFields[(typeof HOST_METHODS)[Method]['record']];

export function isHostMethod(method: string): method is HostMethod {
  return Object.hasOwn(HOST_METHODS, method);
}

/** The reply of a service. */
export interface ServiceAnswer {
  answer: JsonObject;
  /** Id of a stored output of the session, shown instead of the call's own text. */
  shows?: string;
  /** The view as a caller writes it, for a call that names none. Default: head_tail. */
  standardView?: Json;
  /** Ids for the answer's `refs`, such as those of found memories. */
  refs?: readonly string[];
  /** For the caller of the tool. */
  warnings?: readonly (readonly [WarningCode, string])[];
}

/** What a service may know about the call that asks it. */
export interface ServiceCall {
  requestId: string;
  tool: string;
  /** False for an installed tool. */
  isCore: boolean;
  /** How the call is answered: in words, or as JSON. Default: json. */
  form?: AnswerForm;
  /** End of the call, in monotonic milliseconds. */
  endsAt: number;
  /** Aborts when the call's result is no longer wanted. */
  signal: AbortSignal;
  /** Policy of the call's commands. */
  commandPolicy(): SandboxPolicy;
  /** Tokens of the secrets given to the call. */
  opened: readonly string[];
  /** Output in bytes after which a command is killed; 0: no limit. */
  outputKillBytes: number;
}

/** The daemon's services for tools, by method. Exec, Scrub and Log are not services. Throws ContextdError. */
export type HostServices = Readonly<
  Partial<Record<HostMethod, (session: SessionRef, request: JsonObject, call: ServiceCall) => Promise<ServiceAnswer>>>
>;
