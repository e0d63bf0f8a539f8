/** Values a log record may hold. Free text passes the logger's mask before it is written (design §4, style 12). */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | readonly string[]>>;

/** Structured log. `event` is a fixed name such as `call.finished`, never text that came from outside. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields, cause?: unknown): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
