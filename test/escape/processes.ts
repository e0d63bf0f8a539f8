import { readdirSync, readFileSync } from 'node:fs';

/** Returns all descendants of `pid`, except zombies. */
export function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const [state, parent] = readOrEmpty(`/proc/${name}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    if (!/^\d+$/.test(name) || state === undefined || state === 'Z' || parent === undefined) continue;
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
  }
  const below = (one: number): number[] => (children.get(one) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export function mountCount(pid: number | 'self'): number {
  return readOrEmpty(`/proc/${pid}/mountinfo`).split('\n').length;
}

/** Bytes of memory of a process, private and shared. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Returns the cgroups made by a daemon with one of these pids. */
export function cgroupsOf(pids: readonly number[]): string[] {
  const mounts = readOrEmpty('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line) => (/ - cgroup2? /.test(line) ? [line.split(' ')[4] ?? ''] : []));
  const wanted = new RegExp(`^contextd-(${pids.join('|')})-`);
  return mounts
    .flatMap((mount) => directoriesBelow(mount, 4))
    .filter((path) => wanted.test(path.split('/').at(-1) ?? ''));
}

function directoriesBelow(dir: string, depth: number): string[] {
  if (depth === 0) return [];
  return entriesOf(dir).flatMap((name) => [`${dir}/${name}`, ...directoriesBelow(`${dir}/${name}`, depth - 1)]);
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

/** Returns a unique word by which a process and its children can be found on the host. */
export function newMark(): string {
  return `mark${process.pid}x${Math.trunc(performance.now() * 1000)}x${Math.trunc(Math.random() * 1e9)}`;
}

/** Returns the processes of the host with `mark` in their command line, including those of the sandbox itself. */
export function marked(mark: string): number[] {
  return withCommandLine((line) => line.includes(mark));
}

/** Returns the processes that a command started. bubblewrap, which has the same arguments, may end a moment later. */
export function markedInside(mark: string): number[] {
  return withCommandLine((line) => line.includes(mark) && !/^\S*bwrap\0/.test(line));
}

function withCommandLine(isWanted: (line: string) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => isWanted(commandLine(pid)));
}

/** Returns the arguments separated by NULs; '' if the process is gone. */
export function commandLine(pid: number): string {
  return readOrEmpty(`/proc/${pid}/cmdline`);
}

/** Reads a file of /proc; '' if its process is gone. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
