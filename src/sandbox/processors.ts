import { existsSync, readFileSync } from 'node:fs';

const TASKSET_PLACES = ['/usr/bin/taskset', '/bin/taskset'];

/**
 * The start of a command line where no cgroup shares out processor time: everything after it runs on as many processors
 * as are allowed. They are the same ones for every sandbox, so the rest of the machine stays free. Only whole processors
 * can be chosen; empty when that would be all of them, or none. The filter keeps the choice from being undone.
 */
export function bindToProcessors(cpus: number): string[] {
  const taskset = findTaskset();
  if (taskset === null || cpus < 1) return [];
  const list = chooseProcessors(cpus, readFileSync('/proc/self/status', 'latin1'));
  return list === null ? [] : [taskset, '--cpu-list', list];
}

export function findTaskset(): string | null {
  return TASKSET_PLACES.find((place) => existsSync(place)) ?? null;
}

/**
 * The last `cpus` of the processors that a process may use, as taskset takes them; the first ones serve most interrupts.
 * `status`: the text of /proc/self/status. Null when there are no more than these.
 */
export function chooseProcessors(cpus: number, status: string): string | null {
  const allowed = listOf(/^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? '');
  const count = Math.floor(cpus);
  return count < 1 || count >= allowed.length ? null : allowed.slice(-count).join(',');
}

/** `0-2,5` is 0, 1, 2 and 5. */
function listOf(ranges: string): number[] {
  return ranges.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
