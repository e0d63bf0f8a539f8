import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { residentMib } from './machine.ts';
import type { Fact } from './section.ts';

/** The counts that a leak would increase. */
export interface Holdings {
  processes: number;
  daemonFds: number | null;
  spawnerFds: number | null;
  cgroups: number;
  mounts: number;
  /** Files in the sandbox's own directories. */
  files: number;
  daemonMib: number | null;
  spawnerMib: number | null;
}

/**
 * Counts what a daemon, its spawner and their sandboxes hold now. Linux only. `dirs`: where the sandbox keeps files.
 */
export function countHoldings(daemonPid: number, dirs: readonly string[]): Holdings {
  const tree = descendants(daemonPid);
  const spawner = tree.find((pid) => read(`/proc/${pid}/cmdline`).includes('/spawner.js')) ?? 0;
  return {
    processes: tree.length,
    daemonFds: entriesOf(`/proc/${daemonPid}/fd`),
    spawnerFds: entriesOf(`/proc/${spawner}/fd`),
    cgroups: cgroupsOf([daemonPid, spawner]),
    mounts: read('/proc/self/mountinfo').split('\n').length - 1,
    files: dirs.reduce((sum, dir) => sum + (entriesOf(dir, true) ?? 0), 0),
    daemonMib: residentMib(daemonPid, 'VmRSS'),
    spawnerMib: residentMib(spawner, 'VmRSS'),
  };
}

export function compareHoldings(before: Holdings, after: Holdings): Fact[] {
  const fact = (name: string, key: keyof Holdings): Fact => ({
    name,
    value: `${before[key] ?? '-'} → ${after[key] ?? '-'}`,
  });
  return [
    fact('processes below the daemon', 'processes'),
    fact('open files of the daemon', 'daemonFds'),
    fact('open files of the spawner', 'spawnerFds'),
    fact('cgroup directories', 'cgroups'),
    fact('mounts seen by the machine', 'mounts'),
    fact('files in the directories of the sandbox', 'files'),
    fact('memory of the daemon, MiB', 'daemonMib'),
    fact('memory of the spawner, MiB', 'spawnerMib'),
  ];
}

/**
 * Memory of a process and of all below it in MiB, with each shared page counted once (Pss). Linux only; a process that may
 * not be read counts as 0.
 */
export function treeMemoryMib(root: number): number {
  const kib = [root, ...descendants(root)].map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
  );
  return Math.round(kib.reduce((sum, one) => sum + one, 0) / 1024);
}

function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of pids()) {
    const parent = parentOf(pid);
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: number[] = [];
  for (let next = children.get(root) ?? []; next.length > 0; next = next.flatMap((pid) => children.get(pid) ?? [])) {
    found.push(...next);
  }
  return found;
}

function pids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** The second field is the process name and may hold anything; the parent's pid follows its closing bracket. */
function parentOf(pid: number): number | null {
  const fields = /\) \S (\d+)/.exec(read(`/proc/${pid}/stat`));
  return fields === null ? null : Number(fields[1]);
}

/** A cgroup is named after the process that made it. */
function cgroupsOf(owners: readonly number[]): number {
  const mine = new RegExp(`contextd-(${owners.join('|')})-`);
  return allBelow('/sys/fs/cgroup').filter((path) => mine.test(path)).length;
}

function allBelow(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [join(dir, name), ...allBelow(join(dir, name))]);
  } catch {
    return [];
  }
}

function entriesOf(dir: string, recursive = false): number | null {
  try {
    return readdirSync(dir, { recursive }).length;
  } catch {
    return null;
  }
}

/** Returns an empty list if the directory is gone or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
