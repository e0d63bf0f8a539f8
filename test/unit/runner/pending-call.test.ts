import { expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { PendingCall } from '#src/runner/pending-call.js';
import { RUNNER_DEFAULTS } from '#src/runner/runner.js';

const LONG = { data: {}, streams: [{ field: 'stdout', text: 'x'.repeat(10 * 1024) }] };
const FOUND = [[{ rule: 'r', start: 0, end: 1 }]];

/** A call of safe_bash; `reasons`: why its process was given up. */
function callWith({ timeoutMs = 120_000, scanBaseMs = 60_000 } = {}) {
  const reasons: string[] = [];
  const caller = new AbortController();
  const call = new PendingCall({
    tool: 'safe_bash',
    timeoutMs,
    isToolLimit: false,
    callerSignal: caller.signal,
    config: { ...RUNNER_DEFAULTS, scanBaseMs, scanPerKibMs: 1 },
    askToEnd: async () => true,
    onUnresponsive: (reason) => void reasons.push(reason),
  });
  return { call, caller, reasons };
}

it('issue 16, cause 9: a search that takes too long names its own limit, not the time of the call', async () => {
  const { call, reasons } = callWith({ scanBaseMs: 5 });
  // 10 KiB of its own, and 10 KiB of another output that is searched before it.
  call.succeed({ output: LONG, firstPass: null }, 10 * 1024);
  expect(call.searchedChars).toBe(10 * 1024 + '{}'.length);
  const { output, firstPass } = await call.result;
  expect(output).toBe(LONG);
  expect(await firstPass).toMatchObject({
    code: 'TIMEOUT',
    message: 'safe_bash was done, but the search of its output for secrets did not finish within 25 ms',
    details: { search_limit_ms: 25 },
  });
  expect(reasons).toEqual(['its search for secrets took too long']);
  expect(call.searchedChars).toBe(0);
  expect(await call.ended).toBe(false);
});

it('issue 37: the output is there while it is searched, and the work of the host is over', async () => {
  const { call, reasons } = callWith();
  call.succeed({ output: LONG, firstPass: null }, 0);
  const { firstPass } = await call.result;
  expect(call.workSignal.aborted).toBe(true);
  expect(await Promise.race([call.ended, 'it goes on'])).toBe('it goes on');
  call.found(FOUND);
  expect(await firstPass).toBe(FOUND);
  expect(await call.ended).toBe(true);
  expect(reasons).toEqual([]);
});

it.each([
  ['a crash of the process', 'TOOL_CRASHED', ({ call }) => call.fail(new ContextdError('TOOL_CRASHED', 'it ended'))],
  ['a failure', 'SCRUB_FAILED', ({ call }) => call.failWith({ code: 'SCRUB_FAILED', message: 'no scan' })],
  ['the caller, who no longer waits', 'CANCELLED', ({ caller }) => caller.abort()],
] satisfies [string, string, (made: ReturnType<typeof callWith>) => void][])(
  'issue 37: a search that is ended by %s is a failure, and nobody has to wait for it',
  async (_, code, end) => {
    const made = callWith();
    made.call.succeed({ output: LONG, firstPass: null }, 0);
    end(made);
    expect(await (await made.call.result).firstPass).toMatchObject({ code });
    expect(await made.call.ended).toBe(false);
  },
);

it('an output that was searched at once ends the call', async () => {
  const { call } = callWith();
  call.succeed({ output: LONG, firstPass: FOUND }, 0);
  expect(await call.result).toEqual({ output: LONG, firstPass: FOUND });
  expect(await call.ended).toBe(true);
});
