import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from '../../../core/log.ts';
import {
  amount,
  type CgroupBackend,
  type CgroupFiles,
  type CgroupTotals,
  counter,
  type GroupFiles,
  type GroupLimits,
  type GroupTree,
  hostCgroupFiles,
  isLeftover,
  type StartTimeOf,
  type TotalLimits,
  topGroupName,
} from './files.ts';
import { type CgroupPlaces, locateCgroups } from './locate.ts';
import { openV1 } from './v1.ts';
import { openV2 } from './v2.ts';

/** Idle groups kept for each set of limits, and in total. */
const IDLE_MAX = 16;
const IDLE_TOTAL_MAX = 48;

/** One use of a group. */
interface Lease {
  readonly group: GroupFiles;
  readonly key: string;
}

/**
 * The groups of one spawner's sandboxes. They are below one group that limits all of them together, which is below the
 * spawner's own group, so that a limit on contextd also holds for what it runs.
 */
export class Cgroups {
  readonly kind: 'v1' | 'v2';
  readonly #backend: CgroupBackend;
  readonly #files: CgroupFiles;
  readonly #removals = new Set<Promise<void>>();
  /** Empty groups by their limits. */
  readonly #idle = new Map<string, GroupFiles[]>();
  readonly #leases = new WeakMap<GroupFiles, Lease>();
  readonly #logger: Logger;
  #count = 0;

  constructor(backend: CgroupBackend, files: CgroupFiles, logger: Logger, startTimeOf?: StartTimeOf) {
    this.kind = backend.kind;
    this.#backend = backend;
    this.#files = files;
    this.#logger = logger;
    this.#removeLeftovers(startTimeOf);
  }

  /** An empty group with these limits: an idle one if there is one. Return it with `remove`. */
  create(limits: GroupLimits): GroupFiles {
    const key = keyOf(limits);
    const idle = this.#takeIdle(key);
    const group = idle ?? this.#backend.create(String(this.#count++), limits);
    const lease = idle === undefined ? { ...group } : countingFrom(group);
    this.#leases.set(lease, { group, key });
    return lease;
  }

  /** Changes the limits of a group in use. Throws the system's error, for example EBUSY if more memory is in use. */
  setLimits(lease: GroupFiles, limits: GroupLimits): void {
    const held = this.#leases.get(lease);
    const key = keyOf(limits);
    if (held === undefined || held.key === key) return;
    this.#backend.limit(held.group, limits);
    this.#leases.set(lease, { group: held.group, key });
  }

  /**
   * Takes back a group whose sandbox is dead. Making and removing a memory group costs the kernel up to ten
   * milliseconds, so an empty group is kept for the next sandbox; any other is removed in the background. A second call
   * for the same use does nothing.
   */
  remove(lease: GroupFiles): void {
    const held = this.#leases.get(lease);
    if (held === undefined) return;
    this.#leases.delete(lease);
    const idle = this.#idle.get(held.key) ?? [];
    if (idle.length < IDLE_MAX && this.#idleCount() < IDLE_TOTAL_MAX && this.#isEmpty(held.group)) {
      this.#idle.set(held.key, [...idle, held.group]);
    } else this.#discard(held.group);
  }

  /** What all sandboxes together use and may use. */
  totals(): CgroupTotals {
    return this.#backend.totals();
  }

  /** True if a process can really join a group. */
  async prove(): Promise<boolean> {
    const group = this.create({ memoryBytes: 64 * 1024 * 1024, pids: 8, cpus: 0 });
    const script = 'for file; do echo 0 >"$file" || exit 1; done';
    try {
      await promisify(execFile)('sh', ['-c', script, 'contextd-prove', ...group.joinFiles], {
        env: { PATH: '/usr/bin:/bin' },
      });
      return true;
    } catch (cause) {
      this.#logger.warn('sandbox.cgroup_not_joinable', { kind: this.kind, cause: String(cause) });
      return false;
    } finally {
      this.remove(group);
    }
  }

  /** Kills what is still in a group and removes all groups. Idempotent. */
  async stop(): Promise<void> {
    this.#idle.clear();
    const tree = this.#backend.tree();
    tree.kill();
    this.#discard(tree);
    await Promise.all(this.#removals);
    this.#backend.close();
  }

  /**
   * A dead process counts until its parent has reaped it. The parent of a sandbox's init is the system's init by then,
   * which may take its time: a group that is reused before that would fill up with dead processes.
   */
  #takeIdle(key: string): GroupFiles | undefined {
    const idle = this.#idle.get(key) ?? [];
    const index = idle.findIndex((group) => this.#isUncharged(group));
    return index < 0 ? undefined : idle.splice(index, 1)[0];
  }

  #idleCount(): number {
    return [...this.#idle.values()].reduce((sum, groups) => sum + groups.length, 0);
  }

  #isUncharged(group: GroupFiles): boolean {
    const counts = group.dirs.map((dir) => join(dir, 'pids.current')).filter((file) => this.#files.exists(file));
    return counts.every((file) => ['', '0'].includes(this.#files.read(file).trim()));
  }

  #isEmpty(group: GroupFiles): boolean {
    return group.joinFiles.every((file) => this.#files.exists(file) && this.#files.read(file) === '');
  }

  #discard(tree: GroupTree): void {
    if (this.#tryRemove(tree)) return;
    const removal = this.#removeSlowly(tree).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async #removeSlowly(tree: GroupTree): Promise<void> {
    for (let waitMs = 1; waitMs < 1500; waitMs *= 2) {
      await delay(waitMs);
      tree.kill();
      if (this.#tryRemove(tree)) return;
    }
    this.#logger.warn('sandbox.cgroup_left', { dirs: tree.dirs });
  }

  #tryRemove(tree: GroupTree): boolean {
    return tree.dirs.map((dir) => this.#files.removeDir(dir)).every((removed) => removed);
  }

  /** If a spawner is killed while it builds a sandbox, a bubblewrap stays that waits for ever. */
  #removeLeftovers(startTimeOf?: StartTimeOf): void {
    for (const name of this.#backend.list().filter((one) => isLeftover(one, startTimeOf))) {
      const tree = this.#backend.find(name);
      tree.kill();
      this.#discard(tree);
    }
  }
}

function keyOf({ memoryBytes, pids, cpus }: GroupLimits): string {
  return `${memoryBytes} ${pids} ${cpus}`;
}

/** The kernel counts over the whole life of a group; this view counts from now on. */
function countingFrom(group: GroupFiles): GroupFiles {
  const before = group.events();
  return {
    ...group,
    events() {
      const now = group.events();
      return { oomKills: now.oomKills - before.oomKills, pidsRefused: now.pidsRefused - before.pidsRefused };
    },
  };
}

/**
 * Memory, process and processor limits by cgroup: v1 if its files are writable, otherwise a delegated v2 subtree,
 * otherwise null. `total` limits all sandboxes together; 0 bytes means three quarters of the machine's memory.
 * `movedPids` are contextd's own processes, which v2 moves into a leaf if they share the spawner's group.
 */
export async function openCgroups(
  logger: Logger,
  total: TotalLimits,
  movedPids: readonly number[] = [process.pid],
): Promise<Cgroups | null> {
  const files = hostCgroupFiles;
  const places = locateCgroups(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  const resolved = resolveTotal(total, readFileSync('/proc/meminfo', 'utf8'), places, files);
  const setup = { name: topGroupName(process.pid), total: resolved, movedPids };
  const backend =
    (places.v1 === null ? null : openV1(places.v1, files, setup)) ??
    (places.v2 === null ? null : openV2(places.v2, files, setup));
  if (backend === null) return null;
  const cgroups = new Cgroups(backend, files, logger);
  if (await cgroups.prove()) return cgroups;
  await cgroups.stop();
  return null;
}

const KIB = 1024;
/** Share of the machine's memory for all sandboxes together, if nothing is configured. */
const SHARE = 3 / 4;

/**
 * The total limits, with 0 memory replaced by three quarters of what this machine, or contextd's own group, has.
 * `meminfo` is the text of /proc/meminfo.
 */
export function resolveTotal(
  asked: TotalLimits,
  meminfo: string,
  places: CgroupPlaces,
  files: CgroupFiles,
): TotalLimits {
  if (asked.memoryBytes > 0) return asked;
  const machine = Number(/^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? Number.POSITIVE_INFINITY) * KIB;
  const memory = Math.min(machine, ...ownLimits(places, files).filter((bytes) => bytes > 0));
  return { memoryBytes: Math.floor(memory * SHARE), pids: asked.pids };
}

/** Memory limits of the own group and its parents; 0 if unknown. */
function ownLimits({ v1, v2 }: CgroupPlaces, files: CgroupFiles): number[] {
  const inherited = v1 === null ? 0 : counter(files.read(join(v1.memory, 'memory.stat')), 'hierarchical_memory_limit');
  return [inherited, ...limitsUpwards(v2, files)];
}

/** The root of the hierarchy has no `memory.max`. */
function limitsUpwards(place: string | null, files: CgroupFiles): number[] {
  const limits: number[] = [];
  for (let dir = place; dir !== null && files.exists(join(dir, 'memory.max')); dir = dirname(dir)) {
    limits.push(amount(files.read(join(dir, 'memory.max'))));
  }
  return limits;
}
