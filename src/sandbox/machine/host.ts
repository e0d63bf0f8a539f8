import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { setAsideOrRemove } from '../../fs/remove-tree.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import { type Cgroups, openCgroups } from './cgroup/cgroup.ts';
import { findStrayFds, PipeStock } from './descriptors.ts';
import { type Bubblewrap, findBubblewrap } from './facts.ts';
import { type Identity, idsInside } from './identity.ts';
import { claim, ensurePublicMountPoints, publicDirFor, removeCopies, removePublicDir } from './reach.ts';
import { FilterFiles } from './seccomp/filter.ts';
import {
  buildSkeleton,
  type EtcSource,
  emptyFileOf,
  hostEtc,
  mountAccounts,
  mountProxy,
  removeOldSkeletons,
  skeletonOf,
} from './skeleton.ts';
import { openStorageRoot } from './storage-root.ts';

/** Milliseconds until the inputs of the skeleton are checked again. */
const SKELETON_FRESH_MS = 60_000;

const MIB = 1024 * 1024;

export interface HostDeps {
  paths: Pick<Paths, 'sandboxDir' | 'storageDir' | 'toolSocketsDir' | 'dialledSocketsDir' | 'proxyBinary'>;
  config: Config['sandbox'];
  logger: Logger;
  clock: Clock;
}

interface Places {
  readonly sandboxDir: string;
  readonly skeletonDir: string;
  readonly isOwn: () => boolean;
  readonly storageRoot: string;
  readonly etc: EtcSource;
  readonly proxyBinary: string;
}

/** Resources of the machine, opened once. */
export class Host {
  readonly bubblewrap: Bubblewrap;
  readonly cgroups: Cgroups | null;
  readonly pipes: PipeStock;
  readonly filters: FilterFiles;
  readonly sandboxDir: string;
  /** Root directory of the storage of commands. */
  readonly storageRoot: string;
  readonly strayFds: readonly number[] = findStrayFds();
  /** Directory of the skeletons; the user inside can reach it. */
  readonly skeletonDir: string;
  /** False once the spawner of a later daemon has taken over the directories. */
  readonly isOwn: () => boolean;
  readonly #proxyBinary: string;
  readonly #etc: EtcSource;
  readonly #clock: Clock;
  #base: readonly Mount[] = [];
  #baseFrom = Number.NEGATIVE_INFINITY;

  /** Null without bubblewrap. Removes the leftovers of an earlier daemon; `sandboxDir` belongs to one daemon. */
  static async open({ paths, config, logger, clock }: HostDeps): Promise<Host | null> {
    const { sandboxDir } = paths;
    const total = { memoryBytes: config.total_memory_mb * MIB, pids: config.total_pids };
    const bubblewrap = await findBubblewrap();
    if (bubblewrap === null) return null;
    mkdirSync(sandboxDir, { recursive: true, mode: 0o700 });
    for (const dir of [paths.toolSocketsDir, paths.dialledSocketsDir]) {
      setAsideOrRemove(dir);
      mkdirSync(dir, { recursive: true, mode: 0o700 });
    }
    const isRoot = process.getuid?.() === 0;
    if (isRoot) ensurePublicMountPoints();
    const skeletonDir = isRoot ? publicDirFor(sandboxDir) : sandboxDir;
    const isOwn = claim(skeletonDir);
    await removeCopies(sandboxDir);
    const pipes = new PipeStock(sandboxDir);
    await pipes.start();
    const host = new Host(
      bubblewrap,
      await openCgroups(logger, total, [process.pid, process.ppid]),
      pipes,
      {
        sandboxDir,
        skeletonDir,
        isOwn,
        storageRoot: await openStorageRoot(paths),
        etc: hostEtc(config.etc),
        proxyBinary: paths.proxyBinary,
      },
      clock,
    );
    removeOldSkeletons(skeletonDir, host.base());
    return host;
  }

  private constructor(bubblewrap: Bubblewrap, cgroups: Cgroups | null, pipes: PipeStock, dirs: Places, clock: Clock) {
    this.bubblewrap = bubblewrap;
    this.cgroups = cgroups;
    this.pipes = pipes;
    this.filters = new FilterFiles(dirs.sandboxDir);
    this.sandboxDir = dirs.sandboxDir;
    this.storageRoot = dirs.storageRoot;
    this.skeletonDir = dirs.skeletonDir;
    this.isOwn = dirs.isOwn;
    this.#proxyBinary = dirs.proxyBinary;
    this.#etc = dirs.etc;
    this.#clock = clock;
  }

  /** Mounts of /usr, its links and the skeleton's /etc. Rebuilt if their inputs have changed. */
  base(): readonly Mount[] {
    const now = this.#clock.monotonic();
    if (now - this.#baseFrom > SKELETON_FRESH_MS || !existsSync(skeletonOf(this.#base))) {
      this.#base = buildSkeleton(this.skeletonDir, this.#etc);
      this.#baseFrom = now;
    }
    return this.#base;
  }

  /** The base, with account names for the ids of this identity's commands. */
  baseFor(identity: Identity): readonly Mount[] {
    return [...this.base(), ...mountAccounts(this.base(), idsInside(identity))];
  }

  /** Mount of the proxy in the place where commands expect the installed one. */
  proxyMounts(): Mount[] {
    return existsSync(this.#proxyBinary) ? [mountProxy(this.base(), this.#proxyBinary)] : [];
  }

  /** An empty file that every user can read. */
  emptyFile(): string {
    return emptyFileOf(this.base());
  }

  /** Call when no sandbox is left. If the daemon is killed instead, its next start cleans up. */
  async close(): Promise<void> {
    await this.pipes.stop();
    await this.cgroups?.stop();
    if (!this.isOwn()) return;
    await removePublicDir(this.sandboxDir);
  }
}

/**
 * Mounted only for outer uid 0. Files in /proc belong to root, bubblewrap leaves them writable because their
 * directories are not, and writing core_pattern runs code on the host. So they are read-only or empty, as in container
 * runtimes.
 */
const PROC_READONLY = ['/proc/sys', '/proc/bus', '/proc/fs', '/proc/irq', '/proc/sysrq-trigger', '/proc/pressure'];
const PROC_EMPTY = [
  '/proc/kcore',
  '/proc/timer_list',
  '/proc/sched_debug',
  '/proc/latency_stats',
  '/proc/kmsg',
  '/proc/kpageflags',
  '/proc/kpagecount',
  '/proc/kpagecgroup',
  '/proc/slabinfo',
  '/proc/vmallocinfo',
  '/proc/pagetypeinfo',
];
const PROC_EMPTY_DIRS = ['/proc/acpi', '/proc/asound', '/proc/scsi', '/proc/driver'];

/** Covered for every identity: they show names of the user's keys, which no namespace hides. */
const PROC_OF_USER = ['/proc/keys', '/proc/key-users'];

/** Mounts over the parts of /proc that would leak information or accept writes. */
export function coverProc(identity: Identity): Mount[] {
  const paths = identity.kind === 'root' ? [...PROC_OF_USER, ...PROC_EMPTY] : PROC_OF_USER;
  const empty = paths.filter(existsSync).map((path): Mount => ({ kind: 'ro-bind', source: '/dev/null', dest: path }));
  if (identity.kind !== 'root') return empty;
  return [
    ...PROC_READONLY.filter(existsSync).map((path): Mount => ({ kind: 'ro-bind', source: path, dest: path })),
    ...empty,
    ...PROC_EMPTY_DIRS.filter(existsSync).map((path): Mount => ({ kind: 'tmpfs', dest: path, sizeBytes: 4096 })),
  ];
}

/** PATH entries of the listed toolchains: the `bin` directory of each, or the path itself if it is named `bin`. */
export function binDirsOf(roPaths: readonly string[]): string[] {
  return roPaths.flatMap((path) =>
    existsSync(join(path, 'bin')) ? [join(path, 'bin')] : basename(path) === 'bin' ? [path] : [],
  );
}
