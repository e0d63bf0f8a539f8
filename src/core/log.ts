/** Values that a log record may hold. The logger masks every text before it is written. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | readonly string[]>>;

/** The structured log. `event` is a fixed name, for example `call.finished`, and never text from outside. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields, cause?: unknown): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
