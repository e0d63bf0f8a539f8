import type { ErrorCode } from '../core/errors.ts';

/** A call that was answered, for whom it concerns how long calls take. Holds nothing of its input and output. */
export interface EndedCall {
  /** As the caller wrote it: any text, unless a tool has this name. */
  readonly tool: string;
  readonly door: string;
  readonly projectRoot: string;
  readonly errorCode: ErrorCode | null;
  readonly exitCode: number;
  /** Of the answer. */
  readonly tokens: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  /** Microseconds by step, as `<step>_us`, in the order in which the steps began. Together they are the whole call. */
  readonly times: Readonly<Record<string, number>>;
  /** The header traceparent of W3C Trace Context, unchecked. */
  readonly traceParent?: string;
}
