import { describe, expect, it } from 'vitest';
import { CallRates } from '#src/dispatch/call-rates.js';

function open(limits: ConstructorParameters<typeof CallRates>[0]) {
  const time = { now: 0 };
  const rates = new CallRates(limits, { monotonic: () => time.now });
  const take = (tool: string, { via, session = 's' }: { via?: string; session?: string } = {}) => {
    const execution = via === undefined ? {} : { execution: { via, toolId: tool, repairs: [] } };
    return rates.take({
      session: { project: '/p', session, branch: null },
      tool: { manifest: { name: tool } },
      ...execution,
    });
  };
  return { take, time };
}

describe('gateway surface §4.5: a limit of calls', () => {
  it('refuses what exceeds it within a minute, and says when the next call may come', () => {
    const { take, time } = open({ jobs: { per_minute: 2 } });
    expect(take('jobs').verdict).toBe('allow');
    time.now = 10_000;
    expect(take('jobs').verdict).toBe('allow');
    expect(take('jobs')).toMatchObject({
      verdict: 'deny',
      code: 'RATE_LIMITED',
      limit: 2,
      retryAfterMs: 50_000,
      details: { scope: 'jobs', retry_after: 50 },
    });
    time.now = 60_001;
    expect(take('jobs').verdict).toBe('allow');
  });

  it('of a session ends with the session only', () => {
    const { take, time } = open({ jobs: { per_session: 1 } });
    take('jobs');
    time.now = 1e9;
    expect(take('jobs')).toMatchObject({ verdict: 'deny', details: { scope: 'jobs' } });
    expect(take('jobs', { session: 'other' }).verdict).toBe('allow');
  });

  it('counts a call through tool_execute for both tools', () => {
    const { take } = open({ tool_execute: { per_minute: 3 }, 'a:get#00000000': { per_minute: 1 } });
    expect(take('a:get#00000000', { via: 'tool_execute' }).verdict).toBe('allow');
    expect(take('a:get#00000000', { via: 'tool_execute' })).toMatchObject({ details: { scope: 'a:get#00000000' } });
    expect(take('jobs', { via: 'tool_execute' }).verdict).toBe('allow');
    expect(take('jobs').verdict).toBe('allow');
  });

  it('does not count a refused call', () => {
    const { take, time } = open({ jobs: { per_minute: 1 } });
    take('jobs');
    time.now = 59_000;
    take('jobs');
    time.now = 60_001;
    expect(take('jobs').verdict).toBe('allow');
  });
});
