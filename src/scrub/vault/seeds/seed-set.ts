import { lstatSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../core/clock.ts';
import { Guard } from '../guard.ts';

/** A secret, and what its rule is called. */
export interface Seed {
  value: string;
  rule: string;
}

/** What one place holds now. */
export interface SeedReading {
  seeds: readonly Seed[];
  /** Paths that tell by their stamp when it has to be read again. */
  watched: readonly string[];
  /** Files that could not be read, and why. No content. */
  skipped: readonly { file: string; why: string }[];
}

/** Least milliseconds between two looks at the stamps. */
const CHECK_EVERY_MS = 1_000;
/**
 * After reading, the next look waits this many times as long as the reading took: a project that changes large files all the
 * time uses a fifth of the thread.
 */
const PAUSE_FACTOR = 4;
/** Characters of values that are added at once: some ten milliseconds. */
const SLICE_CHARS = 1_000;
/** Most values of one place; earlier values are kept if there is room. */
const MAX_SEEDS = 2_000;

/** The seeds of one place (a user, a project) in one guard, read again when a file changed. */
export class SeedSet {
  #guard = new Guard();
  #seeds = new Map<string, string>();
  #watched: readonly string[] = [];
  #stamp: string | null = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  #loading: Promise<void> | null = null;
  readonly #read: () => Promise<SeedReading>;
  readonly #clock: Clock;
  readonly #onSkipped: (skipped: SeedReading['skipped']) => void;

  constructor(
    read: () => Promise<SeedReading>,
    deps: { clock: Clock; onSkipped: (skipped: SeedReading['skipped']) => void },
  ) {
    this.#read = read;
    this.#clock = deps.clock;
    this.#onSkipped = deps.onSkipped;
  }

  /** The current guard; a running read is not waited for. */
  get guard(): Guard {
    return this.#guard;
  }

  /**
   * Returns the guard after reading what changed. Looks for changes once a second. Rejects if reading fails: fail
   * closed.
   */
  async fresh(): Promise<Guard> {
    if (this.#loading === null && this.#isDue()) this.#load();
    if (this.#loading !== null) await this.#loading;
    return this.#guard;
  }

  #isDue(): boolean {
    const now = this.#clock.monotonic();
    if (this.#stamp !== null && now - this.#checkedAt < Math.max(CHECK_EVERY_MS, this.#pauseMs)) return false;
    this.#checkedAt = now;
    return this.#stamp === null || this.#stamp !== stampOf(this.#watched);
  }

  #load(): void {
    this.#loading = this.#readAgain().finally(() => {
      this.#loading = null;
    });
  }

  async #readAgain(): Promise<void> {
    // Taken before the files are read, so that a change in the meantime is noticed.
    const before = stampOf(this.#watched);
    const startedAt = this.#clock.monotonic();
    const { seeds, watched, skipped } = await this.#read();
    const isSameList = watched.length === this.#watched.length && watched.every((path, i) => path === this.#watched[i]);
    await this.#keep(seeds);
    this.#watched = watched;
    this.#stamp = isSameList ? before : stampOf(watched);
    this.#onSkipped(skipped);
    this.#checkedAt = this.#clock.monotonic();
    this.#pauseMs = PAUSE_FACTOR * (this.#checkedAt - startedAt);
  }

  /** Lets others use the thread while many values are added. */
  async #keep(seeds: readonly Seed[]): Promise<void> {
    const kept = new Map(seeds.map(({ value, rule }): [string, string] => [value, rule]));
    for (const [value, rule] of this.#seeds) if (!kept.has(value)) kept.set(value, rule);
    const now = new Map([...kept].slice(0, MAX_SEEDS));
    const isMoreOnly = [...this.#seeds.keys()].every((value) => now.has(value));
    const guard = isMoreOnly ? this.#guard : new Guard();
    let left = SLICE_CHARS;
    for (const [value, rule] of now) {
      if (isMoreOnly && this.#seeds.has(value)) continue;
      guard.add(value, rule);
      left -= value.length;
      if (left > 0) continue;
      left = SLICE_CHARS;
      await setImmediate();
    }
    this.#seeds = now;
    this.#guard = guard;
  }
}

/** What changes when a file is written, replaced, added or removed. */
function stampOf(paths: readonly string[]): string {
  return paths.map(stampOfOne).join('\n');
}

function stampOfOne(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? 'gone' : [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(':');
  } catch {
    return 'unreadable';
  }
}
