import { expect } from 'vitest';
import { type Probe, type ProbeGroup, perl } from './probe.ts';

const MIB = 1024 * 1024;

/** Bombs run only after `proveProcessLimit` has shown that the limit of this kind of sandbox holds. */
const PROBES: readonly Probe[] = [
  {
    id: 52,
    name: 'fill /dev/shm',
    requirement: 'SEC-2.5',
    script: () => 'head -c 100M /dev/zero >/dev/shm/x; stat -c %s /dev/shm/x',
    contained: (seen) => expect(seen.out).toBe(`${64 * MIB}\n`),
  },
  {
    id: 53,
    name: 'fill /tmp',
    requirement: 'SEC-2.5',
    script: () => 'head -c 300M /dev/zero >/tmp/x; stat -c %s /tmp/x',
    contained: (seen) => expect(seen.out).toBe(`${256 * MIB}\n`),
  },
  {
    id: 54,
    name: 'fill the disk of the project: one file is bounded, many are not (SECURITY.md, “Disk”)',
    requirement: 'SEC-2.5',
    change: { limits: { fileBytes: 4 * MIB } },
    script: () =>
      'head -c 6M /dev/zero >big; stat -c %s big; for i in 1 2; do head -c 4M /dev/zero >big$i; done; cat big* | wc -c; rm big*',
    contained: (seen) => expect(seen.out).toBe(`${4 * MIB}\n${12 * MIB}\n`),
  },
  {
    id: 55,
    name: 'many files in the project are not bounded (SECURITY.md, “Disk”)',
    requirement: 'SEC-2.5',
    script: () => 'mkdir many && cd many && for i in $(seq 500); do : >f$i; done; ls | wc -l; cd .. && rm -rf many',
    contained: (seen) => expect(seen.out).toBe('500\n'),
  },
  {
    id: 56,
    name: 'a memory bomb of one process',
    requirement: 'SEC-2.5',
    change: { limits: { memoryBytes: 96 * MIB } },
    script: () => perl('my $x = "x" x (400 << 20); print "GOT IT\\n";'),
    contained(seen, { byCgroup }) {
      expect(seen.out).toBe('');
      if (byCgroup) expect(seen.endedBy).toBe('oom');
      else expect(seen.exitCode).not.toBe(0);
    },
  },
  {
    id: 57,
    name: 'a memory bomb of many processes',
    requirement: 'SEC-2.5',
    change: { limits: { memoryBytes: 160 * MIB }, timeoutMs: 15_000 },
    script: () =>
      perl(`for (1 .. 6) { my $pid = fork; if ($pid) { push @all, $pid; next } my $x = "x" x (40 << 20); sleep 5; exit }
while (wait > 0) { if ($?) { kill 9, @all; exit 1 } } print "ALL OF IT\\n";`),
    contained: (seen) => expect(seen.endedBy).toBe('oom'),
  },
  {
    id: 58,
    name: 'a fork bomb',
    requirement: 'SEC-2.5',
    change: { limits: { pids: 32 }, timeoutMs: 1500 },
    script: () => perl('my $n = 0; while (1) { my $pid = fork; last unless defined $pid } sleep 30;'),
    contained: (seen) => expect(['timeout', 'pids']).toContain(seen.endedBy),
  },
  {
    id: 59,
    name: 'spin',
    requirement: 'SEC-2.5',
    change: { timeoutMs: 300 },
    script: () => 'while :; do :; done',
    contained: (seen) => expect(seen).toMatchObject({ endedBy: 'timeout', exitCode: null }),
  },
  {
    id: 60,
    name: 'flood the output',
    requirement: 'SEC-2.5',
    change: { outputMaxBytes: 256 * 1024 },
    script: () => 'yes | head -c 300M',
    contained(seen) {
      expect(seen.endedBy).toBe('output_limit');
      expect(seen.out.length).toBe(256 * 1024);
    },
  },
  {
    id: 61,
    name: 'wait for input that never comes',
    requirement: 'SEC-2.5',
    script: () => 'cat; echo end',
    contained: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', out: 'end\n' }),
  },
  {
    id: 62,
    name: 'outlive the command',
    requirement: 'SEC-2.5',
    script: ({ hostPid }) =>
      `(setsid nohup bash -c 'exec -a contextd-survivor-${hostPid} sleep 50' >/dev/null 2>&1 &); (setsid bash -c 'exec -a contextd-survivor-${hostPid} sleep 50' &); echo done`,
    contained: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', out: 'done\n' }),
  },
];

/** Probes 52 to 62. */
export const LIMIT_PROBES: ProbeGroup = {
  name: 'limits',
  control: {
    change: { limits: { memoryBytes: 160 * MIB, pids: 32, fileBytes: 4 * MIB } },
    script: () =>
      `head -c 1M /dev/zero >/tmp/x; head -c 1M /dev/zero >/dev/shm/x; head -c 1M /dev/zero >f; rm f; for i in $(seq 8); do sleep 0.01 & done; wait; ${perl('my $x = "x" x (8 << 20); print "fits\\n";')}`,
    works: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', exitCode: 0, out: 'fits\n' }),
  },
  probes: PROBES,
};
