import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path/posix';
import { setImmediate } from 'node:timers/promises';
import type { RawPath } from '../../workspace/raw-path.ts';

/** Changed paths that are remembered one by one. With more, everything is looked at. */
const PATHS_MAX = 2_000;

/** What changed in the watched directories. */
export interface Events {
  /** Relative to the workspace; null: too many, or not known. */
  readonly paths: ReadonlySet<RawPath> | null;
}

/**
 * Learns from the kernel which files change. The kernel queues an event before the write that causes it returns, so that
 * everything that a dead process has written is known. Writes to a mapped file cause no event.
 */
export class ChangeWatch {
  readonly #root: string;
  readonly #watchers = new Map<RawPath, FSWatcher>();
  #paths: Set<RawPath> | null = new Set();
  #isComplete = true;

  constructor(root: string) {
    this.#root = root;
  }

  /** False if the kernel has no room for more watches: then every change must be looked for. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get directories(): Iterable<RawPath> {
    return this.#watchers.keys();
  }

  has(directory: RawPath): boolean {
    return this.#watchers.has(directory);
  }

  /** `directory` is relative to the workspace; '' is the workspace itself. */
  add(directory: RawPath): void {
    if (this.#watchers.has(directory)) return;
    try {
      const path = Buffer.from(directory === '' ? this.#root : `${this.#root}/${directory}`, 'latin1');
      const watcher = watch(path, { encoding: 'buffer' }, (_, name) => this.#note(directory, name));
      watcher.on('error', () => this.#forget(directory));
      this.#watchers.set(directory, watcher);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return;
      this.#isComplete = false;
    }
  }

  remove(directory: RawPath): void {
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
  }

  /** What has changed since the last call, including everything that was written before this call. */
  async take(): Promise<Events> {
    // One whole turn of the event loop reads the kernel's queue to its end.
    await setImmediate();
    await setImmediate();
    const paths = this.#isComplete ? this.#paths : null;
    this.#paths = new Set();
    return { paths };
  }

  /** The next `take` returns null. */
  forgetAll(): void {
    this.#paths = null;
  }

  #nameOf(directory: RawPath): string {
    return basename(directory === '' ? this.#root : directory);
  }

  #note(directory: RawPath, name: Buffer | null): void {
    if (name === null) {
      this.#paths = null;
      return;
    }
    const text = name.toString('latin1');
    // The directory itself was moved or removed: another one may have its place, and its inode.
    if (text === this.#nameOf(directory)) {
      this.#forget(directory);
      return;
    }
    if (this.#paths === null) return;
    if (this.#paths.size >= PATHS_MAX) this.#paths = null;
    else this.#paths.add(directory === '' ? text : `${directory}/${text}`);
  }

  #forget(directory: RawPath): void {
    this.remove(directory);
    this.#paths = null;
  }
}
