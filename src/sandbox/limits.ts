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
