import type { HistogramFigures } from '../core/histogram.ts';

/**
 * What an event is about. `approval`: a call waits for a person, or waits no more. `person`: what a person did with `ctxd`, or
 * with a token that may decide.
 */
export type LiveTopic = 'approval' | 'call' | 'job' | 'network' | 'person' | 'session';

/** Something that just happened. Everything in it has been scrubbed. */
export interface LiveEvent {
  /** Ascending in one daemon, without gaps. */
  readonly number: number;
  readonly topic: LiveTopic;
  /** A project root; '' if no project is concerned. */
  readonly project: string;
  /** One line of JSON. */
  readonly json: string;
}

/** The events of a running daemon, for those who watch. */
export interface LiveFeed {
  /** Names this daemon: numbers of another one mean nothing here. */
  readonly epoch: string;
  /** The events after a number, as far as they are kept; null if some of them are not. */
  since(number: number): readonly LiveEvent[] | null;
  /** Calls the listener for each event from now on, until the returned function is called. It must not throw. */
  follow(listener: (event: LiveEvent) => void): () => void;
}

/** Sums of one tool since the daemon started. */
export interface ToolFigures {
  readonly tool: string;
  /** Calls by `ok` or their error code. */
  readonly results: Readonly<Record<string, number>>;
  /** Calls that took at most as long as each of DURATION_BOUNDS_MS, and the sum of all. */
  readonly durations: readonly number[];
  readonly durationMs: number;
}

export const DURATION_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000] as const;

/** How long a step of the calls took, or a wait inside of a step, since the daemon started. */
export interface StepFigures extends HistogramFigures {
  /**
   * A step of `ARCHITECTURE.md`; `slot` and `journal` are the waits for a turn and for the journal within `run`, `ready_sandbox` and
   * `new_sandbox` those of commands for a sandbox, `event_loop` is how late the event loop of the daemon was while calls ran.
   */
  readonly step: string;
}

/** What the daemon has counted since it started. */
export interface Figures {
  readonly tools: readonly ToolFigures[];
  readonly steps: readonly StepFigures[];
  /** Tokens that whole outputs would have cost, and tokens of the answers. */
  readonly tokensRun: number;
  readonly tokensReturned: number;
  readonly secretsFound: number;
  readonly scrubMs: number;
  /** Answers of tools of MCP servers that were kept from an equal call. */
  readonly fromCache: number;
  readonly callsRunning: number;
  readonly callsWaiting: number;
  readonly residentBytes: number;
  readonly startedMs: number;
}
