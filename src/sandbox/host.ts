import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import { removeCopies } from './bundle-copy.ts';
import { type Cgroups, openCgroups } from './cgroup.ts';
import { PipeStock } from './pipes.ts';
import type { Mount } from './policy.ts';
import { type Bubblewrap, findBubblewrap } from './probe.ts';
import { ensurePublicMountPoints } from './reach.ts';
import { buildSkeleton, removeOldSkeletons } from './skeleton.ts';
import { findStrayFds } from './stray-fds.ts';

/** Milliseconds after which the skeleton's inputs are looked at again. */
const SKELETON_FRESH_MS = 60_000;

/** What one machine offers, opened once. */
export class Host {
  readonly bubblewrap: Bubblewrap;
  readonly cgroups: Cgroups | null;
  readonly pipes: PipeStock;
  readonly sandboxDir: string;
  readonly strayFds: readonly number[] = findStrayFds();
  readonly #clock: Clock;
  #base: readonly Mount[] = [];
  #baseFrom = Number.NEGATIVE_INFINITY;

  /** Null without bubblewrap. Removes what an earlier daemon left; `sandboxDir` belongs to one daemon. */
  static async open(sandboxDir: string, logger: Logger, clock: Clock): Promise<Host | null> {
    const bubblewrap = await findBubblewrap();
    if (bubblewrap === null) return null;
    mkdirSync(sandboxDir, { recursive: true, mode: 0o700 });
    if (process.getuid?.() === 0) ensurePublicMountPoints();
    await removeCopies(sandboxDir);
    const pipes = new PipeStock(join(sandboxDir, 'pipes'));
    await pipes.start();
    const host = new Host(bubblewrap, await openCgroups(logger), pipes, sandboxDir, clock);
    removeOldSkeletons(sandboxDir, host.base());
    return host;
  }

  private constructor(
    bubblewrap: Bubblewrap,
    cgroups: Cgroups | null,
    pipes: PipeStock,
    sandboxDir: string,
    clock: Clock,
  ) {
    this.bubblewrap = bubblewrap;
    this.cgroups = cgroups;
    this.pipes = pipes;
    this.sandboxDir = sandboxDir;
    this.#clock = clock;
  }

  /** /usr, its links and the skeleton's /etc, rebuilt when their inputs have changed. */
  base(): readonly Mount[] {
    const now = this.#clock.monotonic();
    if (now - this.#baseFrom > SKELETON_FRESH_MS) {
      this.#base = buildSkeleton(this.sandboxDir);
      this.#baseFrom = now;
    }
    return this.#base;
  }

  async close(): Promise<void> {
    await this.pipes.stop();
    await this.cgroups?.stop();
  }
}

/**
 * For outer uid 0: files below /proc are root's, bubblewrap leaves these writable because their directories are not, and
 * writing core_pattern is running code on the host. Read-only or empty, as container runtimes have it.
 */
const PROC_READONLY = ['/proc/sys', '/proc/bus', '/proc/fs', '/proc/irq', '/proc/sysrq-trigger', '/proc/pressure'];
const PROC_EMPTY = [
  '/proc/kcore',
  '/proc/keys',
  '/proc/timer_list',
  '/proc/sched_debug',
  '/proc/latency_stats',
  '/proc/kmsg',
];
const PROC_EMPTY_DIRS = ['/proc/acpi', '/proc/asound', '/proc/scsi', '/proc/driver'];

export function coverProc(): Mount[] {
  return [
    ...PROC_READONLY.filter(existsSync).map((path): Mount => ({ kind: 'ro-bind', source: path, dest: path })),
    ...PROC_EMPTY.filter(existsSync).map((path): Mount => ({ kind: 'ro-bind', source: '/dev/null', dest: path })),
    ...PROC_EMPTY_DIRS.filter(existsSync).map((path): Mount => ({ kind: 'tmpfs', dest: path, sizeBytes: 4096 })),
  ];
}

/** What a listed toolchain adds to PATH: its `bin`, or itself when it is one. */
export function binDirsOf(roPaths: readonly string[]): string[] {
  return roPaths.flatMap((path) =>
    existsSync(join(path, 'bin')) ? [join(path, 'bin')] : basename(path) === 'bin' ? [path] : [],
  );
}
