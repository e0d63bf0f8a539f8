import { within } from './deadline.ts';
import type { Logger } from './log.ts';

/** A part of the daemon with a start and a stop. `stop` is idempotent and resolves when the part has stopped. */
export interface Part {
  /** For the log. */
  name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Calls that were running when the daemon stopped, and how many of them it ended. */
export interface Drained {
  waited: number;
  ended: number;
}

/** The result of compose.ts. */
export interface Composition {
  /** In start order. They stop in reverse. */
  parts: readonly Part[];
  /** Admits no new calls, waits at most `graceMs` milliseconds for the running ones, then ends the rest. */
  drain(graceMs: number, cause: StopCause): Promise<Drained>;
  /** Masks the secrets in a text. Works before `start` too. */
  mask(text: string): string;
  /** Masks several texts off the main thread. Waits for `start`, and rejects if it cannot mask. Default: `mask`. */
  maskLater?(texts: readonly string[]): Promise<readonly string[]>;
}

/** Milliseconds that a part may take to stop. */
const STOP_DEADLINE_MS = 5_000;

/** Starts the parts in order. If one fails, stops the started ones and throws its error. */
export async function startParts(parts: readonly Part[], logger: Logger): Promise<void> {
  for (const [index, part] of parts.entries()) {
    try {
      await part.start();
    } catch (thrown) {
      logger.debug('part.start_failed', { part: part.name });
      // Includes the part that failed: it may have started halfway.
      await stopParts(parts.slice(0, index + 1), logger);
      throw thrown;
    }
  }
}

/** Combines parts that start in sequence, because each needs the ones before it. */
export function inOrder(parts: readonly Part[]): Part {
  return {
    name: parts.map(({ name }) => name).join(', '),
    async start() {
      for (const part of parts) await part.start();
    },
    async stop() {
      for (const part of parts.toReversed()) await part.stop();
    },
  };
}

/** Renames a part. */
export function named(name: string, part: Pick<Part, 'start' | 'stop'>): Part {
  return { name, start: () => part.start(), stop: () => part.stop() };
}

/** A start step with nothing to stop. */
export function started(name: string, start: () => Promise<void>): Part {
  return { name, start, async stop() {} };
}

/** Combines parts that start concurrently, because none needs another. */
export function together(parts: readonly Part[]): Part {
  return {
    name: parts.map(({ name }) => name).join(', '),
    async start() {
      const starts = await Promise.allSettled(parts.map((part) => part.start()));
      for (const start of starts) if (start.status === 'rejected') throw start.reason;
    },
    async stop() {
      const stops = await Promise.allSettled(parts.map((part) => part.stop()));
      for (const stop of stops) if (stop.status === 'rejected') throw stop.reason;
    },
  };
}

/** Stops parts in reverse, each within `deadlineMs` milliseconds. One that fails or hangs does not block the rest. */
export async function stopParts(
  parts: readonly Part[],
  logger: Logger,
  deadlineMs: number = STOP_DEADLINE_MS,
): Promise<void> {
  for (const part of parts.toReversed()) {
    try {
      await within(deadlineMs, part.stop(), () =>
        logger.error('part.stop_overdue', { part: part.name, deadline_ms: deadlineMs }),
      );
    } catch (thrown) {
      logger.error('part.stop_failed', { part: part.name }, thrown);
    }
  }
}

/** The cause of the daemon's end: a person with `ctxd`, a signal, or a failed part. */
export type StopCause = 'stop' | 'restart' | 'signal' | 'failure';

interface StopOrder {
  /** Grace period for calls in flight, in milliseconds. */
  graceMs: number;
  cause: StopCause;
}

/** A request to stop the daemon. */
export interface StopRequest {
  /** Only the first request counts. Calls in flight get `graceMs` milliseconds. */
  request(graceMs: number, cause: StopCause): void;
  /** Resolves with the first request. */
  requested: Promise<StopOrder>;
}

export function createStopRequest(): StopRequest {
  const { promise, resolve } = Promise.withResolvers<StopOrder>();
  return { request: (graceMs, cause) => resolve({ graceMs, cause }), requested: promise };
}

const EXIT_BASE = 128;
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export interface SignalDeps {
  stop: StopRequest;
  drainMs: number;
  /** If true, SIGHUP (the terminal was closed) stops the daemon. A background daemon ignores it. */
  foreground: boolean;
  logger: Logger;
}

/** The first SIGTERM or SIGINT drains and stops the daemon; the second ends the process at once. */
export function watchSignals({ stop, drainMs, foreground, logger }: SignalDeps): void {
  let seen = 0;
  const onSignal = (signal: keyof typeof SIGNAL_NUMBERS): void => {
    seen += 1;
    if (seen > 1) process.exit(EXIT_BASE + SIGNAL_NUMBERS[signal]);
    logger.info('daemon.signalled', { number: SIGNAL_NUMBERS[signal] });
    stop.request(drainMs, 'signal');
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', foreground ? onSignal : () => {});
}
