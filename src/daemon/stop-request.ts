import type { Logger } from '../core/log.ts';

/** The wish that the daemon ends, from a signal, the CLI or a part that cannot go on. */
export interface StopRequest {
  /** The first wish counts; `graceMs` milliseconds are left to calls in flight. */
  request(graceMs: number): void;
  /** Resolves with the grace of the first wish. */
  requested: Promise<number>;
}

export function createStopRequest(): StopRequest {
  const { promise, resolve } = Promise.withResolvers<number>();
  return { request: resolve, requested: promise };
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
    stop.request(drainMs);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', foreground ? onSignal : () => {});
}
