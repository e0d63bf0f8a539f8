import { closeSync, existsSync, fchmodSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Destination of log lines. Never throws: if the disk is full, lines are lost and calls continue. */
export interface LogSink {
  write(line: string): void;
}

/** Beyond `maxBytes` the log is rotated: the file becomes `<file>.1`, and that one `<file>.2`, up to `keptFiles`. */
export interface LogLimits {
  maxBytes: number;
  /** Older files that are kept beside the log; 0: none. */
  keptFiles: number;
}

const LOG_MODE = 0o600;

/** A file of mode 0600 that holds at most `maxBytes` and one line. */
export function createFileSink(file: string, { maxBytes, keptFiles }: LogLimits): LogSink {
  // More of them were kept before.
  for (let number = keptFiles + 1; existsSync(`${file}.${number}`); number += 1)
    attempt(() => rmSync(`${file}.${number}`));
  let descriptor = openLog(file);
  let size = fstatSync(descriptor).size;
  const rotate = (): void => {
    for (let number = keptFiles; number > 1; number -= 1)
      attempt(() => renameSync(`${file}.${number - 1}`, `${file}.${number}`));
    if (keptFiles > 0) renameSync(file, `${file}.1`);
    else rmSync(file);
    const fresh = openLog(file);
    closeSync(descriptor);
    descriptor = fresh;
    size = 0;
  };
  return {
    write(line) {
      if (size >= maxBytes) attempt(rotate);
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

/** Runs `work`, whose failure there is nowhere left to report. */
export function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // See above.
  }
}
