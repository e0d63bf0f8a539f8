import { expect, it } from 'vitest';
import { PendingCall } from '#src/runner/pending-call.js';
import { RUNNER_DEFAULTS } from '#src/runner/runner.js';

it('issue 16, cause 9: a search that takes too long names its own limit, not the time of the call', async () => {
  const reasons: string[] = [];
  const call = new PendingCall({
    tool: 'safe_bash',
    timeoutMs: 120_000,
    isToolLimit: false,
    callerSignal: new AbortController().signal,
    config: { ...RUNNER_DEFAULTS, scanBaseMs: 5, scanPerKibMs: 1 },
    askToEnd: async () => true,
    onUnresponsive: (reason) => void reasons.push(reason),
  });
  call.scanning(10 * 1024);
  await expect(call.result).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'safe_bash was done, but the search of its output for secrets did not finish within 15 ms',
    details: { search_limit_ms: 15 },
  });
  expect(reasons).toEqual(['its search for secrets took too long']);
});
