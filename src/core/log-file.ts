import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

/** Destination of log lines. Never throws: if the disk is full, lines are lost and calls continue. */
export interface LogSink {
  write(line: string): void;
  /** This process alone rotates the log from now on. Optional: a log that is not rotated. */
  own?(): void;
  /** Another process may rotate the log from now on, and this one writes to the file that then has its name. Optional as `own`. */
  follow?(): void;
}

/** Beyond `maxBytes` the log is rotated: the file becomes `<file>.1`, and that one `<file>.2`, up to `keptFiles`. */
export interface LogLimits {
  maxBytes: number;
  /** Older files that are kept beside the log; 0: none. */
  keptFiles: number;
}

const LOG_MODE = 0o600;

/** A file of mode 0600 that holds at most `maxBytes` and one line. It is rotated once `own` was called. */
export function createFileSink(file: string, limits: LogLimits): Required<LogSink> {
  return new LogFile(file, limits);
}

class LogFile implements Required<LogSink> {
  readonly #file: string;
  readonly #limits: LogLimits;
  #descriptor: number;
  #size = 0;
  #isOwn = false;

  constructor(file: string, limits: LogLimits) {
    this.#file = file;
    this.#limits = limits;
    this.#descriptor = openLog(file);
  }

  write(line: string): void {
    if (!this.#isOwn) attempt(() => this.#catchUp());
    else if (this.#size >= this.#limits.maxBytes) attempt(() => this.#rotate());
    attempt(() => {
      this.#size += writeSync(this.#descriptor, line);
    });
  }

  own(): void {
    attempt(() => this.#catchUp());
    attempt(() => {
      this.#size = fstatSync(this.#descriptor).size;
    });
    this.#isOwn = true;
    // More of them were kept before.
    for (let number = this.#limits.keptFiles + 1; existsSync(`${this.#file}.${number}`); number += 1)
      attempt(() => rmSync(`${this.#file}.${number}`));
  }

  follow(): void {
    this.#isOwn = false;
  }

  /** Goes on in the file that has the name now. */
  #catchUp(): void {
    const named = statSync(this.#file, { throwIfNoEntry: false });
    const own = fstatSync(this.#descriptor);
    // The number of a file that is open is given to no other.
    if (named?.ino !== own.ino || named.dev !== own.dev) this.#reopen();
  }

  #rotate(): void {
    const { keptFiles } = this.#limits;
    for (let number = keptFiles; number > 1; number -= 1)
      attempt(() => renameSync(`${this.#file}.${number - 1}`, `${this.#file}.${number}`));
    if (keptFiles > 0) renameSync(this.#file, `${this.#file}.1`);
    else rmSync(this.#file);
    this.#reopen();
    this.#size = 0;
  }

  #reopen(): void {
    const fresh = openLog(this.#file);
    closeSync(this.#descriptor);
    this.#descriptor = fresh;
  }
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
