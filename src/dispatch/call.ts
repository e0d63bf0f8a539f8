import type { CatalogTool } from '../catalog/catalog.ts';
import type { Denial } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { CallFacts } from '../runner/call-facts.ts';
import type { Finding } from '../scrub/finding.ts';
import type { ToolStream } from '../sdk/tool.ts';
import type { CallRequest } from '../server/door.ts';
import type { View } from '../tokens/views/view.ts';
import type { OpenedSecret } from './open-secrets.ts';
import type { NamedBy } from './own-leaves.ts';

/** A call once it is known who calls, from where and with how much time (step 1). */
export interface Call {
  request: CallRequest;
  requestId: string;
  sessionId: string;
  /** What sessions, secrets, artifacts and etags hang on: project root and session id. */
  sessionKey: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  /** Monotonic milliseconds of the start. */
  startedAt: number;
}

/** The options every tool takes; dispatch reads them and no schema repeats them (design §4). */
export interface CommonOptions {
  /** Tokens of the printed line. */
  maxTokens: number;
  view: View;
  /** False: the default one, since the call names none. */
  isViewAsked: boolean;
  continuation: string | null;
  timeoutMs: number;
  dryRun: boolean;
}

/** A call whose project, tool and arguments are known to be good (step 2). */
export interface VerifiedCall extends Call {
  tool: CatalogTool;
  options: CommonOptions;
  /** The tool's own arguments, without the common options. */
  input: JsonObject;
}

/** What a call came to, before it is scrubbed. Every way out of a call is one of these. */
export interface Outcome {
  data: JsonObject;
  streams: readonly ToolStream[];
  /** Who chose the keys of `data` and the fields of `streams`. */
  namedBy: NamedBy;
  failure: ContextdError | null;
  warnings: readonly string[];
  denied: readonly Denial[];
  /** Protected paths that the call made and that have another name now. */
  quarantined: CallFacts['quarantined'];
  /** False if the search for them goes on. */
  searchComplete: CallFacts['searchComplete'];
  /** What the tool asked of the host. */
  hostCalls: CallFacts['hostCalls'];
  /** The stored output that the call shows instead of text of its own. */
  shows: CallFacts['shows'];
  /** Milliseconds in the tool; null: it did not run. */
  runMs: number | null;
  /** Bytes beyond `output.max_bytes` that nobody keeps. */
  droppedBytes: number;
  /** What the tool's own process saw, leaf by leaf of {data, streams} (the first pass of step 6). */
  firstPass: readonly (readonly Finding[])[];
  /** What isolation lacked; empty when it was full or nothing ran. */
  isolationMissing: readonly string[];
  /** Secrets that were put in the place of their tokens, whatever came of it. */
  secretsOpened: readonly OpenedSecret[];
  /** The daemon's own warnings about tokens, which are not scrubbed: a token in them is meant. */
  tokenNotes: readonly string[];
}

export const EMPTY_OUTCOME: Outcome = {
  data: {},
  streams: [],
  namedBy: 'core',
  failure: null,
  warnings: [],
  denied: [],
  quarantined: [],
  searchComplete: true,
  hostCalls: { calls: [], total: 0 },
  shows: null,
  runMs: null,
  droppedBytes: 0,
  firstPass: [],
  isolationMissing: [],
  secretsOpened: [],
  tokenNotes: [],
};

/** What is known of a call before it is over: what the host did for it, and which secrets went in. */
export type KnownFacts = Partial<
  CallFacts & Pick<Outcome, 'secretsOpened' | 'tokenNotes' | 'runMs' | 'isolationMissing'>
>;

export function failedOutcome(failure: ContextdError, facts: KnownFacts = {}): Outcome {
  return { ...EMPTY_OUTCOME, failure, ...facts };
}
