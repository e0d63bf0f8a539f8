import type { Logger } from '../core/log.ts';

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
