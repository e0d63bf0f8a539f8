import type { Denial, SetAside } from '../core/envelope.ts';
import type { ContextdError, ErrorCode } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { EndedBy } from '../protocol/host-messages.ts';
import type { ToolStream } from '../protocol/tool-output.ts';

/** The result of a call. Its texts come from tools and commands and may hold secrets; its facts are contextd's own. */
export interface Outcome {
  data: JsonObject;
  streams: readonly ToolStream[];
  /** Who chose the keys of `data` and the fields of `streams`: a core tool, or an installed one. */
  namedBy: 'core' | 'installed';
  failure: ContextdError | null;
  warnings: readonly string[];
  /** What the sandbox refused to commands, each once. */
  denied: readonly Denial[];
  /** What commands reached or tried to reach, for the audit record; bounded. */
  connections: readonly ConnectionRecord[];
  /** Protected paths that the call created and that were renamed. */
  quarantined: readonly SetAside[];
  /** What the call did to files of its project; null: nothing, or it is not known. */
  fileChanges: FileChanges | null;
  facts: CallFacts;
}

/** Changed files, as an answer names them. */
export interface FileChanges {
  /** For `ctxd undo`; null if nothing of it can be undone. */
  readonly ref: string | null;
  /** `A path`, `M path` or `D path` for an added, modified or deleted file; at most 20. */
  readonly files: readonly string[];
  /** How many more there are. */
  readonly more: number;
  /** What changed and cannot be undone, as `path: why`; at most 5. */
  readonly notCovered: readonly string[];
}

/** Equal connections or refused name look-ups of a call. The host `*` stands for those beyond the first 100 entries. */
export interface ConnectionRecord {
  readonly host: string;
  /** 0 for a look-up. */
  readonly port: number;
  /** `several` if they differ in it. */
  readonly via: string;
  readonly verdict: 'allowed' | 'denied';
  /** The pattern that decided, if one did. */
  readonly rule?: string;
  /** Why it was refused. */
  readonly why?: string;
  /** Bytes from and to the sandbox. */
  readonly up: number;
  readonly down: number;
  /** How many they are; absent for one. */
  readonly count?: number;
}

/**
 * What contextd did and measured during a call. No tool or command chooses any of it, so it passes through scrubbing
 * unchanged.
 */
export interface CallFacts {
  /** False if the search for protected paths continues; what it finds is reported with a later call. */
  readonly searchComplete: boolean;
  /** Requests of the tool to ToolHost, in their order; the first 100 of `total`. */
  readonly hostCalls: { readonly calls: readonly HostCallRecord[]; readonly total: number };
  /** The stored artifact to show instead of the tool's own text, or null. */
  readonly shows: string | null;
  /** Its view, as a caller writes it, if the call asks for none; null: the default view. */
  readonly standardView: Json | null;
  /** Milliseconds in the tool; null if it did not run. */
  readonly runMs: number | null;
  /** Bytes beyond `output.max_bytes` that were not kept. */
  readonly droppedBytes: number;
  /** True if the tool applied the view that was asked for; its texts are shown as they are. */
  readonly isViewApplied: boolean;
  /** What isolation lacked; empty if it was full or nothing ran. */
  readonly isolationMissing: readonly string[];
  /** Secrets that replaced their tokens in the input, whether or not the call succeeded. */
  readonly secretsOpened: readonly OpenedSecret[];
}

export const NO_FACTS: CallFacts = {
  searchComplete: true,
  hostCalls: { calls: [], total: 0 },
  shows: null,
  standardView: null,
  runMs: null,
  droppedBytes: 0,
  isViewApplied: false,
  isolationMissing: [],
  secretsOpened: [],
};

/** One request of a tool to ToolHost. */
export interface HostCallRecord {
  /** As host.proto names it. */
  method: string;
  /** Null if the request succeeded. */
  error_code: ErrorCode | null;
  duration_ms: number;
  /** Exec only. */
  exit_code?: number | null;
  /** Exec only. */
  ended_by?: EndedBy;
}

/** One opening of a secret: by token, never by value. */
export interface OpenedSecret {
  readonly token: string;
  /** JSON pointer of the input. */
  readonly input: string;
  readonly use: SecretPurpose;
}

/** Where an opened secret goes: into a file, an environment variable or the standard input of a command. */
export type SecretPurpose = 'file' | 'env' | 'stdin';
