import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import type { Json } from '../core/json.ts';

/**
 * The inputs of calls that run, masked with what is known at their start, a file for each, 0600. An output may bring to
 * light that its input held a secret, and the audit log is never rewritten: so the input waits here for the end of its
 * call. What a dead daemon left is the input of an interrupted call.
 */
export class OpenInputs {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Throws what the system says. */
  put(requestId: string, input: Json): void {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    writeFileSync(this.#fileOf(requestId), JSON.stringify(input), { mode: 0o600 });
  }

  /** Null if no such call runs. */
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

  /** A caller chooses the request id, so it is no file name. */
  #fileOf(requestId: string): string {
    return join(this.#dir, `${createHash('sha256').update(requestId).digest('hex')}.json`);
  }
}
