import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';

/** A file on the host, to recognize a descriptor of a process. */
export interface FileId {
  readonly dev: number;
  readonly ino: number;
}

/** What the kernel shows about processes. */
export interface ProcFiles {
  /** At most `maxBytes` from the beginning; empty if it cannot be read. */
  text(path: string, maxBytes: number): string;
  /** Empty if it cannot be listed. */
  names(path: string): readonly string[];
  /** Throws the error of the system. */
  link(path: string): string;
  /** True if the path leads to this file. */
  leadsTo(path: string, file: FileId): boolean;
  /** Throws the error of the system. */
  memory(pid: number, address: bigint, length: number): Buffer;
}

export const PROC_FILES: ProcFiles = {
  text: readStart,
  names(path) {
    try {
      return readdirSync(path);
    } catch (cause) {
      if (isErrno(cause)) return [];
      throw cause;
    }
  },
  link: (path) => readlinkSync(path),
  leadsTo(path, file) {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.dev === file.dev && found.ino === file.ino;
  },
  memory(pid, address, length) {
    const fd = openSync(`/proc/${pid}/mem`, 'r');
    try {
      const bytes = Buffer.alloc(length);
      readSync(fd, bytes, 0, length, address);
      return bytes;
    } finally {
      closeSync(fd);
    }
  },
};

/** Thrown by LimitedProcFiles when a look has read enough. */
export class LookTooLong extends Error {}

/**
 * Ends a look after a number of reads or a time. A command chooses how many threads, waits and sockets there are to look
 * at, and the end of the command waits for the look. What was read once is not read again.
 */
export class LimitedProcFiles implements ProcFiles {
  readonly #files: ProcFiles;
  readonly #endsAt: number;
  readonly #known = new Map<string, unknown>();
  #readsLeft: number;

  constructor(files: ProcFiles, maxReads: number, maxMs: number) {
    this.#files = files;
    this.#readsLeft = maxReads;
    this.#endsAt = performance.now() + maxMs;
  }

  text(path: string, maxBytes: number): string {
    return this.#once(`text ${maxBytes} ${path}`, () => this.#files.text(path, maxBytes));
  }

  names(path: string): readonly string[] {
    return this.#once(`names ${path}`, () => this.#files.names(path));
  }

  link(path: string): string {
    return this.#once(`link ${path}`, () => this.#files.link(path));
  }

  leadsTo(path: string, file: FileId): boolean {
    return this.#once(`leads ${file.dev} ${file.ino} ${path}`, () => this.#files.leadsTo(path, file));
  }

  memory(pid: number, address: bigint, length: number): Buffer {
    return this.#once(`memory ${pid} ${address} ${length}`, () => this.#files.memory(pid, address, length));
  }

  #once<T>(key: string, read: () => T): T {
    // The key names the kind of read, so the value has its type.
    if (this.#known.has(key)) return this.#known.get(key) as T;
    if (this.#readsLeft <= 0 || performance.now() > this.#endsAt) throw new LookTooLong('the look was ended');
    this.#readsLeft -= 1;
    const value = read();
    this.#known.set(key, value);
    return value;
  }
}

function readStart(path: string, maxBytes: number): string {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    const bytes = Buffer.alloc(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const got = readSync(fd, bytes, length, maxBytes - length, null);
      if (got === 0) break;
      length += got;
    }
    return bytes.toString('utf8', 0, length);
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
