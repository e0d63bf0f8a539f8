import { pino } from 'pino';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { LogFields, Logger } from '../core/log.ts';
import { type LogLine, LogQueue } from './log-queue.ts';
import type { LogSink } from './log-sink.ts';

export interface LoggerDeps {
  level: 'debug' | 'info' | 'warn' | 'error';
  sink: LogSink;
  /** Takes secrets out. Every string passes it, except the event's name. Text it fails on is withheld. */
  mask(text: string): string;
  /**
   * The same for several texts, off the main thread. If given, lines wait for it; `mask` is then only asked when it
   * fails or the process ends. Default: every line is masked and written at once.
   */
  maskLater?(texts: readonly string[]): Promise<readonly string[]>;
}

/** Errors behind errors that are told. */
const CAUSES_MAX = 4;

/** A logger whose lines may wait a moment for their mask. */
export interface QueuedLogger extends Logger {
  /** Writes at once what still waits; for the end of the process. */
  flush(): void;
}

/** JSON lines: level, time (ISO), event, then the fields; an error's cause as names and messages, never a stack. */
export function createLogger({ level, sink, mask, maskLater }: LoggerDeps): QueuedLogger {
  const out = pino({ level, base: null, timestamp: false, formatters: { level: levelName } }, sink);
  const queue = new LogQueue({
    write: ({ level, time, event, fields }) => out[level]({ time, event, ...fields }),
    mask: (text) => maskOrWithhold(text, mask),
    ...(maskLater === undefined ? {} : { maskLater }),
  });
  const log = (level: LogLine['level'], event: string, fields: LogFields = {}): void => {
    if (out.isLevelEnabled(level)) queue.push({ level, time: new Date().toISOString(), event, fields });
  };
  return {
    debug: (event, fields) => log('debug', event, fields),
    info: (event, fields) => log('info', event, fields),
    warn: (event, fields) => log('warn', event, fields),
    error: (event, fields, cause) =>
      log('error', event, cause === undefined ? fields : { ...fields, cause: causesOf(cause) }),
    flush: () => queue.flush(),
  };
}

function maskOrWithhold(text: string, mask: (text: string) => string): string {
  try {
    return mask(text);
  } catch {
    return '[withheld: could not be searched for secrets]';
  }
}

/** "Error EACCES: permission denied", outermost first. */
function causesOf(thrown: unknown): string[] {
  const causes: string[] = [];
  for (let cause = thrown; cause !== undefined && causes.length < CAUSES_MAX; cause = nextOf(cause)) {
    causes.push(describe(cause));
  }
  return causes;
}

function nextOf(cause: unknown): unknown {
  return cause instanceof Error ? cause.cause : undefined;
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return `thrown: ${String(cause)}`;
  const code = cause instanceof ContextdError || isErrno(cause) ? ` ${cause.code}` : '';
  return `${cause.name}${code}: ${cause.message}`;
}

function levelName(label: string): { level: string } {
  return { level: label };
}
