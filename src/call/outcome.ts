import type { ApprovalAnswer } from '../core/approval-answers.ts';
import {
  type CodedWarnings,
  type Denial,
  type RateLimit,
  type SetAside,
  WARNING_CODES,
  type WarningCode,
} from '../core/envelope.ts';
import type { ContextdError, ErrorCode } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { EndedBy } from '../protocol/host-messages.ts';
import type { ToolStream } from '../protocol/tool-output.ts';

/** The result of a call. */
export interface Outcome {
  data: JsonObject;
  streams: readonly ToolStream[];
  /**
   * Keys of `data` and fields of `streams` that a core tool states as its own, besides those of the daemon. Null: an
   * installed tool chose the keys, so each of them may be data.
   */
  ownNames: readonly string[] | null;
  failure: ContextdError | null;
  facts: CallFacts;
}

/** Changed files as listed in an answer. */
export interface FileChanges {
  /** Argument for `ctxd undo`; null if none of the changes can be undone. */
  readonly ref: string | null;
  /** `A path`, `M path` or `D path` for an added, modified or deleted file; at most 20. */
  readonly files: readonly string[];
  /** Number of changed files not listed. */
  readonly more: number;
  /** Changes that undo does not cover, as `path: why`; at most 5. */
  readonly notCovered: readonly string[];
}

/** A group of equal connections or refused name lookups of a call. Host `*` groups all beyond the first 100 entries. */
export interface ConnectionRecord {
  readonly host: string;
  /** 0 for a lookup. */
  readonly port: number;
  /** `several` if the group differs in it. */
  readonly via: string;
  readonly verdict: 'allowed' | 'denied';
  /** The pattern that decided; absent if none did. */
  readonly rule?: string;
  /** Reason for the refusal. */
  readonly why?: string;
  /** Bytes from and to the sandbox. */
  readonly up: number;
  readonly down: number;
  /** Size of the group; absent for 1. */
  readonly count?: number;
}

/** What a tool, its commands and the host report of a call: `FactCollector` has a value for each. */
export interface RunFacts {
  /** From the tool, its commands and contextd, for the caller. */
  readonly warnings: readonly string[];
  /** Warnings with a code of specs/4, for the caller. */
  readonly codedWarnings: CodedWarnings;
  /** Accesses that the sandbox refused to commands, deduplicated. */
  readonly denied: readonly Denial[];
  /** Hosts that commands reached or tried to reach, for the audit record; bounded. */
  readonly connections: readonly ConnectionRecord[];
  /** Protected paths that the call created or changed: set aside, removed, or left for a person to judge (`stays`). */
  readonly quarantined: readonly SetAside[];
  /** The call's changes to project files; null if it made none or they are unknown. */
  readonly fileChanges: FileChanges | null;
  /** False if the search for protected paths is still running. A later call reports its findings. */
  readonly searchComplete: boolean;
  /** Requests of the tool to ToolHost, in order: the first 100 of `total`. */
  readonly hostCalls: { readonly calls: readonly HostCallRecord[]; readonly total: number };
  /** Stored artifact to show instead of the tool's own text, or null. */
  readonly shows: string | null;
  /** View of that artifact, as a caller would write it, for a call that names none. Null: the default view. */
  readonly standardView: Json | null;
  /** Ids that the tool found, such as memory ids, for the answer's `refs`. */
  readonly refs: readonly string[];
  /** Exit statuses of the parts of the last pipeline of its command; empty if unknown, or if there is one part. */
  readonly pipeStatus: readonly number[];
  /** The working directory in which its last command ended; empty if nothing asked for it, if it is unknown, and if it started there. */
  readonly endedIn: readonly string[];
  /** How the output came about, if not simply by one run with the arguments of the caller. */
  readonly provenance: Provenance;
  /** Tokens, and neutralised look-alikes, in texts that `ToolHost.Scrub` gave to the tool during this call. */
  readonly tokensHanded: readonly string[];
}

/**
 * What happened during a call, besides its output: what was reported of the run, and what the steps of the call add. `FACTS` has a
 * row for each property: which of its texts may hold secrets, and where it is reported.
 */
export interface CallFacts extends RunFacts {
  /** A limit on calls that this one nearly reached; null if none is near. */
  readonly rateLimit: RateLimit | null;
  /** Rules of a person that asked before the call ran, and the answers. */
  readonly approvals: readonly ApprovalRecord[];
  /** Rules of clients that cover commands of the call. */
  readonly commandRules: readonly CommandRuleRecord[];
  /** Milliseconds in the tool; null if it did not run. */
  readonly runMs: number | null;
  /** Bytes beyond `output.max_bytes`, which were not kept. */
  readonly droppedBytes: number;
  /** True if the tool applied the requested view itself. Its texts are shown unchanged. */
  readonly isViewApplied: boolean;
  /** How isolated it ran; null if nothing ran, or in the daemon itself. */
  readonly isolation: 'full' | 'reduced' | 'unavailable' | null;
  /** Missing parts of the isolation; empty if it was full or nothing ran. */
  readonly isolationMissing: readonly string[];
  /** SHA-256 (hex) of what a person had decided when the call was judged; "" if it was not judged. */
  readonly policyHash: string;
  /** SHA-256 (hex) of each artifact that the answer stored. */
  readonly artifactHashes: readonly string[];
  /** Secrets that replaced their tokens in the input, even if the call failed. */
  readonly secretsOpened: readonly OpenedSecret[];
}

/** Warnings, as a fact. */
export function codedWarnings(warnings: readonly (readonly [WarningCode, string])[]): CodedWarnings {
  const messages = (code: WarningCode): readonly string[] =>
    warnings.flatMap(([one, message]) => (one === code ? [message] : []));
  // Every code has its list, which fromEntries() cannot tell.
  return Object.fromEntries(WARNING_CODES.map((code) => [code, messages(code)])) as CodedWarnings;
}

/** The facts of a call with nothing to report. */
export const NO_FACTS: CallFacts = {
  warnings: [],
  codedWarnings: codedWarnings([]),
  rateLimit: null,
  approvals: [],
  commandRules: [],
  denied: [],
  connections: [],
  quarantined: [],
  fileChanges: null,
  searchComplete: true,
  hostCalls: { calls: [], total: 0 },
  shows: null,
  standardView: null,
  refs: [],
  pipeStatus: [],
  endedIn: [],
  runMs: null,
  droppedBytes: 0,
  isViewApplied: false,
  isolation: null,
  isolationMissing: [],
  policyHash: '',
  artifactHashes: [],
  secretsOpened: [],
  provenance: {},
  tokensHanded: [],
};

/** Absent parts say that nothing happened. */
export interface Provenance {
  /** Repairs of the arguments, as `rule at pointer`. */
  readonly argRepairs?: readonly string[];
  /** True if an earlier output of the same call was kept, and nothing ran. */
  readonly isCacheHit?: boolean;
  /** How often the call was tried, if more than once. */
  readonly attempts?: number;
}

/** One rule that asked about a call. */
export interface ApprovalRecord {
  /** The id of the rule. */
  readonly rule: string;
  /** `kept`: an earlier answer allowed it. `none`: nobody answered before the wait or the call ended. */
  readonly answer: ApprovalAnswer | 'kept' | 'none';
  /** The account that answered; absent if nobody did, or earlier. */
  readonly by?: string;
  readonly waited_ms: number;
}

/** A rule of a client that covers a command of the call. */
export interface CommandRuleRecord {
  /** `unseen`: the words of the command do not say whether the rule covers it. */
  readonly verdict: 'denied' | 'asked' | 'unseen';
  readonly rule: string;
  readonly file: string;
}

/** One request of a tool to ToolHost. */
export interface HostCallRecord {
  /** Method name in host.proto. */
  method: string;
  /** Null if the request succeeded. */
  error_code: ErrorCode | null;
  duration_ms: number;
  /** Exec only. */
  exit_code?: number | null;
  /** Exec only. */
  ended_by?: EndedBy;
}

/** One opening of a secret, identified by token, never by value. */
export interface OpenedSecret {
  readonly token: string;
  /** JSON pointer into the input. */
  readonly input: string;
  readonly use: SecretPurpose;
}

/** Destination of an opened secret: a file, an environment variable, or a command's standard input. */
export type SecretPurpose = 'file' | 'env' | 'stdin';
