import { joinFacts } from '../call/fact-operations.ts';
import { type CallFacts, NO_FACTS, type Outcome } from '../call/outcome.ts';
import type { CallRequest } from '../call/request.ts';
import type { SessionRef } from '../call/session.ts';
import type { CatalogTool } from '../catalog/catalog.ts';
import type { ContextdError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { nameOnSurface } from '../core/surface-calls.ts';
import type { EarlySearch } from '../scrub/find-secrets.ts';
import type { Finding } from '../scrub/finding.ts';
import type { View } from '../tokens/views/view.ts';

/** A call after step 1, identify. */
export interface Call {
  request: CallRequest;
  requestId: string;
  /** The key of sessions, secrets, artifacts and etags. */
  session: SessionRef;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  /** Monotonic milliseconds. */
  startedAt: number;
  /** SHA-256 (hex) of what the call has stored, by artifact. */
  readonly artifacts: Map<string, string>;
}

/** Options that dispatch reads for every tool. Tool schemas do not repeat them (docs/answers.md). */
export interface CommonOptions {
  /** Maximum tokens of the printed line. */
  maxTokens: number;
  /** The same for an output that does not fit into `maxTokens`, and is cut. */
  cutTokens: number;
  view: View;
  /** False if the call names no view and gets the default. */
  isViewAsked: boolean;
  /** The view as the caller wrote it, or null. */
  viewJson: Json | null;
  continuation: string | null;
  timeoutMs: number;
  dryRun: boolean;
  /** Branch named in the arguments, or null. */
  branch: string | null;
}

/** A call after step 2: its project, tool and arguments are valid. `request` is then the call of `tool`, whatever it came through. */
export interface VerifiedCall extends Call {
  tool: CatalogTool;
  options: CommonOptions;
  /** The arguments without the common options. */
  input: JsonObject;
  /** Absent: the tool was called itself. */
  execution?: Execution;
}

/** A call that came through a tool that executes others. */
export interface Execution {
  /** The tool that was called. */
  readonly via: string;
  /** The id of the executed tool. */
  readonly toolId: string;
  /** Repairs of the arguments, as `rule at pointer`. */
  readonly repairs: readonly string[];
}

/** The result of a call before it is scrubbed. */
export interface RawOutcome extends Outcome {
  /** Findings of the tool's own process, per leaf of {data, streams} (the first pass of step 6). */
  readonly firstPass: readonly (readonly Finding[])[];
  /** The second pass of the output, if it began while the first one went on. */
  readonly early: EarlySearch | null;
  /** The daemon's own warnings about tokens. Not scrubbed, because the tokens in them must stay readable. */
  readonly tokenNotes: readonly string[];
}

export const EMPTY_OUTCOME: RawOutcome = {
  data: {},
  streams: [],
  ownNames: [],
  failure: null,
  facts: NO_FACTS,
  firstPass: [],
  early: null,
  tokenNotes: [],
};

export function addFacts<O extends Pick<Outcome, 'facts'>>(outcome: O, facts: Partial<CallFacts>): O {
  return { ...outcome, facts: joinFacts(outcome.facts, facts) };
}

export function failedOutcome(failure: ContextdError, facts: Partial<CallFacts> = {}): RawOutcome {
  return addFacts({ ...EMPTY_OUTCOME, failure }, facts);
}

/** The tool with which the caller reads on: it may know the one that ran only through another. */
export function continuedBy({ request, tool, execution }: VerifiedCall): string {
  return nameOnSurface(execution?.via ?? tool.manifest.name, request.surface);
}
