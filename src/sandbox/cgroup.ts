import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from '../core/log.ts';
import { type CgroupBackend, type CgroupFiles, type GroupFiles, hostCgroupFiles } from './cgroup-files.ts';
import { locateCgroups } from './cgroup-locate.ts';
import { openV1 } from './cgroup-v1.ts';
import { openV2 } from './cgroup-v2.ts';
import type { SandboxLimits } from './sandbox.ts';

/** Idle groups kept for each set of limits. */
const IDLE_MAX = 16;

/**
 * Groups below the daemon's own, so that a limit on the daemon holds for what it runs. Named after the daemon's pid: what a
 * killed daemon left is removed by the next one.
 */
export class Cgroups {
  readonly kind: 'v1' | 'v2';
  readonly #backend: CgroupBackend;
  readonly #files: CgroupFiles;
  readonly #removals = new Set<Promise<void>>();
  /** Empty groups by their limits. */
  readonly #idle = new Map<string, GroupFiles[]>();
  readonly #leases = new WeakMap<GroupFiles, { group: GroupFiles; key: string }>();
  readonly #logger: Logger;
  /** The random part keeps apart a daemon that was killed and a later one with the same pid. */
  readonly #prefix = `contextd-${process.pid}-${randomBytes(4).toString('hex')}`;
  #count = 0;

  constructor(backend: CgroupBackend, files: CgroupFiles, logger: Logger) {
    this.kind = backend.kind;
    this.#backend = backend;
    this.#files = files;
    this.#logger = logger;
    this.#removeLeftovers();
  }

  /** A group with these limits, empty. One that served a sandbox before is taken first; `remove` gives it back. */
  create(limits: SandboxLimits): GroupFiles {
    const key = JSON.stringify(limits);
    const idle = this.#takeIdle(key);
    const group = idle ?? this.#backend.create(`${this.#prefix}-${this.#count++}`, limits);
    const lease = idle === undefined ? { ...group } : countingFrom(group);
    this.#leases.set(lease, { group, key });
    return lease;
  }

  /**
   * Takes back a group whose sandbox is dead. Making and removing a memory group costs the kernel up to ten
   * milliseconds, so an empty one is kept for the next sandbox; one that is not is removed, which nobody waits for but `stop`.
   */
  remove(lease: GroupFiles): void {
    const { group, key } = this.#leases.get(lease) ?? { group: lease, key: null };
    const idle = key === null ? undefined : (this.#idle.get(key) ?? []);
    if (key !== null && idle !== undefined && idle.length < IDLE_MAX && this.#isEmpty(group)) {
      this.#leases.delete(lease);
      this.#idle.set(key, [...idle, group]);
      return;
    }
    this.#discard(group);
  }

  /**
   * A dead process counts until its parent has taken note, and the parent of a sandbox's init is by then the system's,
   * which may take its time: a group used over and over before that would fill up with the dead.
   */
  #takeIdle(key: string): GroupFiles | undefined {
    const idle = this.#idle.get(key) ?? [];
    const index = idle.findIndex((group) => this.#isUncharged(group));
    return index < 0 ? undefined : idle.splice(index, 1)[0];
  }

  #isUncharged(group: GroupFiles): boolean {
    return group.dirs.every((dir) => ['', '0'].includes(this.#files.read(join(dir, 'pids.current')).trim()));
  }

  #discard(group: GroupFiles): void {
    if (this.#tryRemove(group)) return;
    const removal = this.#removeSlowly(group).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  #isEmpty(group: GroupFiles): boolean {
    return group.joinFiles.every((file) => this.#files.exists(file) && this.#files.read(file) === '');
  }

  /** True when a process really can join a group. */
  async prove(): Promise<boolean> {
    const group = this.create({ memoryBytes: 64 * 1024 * 1024, pids: 8, fileBytes: 0, openFiles: 0 });
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

  async stop(): Promise<void> {
    for (const groups of this.#idle.values()) for (const group of groups) this.#discard(group);
    this.#idle.clear();
    await Promise.all(this.#removals);
    this.#backend.close();
  }

  async #removeSlowly(group: GroupFiles): Promise<void> {
    for (let waitMs = 1; waitMs < 1500; waitMs *= 2) {
      await delay(waitMs);
      group.kill();
      if (this.#tryRemove(group)) return;
    }
    this.#logger.warn('sandbox.cgroup_left', { dirs: group.dirs });
  }

  #tryRemove(group: GroupFiles): boolean {
    return group.dirs.map((dir) => this.#files.removeDir(dir)).every((removed) => removed);
  }

  /** A daemon killed while a sandbox was being built leaves a bubblewrap that waits for ever. */
  #removeLeftovers(): void {
    for (const name of this.#backend.list()) {
      const pid = Number(/^contextd-(\d+)-/.exec(name)?.[1]);
      if (!Number.isInteger(pid) || pid === process.pid || isAlive(pid)) continue;
      const group = this.#backend.find(name);
      group.kill();
      this.remove(group);
    }
  }
}

/** The kernel's counts go on over the life of a group; this one's begin now. */
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

function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`).length > 0;
  } catch {
    return false;
  }
}

/** Memory and process limits by cgroup: v1 where its files are writable, else a delegated v2 subtree, else null. */
export async function openCgroups(logger: Logger): Promise<Cgroups | null> {
  const located = locateCgroups(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
  );
  const backend =
    (located.v1 !== null ? openV1(located.v1, hostCgroupFiles) : null) ??
    (located.v2 !== null ? openV2(located.v2, hostCgroupFiles, process.pid) : null);
  if (backend === null) return null;
  const cgroups = new Cgroups(backend, hostCgroupFiles, logger);
  if (await cgroups.prove()) return cgroups;
  await cgroups.stop();
  return null;
}
