import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { LogFields, Logger } from '../../core/log.ts';
import { attempt, type LogSink } from '../../core/log-file.ts';

export interface LoggerDeps {
  level: 'debug' | 'info' | 'warn' | 'error';
  sink: LogSink;
  /** Masks secrets. Every string except the event's name passes through it. If it fails, the text is withheld. */
  mask(text: string): string;
  /**
   * Masks several texts off the main thread. If given, lines wait for it, and `mask` is used only if it fails or the
   * process ends. Default: every line is masked and written at once.
   */
  maskLater?(texts: readonly string[]): Promise<readonly string[]>;
}

/** Maximum errors logged from a chain of causes. */
const CAUSES_MAX = 4;

/** A logger whose lines may wait briefly to be masked. */
export interface QueuedLogger extends Logger {
  /** Writes the waiting lines at once. Called when the process ends. */
  flush(): void;
}

/** Writes JSON lines: level, time (ISO), event, then the fields. A cause is logged by name and message, never its stack. */
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

/** Lines such as "Error EACCES: permission denied", outermost error first. */
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

/** One line of the log, before it is masked. */
interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Time of logging, ISO. */
  time: string;
  event: string;
  fields: LogFields;
}

interface LogQueueDeps {
  write(line: LogLine): void;
  /** Masks the secrets in one text synchronously. Never throws. */
  mask(text: string): string;
  /** Masks several texts off the main thread. Default: `mask`. */
  maskLater?(texts: readonly string[]): Promise<readonly string[]>;
}

/** Maximum lines that wait to be masked. With one more, all are masked at once on the main thread. */
const WAITING_MAX = 1000;
/** Maximum lines masked together. */
const BATCH_MAX = 50;

/**
 * Keeps log lines in order until they are masked and written. The search thread masks them, because loading the rules
 * on the main thread takes longer than most calls.
 */
export class LogQueue {
  readonly #deps: LogQueueDeps;
  readonly #waiting: LogLine[] = [];
  #isMasking = false;

  constructor(deps: LogQueueDeps) {
    this.#deps = deps;
  }

  push(line: LogLine): void {
    this.#waiting.push(line);
    const mustWait = this.#isMasking || textsOf(line.fields).length > 0;
    if (this.#deps.maskLater === undefined || !mustWait || this.#waiting.length > WAITING_MAX) this.flush();
    else void this.#work(this.#deps.maskLater);
  }

  /** Masks and writes the waiting lines at once. */
  flush(): void {
    for (const line of this.#waiting.splice(0)) {
      const texts = textsOf(line.fields).map((text) => this.#deps.mask(text));
      this.#deps.write({ ...line, fields: withTexts(line.fields, texts) });
    }
  }

  async #work(maskLater: NonNullable<LogQueueDeps['maskLater']>): Promise<void> {
    if (this.#isMasking) return;
    this.#isMasking = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      const masked = await maskLater(batch.flatMap(({ fields }) => textsOf(fields))).catch(() => undefined);
      if (masked === undefined) this.flush();
      // A flush may have written these lines in the meantime.
      else if (this.#waiting[0] === batch[0]) this.#writeFirst(batch.length, [...masked]);
    }
    this.#isMasking = false;
  }

  #writeFirst(count: number, masked: string[]): void {
    for (const line of this.#waiting.splice(0, count)) {
      const texts = masked.splice(0, textsOf(line.fields).length);
      this.#deps.write({ ...line, fields: withTexts(line.fields, texts) });
    }
  }
}

/** Texts in the fields, including those in lists. */
function textsOf(fields: LogFields): string[] {
  return Object.values(fields).flatMap((value) =>
    typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : [],
  );
}

/** The fields with their texts replaced by `texts`, in the order of `textsOf`. */
function withTexts(fields: LogFields, texts: readonly string[]): LogFields {
  const left = [...texts];
  const replaced = Object.entries(fields).map(([key, value]) => {
    if (typeof value === 'string') return [key, left.shift() ?? ''];
    return [key, Array.isArray(value) ? left.splice(0, value.length) : value];
  });
  return Object.fromEntries(replaced);
}

export function createStderrSink(): LogSink {
  return { write: (line) => attempt(() => writeSync(2, line)) };
}
