import { type Logger as Pino, pino } from 'pino';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { LogFields, Logger } from '../core/log.ts';
import type { LogSink } from './log-sink.ts';

export interface LoggerDeps {
  level: 'debug' | 'info' | 'warn' | 'error';
  sink: LogSink;
  /** Takes secrets out. Every string passes it, except the event's name. Text it fails on is withheld. */
  mask(text: string): string;
}

/** Errors behind errors that are told. */
const CAUSES_MAX = 4;

/** JSON lines: level, time (ISO), event, then the fields; an error's cause as names and messages, never a stack. */
export function createLogger({ level, sink, mask }: LoggerDeps): Logger {
  const out = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: levelName } },
    sink,
  );
  const safe = (text: string): string => maskOrWithhold(text, mask);
  return {
    debug: (event, fields) => write(out, 'debug', event, fields, safe),
    info: (event, fields) => write(out, 'info', event, fields, safe),
    warn: (event, fields) => write(out, 'warn', event, fields, safe),
    error(event, fields, cause) {
      const told = cause === undefined ? fields : { ...fields, cause: causesOf(cause) };
      write(out, 'error', event, told, safe);
    },
  };
}

type Mask = (text: string) => string;

function write(out: Pino, level: LoggerDeps['level'], event: string, fields: LogFields | undefined, safe: Mask): void {
  if (out.isLevelEnabled(level)) out[level]({ event, ...masked(fields ?? {}, safe) });
}

function masked(fields: LogFields, safe: Mask): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, maskedValue(value, safe)]));
}

function maskedValue(value: LogFields[string], safe: Mask): unknown {
  if (typeof value === 'string') return safe(value);
  return Array.isArray(value) ? value.map((text) => safe(String(text))) : value;
}

function maskOrWithhold(text: string, mask: Mask): string {
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
