import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { basename } from 'node:path/posix';
import { setImmediate as nextPhase } from 'node:timers/promises';
import type { RawPath } from '../../../fs/raw-path.ts';

/** Changed paths that are remembered one by one. With more, everything is looked at. */
const PATHS_MAX = 2_000;
/** Events that the kernel queues before it drops the next ones. */
const QUEUE_MAX_FILE = '/proc/sys/fs/inotify/max_queued_events';

/** What changed in the watched directories. */
export interface Events {
  /** Relative to the workspace; null: too many, or not known. */
  readonly paths: ReadonlySet<RawPath> | null;
}

/**
 * Learns from the kernel which files change. The kernel queues an event before the write that causes it returns, so that
 * everything that a dead process has written is known. Writes to a mapped file cause no event.
 *
 * A full queue drops events, and Node does not report that. All watchers share one queue, and libuv reads it to its end in one
 * phase of the event loop. So events were dropped only if one phase delivered as many as the queue holds: then the
 * changed paths are not known. Events of a closed watcher are not delivered and cannot be counted, so closing one has the
 * same result. There is one `ChangeWatch` in a process.
 */
export class ChangeWatch {
  readonly #root: string;
  readonly #watchers = new Map<RawPath, FSWatcher>();
  readonly #queueMax: number;
  #paths: Set<RawPath> | null = new Set();
  #isComplete = true;
  /** Events of this phase of the event loop. */
  #events = 0;

  /** `queueMax`: events that the kernel's queue holds. */
  constructor(root: string, queueMax = readQueueMax()) {
    this.#root = root;
    this.#queueMax = queueMax;
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
      const watcher = watch(path, { encoding: 'buffer' }, (_, name) => {
        this.#count();
        this.#note(directory, name);
      });
      watcher.on('error', () => this.#forget(directory));
      this.#watchers.set(directory, watcher);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return;
      this.#isComplete = false;
    }
  }

  /** If it was watched, the next `take` returns null. */
  remove(directory: RawPath): void {
    const watcher = this.#watchers.get(directory);
    if (watcher === undefined) return;
    watcher.close();
    this.#watchers.delete(directory);
    this.#paths = null;
  }

  /** What has changed since the last call, including everything that was written before this call. */
  async take(): Promise<Events> {
    // One whole turn of the event loop reads the kernel's queue to its end.
    await nextPhase();
    await nextPhase();
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

  #count(): void {
    // The queue was empty when the phase ended, so the next one counts from zero.
    if (this.#events === 0) setImmediate(() => (this.#events = 0));
    this.#events += 1;
    if (this.#events >= this.#queueMax) this.#paths = null;
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

/** Zero if it cannot be read: then every change is looked for. */
function readQueueMax(): number {
  try {
    return Number.parseInt(readFileSync(QUEUE_MAX_FILE, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}
