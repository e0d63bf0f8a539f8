import { closeSync, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/** Where log lines go. Never throws: a full disk costs lines, not calls. */
export interface LogSink {
  write(line: string): void;
}

/** Bytes after which the log is begun anew; the one before it stays as `<file>.1`. */
const LOG_MAX_BYTES = 8 * 1024 * 1024;
const LOG_MODE = 0o600;

export function createStderrSink(): LogSink {
  return { write: (line) => attempt(() => writeSync(2, line)) };
}

/** A file of mode 0600, at most `maxBytes` and one line long, with one older file beside it. */
export function createFileSink(file: string, maxBytes: number = LOG_MAX_BYTES): LogSink {
  let descriptor = openLog(file);
  let size = fstatSync(descriptor).size;
  const turnOver = (): void => {
    renameSync(file, `${file}.1`);
    const fresh = openLog(file);
    closeSync(descriptor);
    descriptor = fresh;
    size = 0;
  };
  return {
    write(line) {
      if (size >= maxBytes) attempt(turnOver);
      attempt(() => {
        size += writeSync(descriptor, line);
      });
    },
  };
}

function openLog(file: string): number {
  const descriptor = openSync(file, 'a', LOG_MODE);
  fchmodSync(descriptor, LOG_MODE);
  return descriptor;
}

function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // Nowhere is left to say it.
  }
}
