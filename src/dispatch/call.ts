import { type CallFacts, NO_FACTS, type Outcome } from '../call/outcome.ts';
import type { CallRequest } from '../call/request.ts';
import type { SessionRef } from '../call/session.ts';
import type { CatalogTool } from '../catalog/catalog.ts';
import type { ContextdError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
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
}

/** The options that dispatch reads for every tool; no tool's schema repeats them (design §4). */
export interface CommonOptions {
  /** Maximum tokens of the printed line. */
  maxTokens: number;
  view: View;
  /** False if the call names no view and gets the default. */
  isViewAsked: boolean;
  /** The view as the caller wrote it; null if the call names none. */
  viewJson: Json | null;
  continuation: string | null;
  timeoutMs: number;
  dryRun: boolean;
  /** The branch that the arguments name; null: none. */
  branch: string | null;
}

/** A call after step 2: its project, tool and arguments are valid. */
export interface VerifiedCall extends Call {
  tool: CatalogTool;
  options: CommonOptions;
  /** The tool's own arguments, without the common options. */
  input: JsonObject;
}

/** The result of a call before it is scrubbed. */
export interface RawOutcome extends Outcome {
  /** What the tool's own process found, leaf by leaf of {data, streams} (the first pass of step 6). */
  readonly firstPass: readonly (readonly Finding[])[];
  /** The daemon's own warnings about tokens. They are not scrubbed: the tokens in them are meant to be read. */
  readonly tokenNotes: readonly string[];
}

export const EMPTY_OUTCOME: RawOutcome = {
  data: {},
  streams: [],
  namedBy: 'core',
  failure: null,
  warnings: [],
  denied: [],
  connections: [],
  quarantined: [],
  fileChanges: null,
  facts: NO_FACTS,
  firstPass: [],
  tokenNotes: [],
};

/** What is known of a call before it ends: what the host did for it, and which secrets it was given. */
export type KnownParts = Partial<
  Pick<RawOutcome, 'denied' | 'connections' | 'quarantined' | 'fileChanges' | 'tokenNotes'>
> & {
  facts?: Partial<CallFacts>;
};

export function addKnown<T extends KnownParts>(outcome: T, { facts, ...parts }: KnownParts): T {
  return { ...outcome, ...parts, facts: { ...outcome.facts, ...facts } };
}

export function failedOutcome(failure: ContextdError, known: KnownParts = {}): RawOutcome {
  return addKnown({ ...EMPTY_OUTCOME, failure }, known);
}
