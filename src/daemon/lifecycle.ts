import type { Logger } from '../core/log.ts';

/** Something that lives as long as the daemon does. `stop` is idempotent and resolves when it is done. */
export interface Part {
  /** For the log. */
  name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** How many calls were under way at the stop, and how many of them were ended. */
export interface Drained {
  waited: number;
  ended: number;
}

/** What compose.ts builds. */
export interface Composition {
  /** In the order of their start; stopped in reverse. */
  parts: readonly Part[];
  /** Lets no further call in, waits at most `graceMs` milliseconds for those under way, and ends the rest. */
  drain(graceMs: number, cause: StopCause): Promise<Drained>;
  /** Takes secrets out of a text; works before `start` too. */
  mask(text: string): string;
  /** The same for several texts, off the main thread; waits for `start`. Rejects when it cannot. Default: `mask`. */
  maskLater?(texts: readonly string[]): Promise<readonly string[]>;
}

/** What one part may take to stop, milliseconds. */
const STOP_DEADLINE_MS = 5_000;

/** Starts the parts in order. When one fails, those that were started are stopped and its error is thrown. */
export async function startParts(parts: readonly Part[], logger: Logger): Promise<void> {
  for (const [index, part] of parts.entries()) {
    try {
      await part.start();
    } catch (thrown) {
      logger.debug('part.start_failed', { part: part.name });
      // The one that failed too: it may have got half way.
      await stopParts(parts.slice(0, index + 1), logger);
      throw thrown;
    }
  }
}

/** Parts of which each needs those before it, as one. */
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

/** Parts that need nothing of each other, as one that starts them at the same time. */
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

/** Stops the parts in reverse, each within `deadlineMs` milliseconds. One that fails or hangs never keeps the rest. */
export async function stopParts(
  parts: readonly Part[],
  logger: Logger,
  deadlineMs: number = STOP_DEADLINE_MS,
): Promise<void> {
  for (const part of parts.toReversed()) {
    try {
      if (!(await endsWithin(part.stop(), deadlineMs))) {
        logger.error('part.stop_overdue', { part: part.name, deadline_ms: deadlineMs });
      }
    } catch (thrown) {
      logger.error('part.stop_failed', { part: part.name }, thrown);
    }
  }
}

/** False if `work` takes longer than `ms` milliseconds. */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Who wants the daemon to end: a person with `ctxd`, a signal, or a part that cannot go on. */
export type StopCause = 'stop' | 'restart' | 'signal' | 'failure';

interface Wish {
  /** Milliseconds left to calls in flight. */
  graceMs: number;
  cause: StopCause;
}

/** The wish that the daemon ends. */
export interface StopRequest {
  /** The first wish counts; `graceMs` milliseconds are left to calls in flight. */
  request(graceMs: number, cause: StopCause): void;
  /** Resolves with the first wish. */
  requested: Promise<Wish>;
}

export function createStopRequest(): StopRequest {
  const { promise, resolve } = Promise.withResolvers<Wish>();
  return { request: (graceMs, cause) => resolve({ graceMs, cause }), requested: promise };
}

const EXIT_BASE = 128;
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export interface SignalDeps {
  stop: StopRequest;
  drainMs: number;
  /** A terminal that closes ends a daemon in the foreground; one in the background has none and ignores it. */
  foreground: boolean;
  logger: Logger;
}

/** The first SIGTERM or SIGINT drains and stops, the second ends the process at once. */
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
