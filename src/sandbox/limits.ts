import { existsSync, readFileSync } from 'node:fs';
import type { SandboxLimits } from './sandbox.ts';

/** V8 reserves about 1 GiB of data before it runs a line; under less the tool process would abort. */
const NODE_DATA_MIN_BYTES = 2 * 1024 ** 3;

/**
 * The start of a command line where no cgroup bounds the sandbox. Set inside, because RLIMIT_NPROC counts per user
 * namespace; RLIMIT_DATA, because Node reserves far more address space (RLIMIT_AS) than it uses. They hold for each
 * process; the sum is for the watchdog.
 *
 * `wallMs`, for a command that ends by then: a limit on processors becomes one on the processor time of each process
 * (SIGXCPU past it), which is the most they could have used. 0: none, as for a tool process, which lives on. Whole
 * processors are chosen instead (processors.ts).
 */
export function perProcessLimits(
  limits: Pick<SandboxLimits, 'memoryBytes' | 'pids' | 'cpus'>,
  runsNode: boolean,
  wallMs = 0,
): string[] {
  const dataBytes = runsNode ? Math.max(limits.memoryBytes, NODE_DATA_MIN_BYTES) : limits.memoryBytes;
  const cpuSeconds = Math.ceil((limits.cpus * wallMs) / 1000);
  return [
    '/usr/bin/prlimit',
    `--nproc=${limits.pids}`,
    `--data=${dataBytes}`,
    // With one limit for both, the kernel kills without saying why.
    ...(cpuSeconds > 0 ? [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`] : []),
    '--',
  ];
}

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

function findTaskset(): string | null {
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
