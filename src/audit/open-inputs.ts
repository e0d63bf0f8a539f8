import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import type { Json } from '../core/json.ts';

/**
 * The masked inputs of running calls, one file each, 0600. An output can reveal that the input held a secret, and the
 * audit log is never rewritten, so the input is kept here and recorded at the end of the call. A file that a dead daemon
 * left holds the input of an interrupted call.
 */
export class OpenInputs {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Throws the error of the file system. */
  put(requestId: string, input: Json): void {
    const write = (): void => writeFileSync(this.#fileOf(requestId), JSON.stringify(input), { mode: 0o600 });
    try {
      write();
    } catch (cause) {
      if (!isErrno(cause, 'ENOENT')) throw cause;
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      write();
    }
  }

  /** Returns null if there is no such call. */
  read(requestId: string): Json {
    try {
      return JSON.parse(readFileSync(this.#fileOf(requestId), 'utf8'));
    } catch (cause) {
      if (isErrno(cause) || cause instanceof SyntaxError) return null;
      throw cause;
    }
  }

  remove(requestId: string): void {
    rmSync(this.#fileOf(requestId), { force: true });
  }

  /** The caller chooses the request id, so it cannot be used as a file name. */
  #fileOf(requestId: string): string {
    return join(this.#dir, `${createHash('sha256').update(requestId).digest('hex')}.json`);
  }
}
