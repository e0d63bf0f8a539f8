import { isErrno } from '../../core/errors.ts';

/** What a sandbox uses until its last process is dead, or until it could not be started. */
export class Releases {
  readonly #all: (() => void)[] = [];

  add(release: () => void): void {
    this.#all.push(release);
  }

  /** Idempotent. What the file system refuses to remove stays until the next start: it must not end the spawner. */
  release(): void {
    for (const release of this.#all.splice(0)) {
      try {
        release();
      } catch (cause) {
        if (!isErrno(cause)) throw cause;
      }
    }
  }
}
