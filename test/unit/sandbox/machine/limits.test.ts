import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { chooseProcessors, LIMIT_SCRIPT, perProcessLimits, scriptLimits } from '#src/sandbox/machine/limits.js';

const MIB = 1024 * 1024;
const LIMITS = { memoryBytes: 512 * MIB, pids: 64, cpus: 0 };

test('SEC-2.5 a start script limits file size and open files, to fewer if the system allows fewer', () => {
  const limits = scriptLimits({ fileBytes: 1025, openFiles: 64 });
  // Root may raise what the system allows.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const limited = (before: string): string => {
    const script = `${before}\n${LIMIT_SCRIPT}\nulimit -f; ulimit -n; echo "$1"`;
    return execFileSync('sh', ['-c', script, 'sh', ...limits, 'rest'], { ...user, encoding: 'utf8' });
  };
  expect(limited('true')).toBe('3\n64\nrest\n');
  expect(limited('ulimit -S -n 16; ulimit -H -n 32')).toBe('3\n32\nrest\n');
});

test('SEC-2.5 without a cgroup each process is limited, and the command follows', () => {
  expect(perProcessLimits(LIMITS, false)).toEqual(['/usr/bin/prlimit', '--nproc=64', `--data=${512 * MIB}`, '--']);
});

test('SEC-2.5 Node gets the data it reserves before it runs a line, or more if that is configured', () => {
  expect(perProcessLimits(LIMITS, true)).toContain(`--data=${2048 * MIB}`);
  expect(perProcessLimits({ ...LIMITS, memoryBytes: 4096 * MIB }, true)).toContain(`--data=${4096 * MIB}`);
});

test('SEC-2.5 a share of the processors limits the processor time only of a command with an end', () => {
  const limits = { ...LIMITS, cpus: 0.5 };
  expect(perProcessLimits(limits, false, 30_000)).toContain('--cpu=15:16');
  expect(perProcessLimits(limits, false, 100)).toContain('--cpu=1:2');
  expect(perProcessLimits(limits, true).join(' ')).not.toContain('--cpu');
  expect(perProcessLimits(LIMITS, false, 30_000).join(' ')).not.toContain('--cpu');
});

test('SEC-2.5 without a cgroup whole processors are chosen, starting with the last allowed one', () => {
  const status = (list: string) => `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${list}\nMems_allowed:\t1\n`;
  expect(chooseProcessors(2, status('0-3'))).toBe('2,3');
  expect(chooseProcessors(2.9, status('0-1,4,8-9'))).toBe('8,9');
  expect(chooseProcessors(3, status('0-1,4'))).toBeNull();
  expect(chooseProcessors(0.5, status('0-3'))).toBeNull();
  expect(chooseProcessors(0, status('0-3'))).toBeNull();
});
