import { existsSync, readFileSync } from 'node:fs';
import type { SandboxLimits } from '../contract/policy.ts';

/**
 * The start of a shell script that limits itself and what it becomes, on every machine. It takes the values of
 * `scriptLimits` as its first arguments. If the system allows fewer open files, the script gets as many as are allowed.
 */
export const LIMIT_SCRIPT = `ulimit -f "$1" 2>/dev/null
ulimit -n "$2" 2>/dev/null || ulimit -n "$(ulimit -H -n)"
shift 2`;

/** Arguments of LIMIT_SCRIPT. */
export function scriptLimits({ fileBytes, openFiles }: Pick<SandboxLimits, 'fileBytes' | 'openFiles'>): string[] {
  return [String(Math.ceil(fileBytes / 512)), String(openFiles)];
}

/** V8 reserves about 1 GiB of data before it runs a line; with less the tool process would abort. */
const NODE_DATA_MIN_BYTES = 2 * 1024 ** 3;

/**
 * The start of a command line if no cgroup limits the sandbox. The limits are set inside, because RLIMIT_NPROC counts
 * per user namespace. RLIMIT_DATA is used, because Node reserves far more address space (RLIMIT_AS) than it uses. They
 * hold for each process; the watchdog watches the sum. `wallMs` is for a command that has ended by then: its limit on
 * processors becomes a limit on the processor time of each process (SIGXCPU after it), the most it could have used. 0
 * is for a tool process, which has no end: it gets whole processors from `bindToProcessors` only.
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
    // If both limits were the same, the kernel would kill without a reason.
    ...(cpuSeconds > 0 ? [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`] : []),
    '--',
  ];
}

const TASKSET_PLACES = ['/usr/bin/taskset', '/bin/taskset'];

/**
 * The start of a command line if no cgroup limits processor time: everything after it runs on as many processors as
 * allowed. Every sandbox gets the same processors, so that the others stay free. Works for whole processors only; empty
 * if that would be all or none. The filter prevents the command from undoing it.
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
 * The last `cpus` of the processors that a process may use, in taskset's notation; the first ones serve most
 * interrupts. `status` is the text of /proc/self/status. Null if there are no more than these.
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
