import { describe, expect, test } from 'vitest';
import { type EndFacts, judgeEnd } from '#src/sandbox/jail/command-end.js';

const QUIET = { oomKills: 0, pidsRefused: 0 };

/** A command that ended by itself with this code. */
function ended(code: number, change: Partial<EndFacts> = {}): EndFacts {
  return {
    exit: { ran: true, code, signal: null },
    interruptedBy: null,
    events: QUIET,
    stderr: '',
    cwd: '/w/sub',
    ...change,
  };
}

/** A sandbox whose bubblewrap ended before it could report an exit code. */
function cutOff(signal: NodeJS.Signals | null, change: Partial<EndFacts> = {}): EndFacts {
  return { ...ended(0, change), exit: { ran: false, code: signal === null ? 1 : null, signal } };
}

describe('SEC-2.5 how a sandbox ended', () => {
  test.each([
    ['success', ended(0), { exitCode: 0, signal: null, endedBy: 'exit' }],
    ['a failure', ended(3), { exitCode: 3, signal: null, endedBy: 'exit' }],
    ['a signal, as a shell tells it', ended(143), { exitCode: 143, signal: 'SIGTERM', endedBy: 'signal' }],
    ['a code past every signal', ended(255), { exitCode: 255, signal: null, endedBy: 'exit' }],
    ['the filter', ended(159), { exitCode: 159, signal: 'SIGSYS', endedBy: 'seccomp' }],
    ['the processor time of a process', ended(152), { exitCode: 152, signal: 'SIGXCPU', endedBy: 'signal' }],
    ['the size of a file', ended(153), { exitCode: 153, signal: 'SIGXFSZ', endedBy: 'signal' }],
    [
      'a process of it killed for memory, and the rest carried on',
      ended(0, { events: { oomKills: 1, pidsRefused: 0 } }),
      { exitCode: 0, signal: null, endedBy: 'oom' },
    ],
    [
      'too many processes',
      ended(3, { events: { oomKills: 0, pidsRefused: 2 } }),
      { exitCode: 3, signal: null, endedBy: 'pids' },
    ],
    [
      'too many processes that did not matter',
      ended(0, { events: { oomKills: 0, pidsRefused: 2 } }),
      { exitCode: 0, signal: null, endedBy: 'exit' },
    ],
    ['no cgroup that could know more', ended(1, { events: null }), { exitCode: 1, signal: null, endedBy: 'exit' }],
    [
      'its own end, a moment before the deadline',
      ended(0, { interruptedBy: 'timeout' }),
      { exitCode: 0, signal: null, endedBy: 'exit' },
    ],
    ['all of it killed', cutOff('SIGKILL'), { exitCode: null, signal: 'SIGKILL', endedBy: 'signal' }],
    ['the filter, bubblewrap with it', cutOff('SIGSYS'), { exitCode: null, signal: 'SIGSYS', endedBy: 'seccomp' }],
    [
      'the whole group killed for memory',
      cutOff('SIGKILL', { events: { oomKills: 4, pidsRefused: 0 } }),
      { exitCode: null, signal: 'SIGKILL', endedBy: 'oom' },
    ],
    [
      'the deadline, with a kill for memory before it that did not end it',
      cutOff('SIGKILL', { interruptedBy: 'timeout', events: { oomKills: 1, pidsRefused: 0 } }),
      { exitCode: null, signal: 'SIGKILL', endedBy: 'timeout' },
    ],
    [
      'no such program',
      cutOff(null, { stderr: 'bwrap: execvp nope: No such file or directory\n' }),
      { exitCode: 127, signal: null, endedBy: 'exit' },
    ],
    [
      'a program that may not be executed',
      cutOff(null, { stderr: 'bwrap: execvp ./x: Permission denied\n' }),
      { exitCode: 126, signal: null, endedBy: 'exit' },
    ],
  ] as const)('%s', (_name, facts, verdict) => {
    expect(judgeEnd(facts)).toEqual(verdict);
  });

  test.each(['timeout', 'cancelled', 'output_limit', 'oom', 'pids'] as const)(
    'reports that contextd ended it: %s',
    (why) => {
      const verdict = { exitCode: null, signal: 'SIGKILL', endedBy: why };
      expect(judgeEnd(cutOff('SIGKILL', { interruptedBy: why }))).toEqual(verdict);
    },
  );

  test('a directory that does not exist is the caller’s fault, a sandbox that did not start is not', () => {
    const noDirectory = cutOff(null, { stderr: "bwrap: Can't chdir to /w/sub: No such file or directory\n" });
    expect(() => judgeEnd(noDirectory)).toThrow(
      expect.objectContaining({ code: 'PATH_NOT_FOUND', message: expect.stringContaining('/w/sub') }),
    );
    const notStarted = cutOff(null, { stderr: 'bwrap: Creating new namespace failed: Operation not permitted\n' });
    expect(() => judgeEnd(notStarted)).toThrow(expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE' }));
  });
});
