import { expect, test } from 'vitest';
import type { Clock } from '#src/core/clock.js';
import { momentOf } from '#src/guard/contract/moment.js';
import type { Cover } from '#src/guard/contract/protection.js';
import { isShutOut, REPORTED_MAX, type Run, Runs } from '#src/guard/index/runs.js';

function protecting(...paths: string[]): Cover {
  return {
    mounted: new Map(paths.map((path) => [path, 'id'])),
    identities: new Set(['id']),
    links: new Map(),
    open: new Set(),
  };
}

/** A clock that a test sets. */
function clockAt(wallMs: number): Clock & { wallMs: number; elapsedMs: number; pass(ms: number): void } {
  const clock = {
    wallMs,
    elapsedMs: 0,
    now: () => clock.wallMs,
    monotonic: () => clock.elapsedMs,
    pass(ms: number) {
      clock.wallMs += ms;
      clock.elapsedMs += ms;
    },
  };
  return clock;
}

const nothing = (): void => {};
const setAside = (path: string) => ({ path, id: '0123abcd', reason: 'r' });

test('SEC-2.3 a run can have made what was stamped while it went on, from a tick before it began', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  expect(runs.mayHaveStamped(1_000_000)).toBe(false);
  clock.pass(1000);
  const run = runs.begin(protecting(), momentOf(clock), true);
  clock.pass(1000);
  const isSuspect = () => [0, 900, 990, 1500, 2002, 2010, 2100].map((ms) => runs.mayHaveStamped(1_000_000 + ms));
  expect(isSuspect()).toEqual([false, false, true, true, true, true, true]);
  runs.end(run, momentOf(clock));
  clock.pass(7000);
  expect(isSuspect()).toEqual([false, false, true, true, true, false, false]);
  runs.settle(run);
  expect(isSuspect()).not.toContain(true);
});

test('SEC-2.3 if times prove nothing, everything is suspect: on another file system, or after the clock was set back', () => {
  const clock = clockAt(1_000_000);
  const remote = new Runs(clock, '/proc', nothing);
  remote.begin(protecting(), momentOf(clock), true);
  expect(remote.mayHaveStamped(-5000)).toBe(true);
  const local = new Runs(clock, '/', nothing);
  local.begin(protecting(), momentOf(clock), true);
  expect(local.mayHaveStamped(0)).toBe(false);
  clock.wallMs -= 3_600_000;
  expect(local.mayHaveStamped(0)).toBe(true);
});

test('SEC-2.3 each decision about a file knows the runs that another thread has begun or ended until then', () => {
  const clock = clockAt(1_000_000);
  let run: Run | null = null;
  let news: () => void = nothing;
  const runs: Runs = new Runs(clock, '/', () => {
    const take = news;
    news = nothing;
    take();
  });
  const cover = protecting('/w/.claude');
  const begin = () => {
    run = runs.begin(cover, momentOf(clock), true);
  };
  const settle = () => {
    if (run !== null) runs.settle(run);
  };
  const decisions: [string, () => unknown, unknown, unknown][] = [
    ['mayHaveStamped', () => runs.mayHaveStamped(1_000_000), true, false],
    ['areAllShutOut', () => runs.areAllShutOut('/w/.claude', 'id'), true, false],
    ['haveAllKept', () => runs.haveAllKept('other'), false, true],
    ['canTell', () => runs.canTell, true, false],
    ['isAnyActive', () => runs.isAnyActive, true, false],
  ];
  for (const [name, decide, whileLive, afterwards] of decisions) {
    news = begin;
    expect([name, decide()]).toEqual([name, whileLive]);
    news = settle;
    expect([name, decide()]).toEqual([name, afterwards]);
  }
  news = begin;
  expect(runs.begun).toBe(decisions.length + 1);
});

test('SEC-2.3 a path that a mount protected, itself or above, is not made by the run until it is moved aside or replaced', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  const run = runs.begin(protecting('/w/.claude', '/w/hidden'), momentOf(clock), true);
  expect(['/w/.claude', '/w/hidden/a/.envrc', '/w/.envrc'].map((path) => isShutOut(run, path, 'id'))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isShutOut(run, '/w/.claude', 'other')).toBe(false);
  runs.report('/w/.claude', 'id', setAside('.claude'));
  expect(isShutOut(run, '/w/.claude', 'id')).toBe(false);
  expect(runs.collect(run)).toEqual([]);
});

test('SEC-2.3 what may be a person’s is left until every run that may have made it has ended', () => {
  const clock = clockAt(1_000_000);
  const found: string[] = [];
  const runs = new Runs(clock, '/', nothing, (_run, { path }) => found.push(path));
  const job = runs.begin(protecting('/w/.bashrc'), momentOf(clock), true);
  clock.pass(1000);
  const isLeft = (path: string, ctimeMs = clock.now() - 100) => runs.leaveUntilEnd(path, 'new', ctimeMs);
  // Never set aside, and not mounted when the job began.
  expect(isLeft('/w/.envrc')).toBe(false);
  runs.report('/w/.envrc', 'x', setAside('.envrc'));
  expect([isLeft('/w/.envrc'), isLeft('/w/.bashrc'), isLeft('/w/.zshrc')]).toEqual([true, true, false]);
  const call = runs.begin(protecting(), momentOf(clock), true);
  clock.pass(1000);
  expect(isLeft('/w/.envrc')).toBe(true);
  runs.end(call, momentOf(clock));
  // The call has ended and may have made it, unless it was made before the call began.
  expect([isLeft('/w/.envrc'), isLeft('/w/.envrc', 1_000_500)]).toEqual([false, true]);
  runs.settle(call);
  // A call that goes on is searched when it ends, whatever it made.
  const shortCall = runs.begin(protecting(), momentOf(clock), false);
  clock.pass(1000);
  expect(isLeft('/w/.zshrc')).toBe(true);
  runs.settle(shortCall);
  runs.end(job, momentOf(clock));
  expect([isLeft('/w/.envrc'), isLeft('/w/.bashrc')]).toEqual([false, false]);
  expect([...job.left]).toEqual(['/w/.envrc', '/w/.bashrc', '/w/.zshrc']);
  expect(found).toEqual(['.envrc']);
});

test('the next report includes what a lost report would have said', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  const first = runs.begin(protecting(), momentOf(clock), true);
  const second = runs.begin(protecting('/w/a'), momentOf(clock), true);
  runs.report('/w/a', 'id', setAside('a'));
  runs.end(first, momentOf(clock));
  runs.postpone(first);
  runs.end(second, momentOf(clock));
  expect(runs.collect(second)).toEqual([setAside('a')]);
});

test('what is found late is reported to the next run that ends, up to a limit', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  const first = runs.begin(protecting(), momentOf(clock), true);
  runs.end(first, momentOf(clock));
  runs.report('/w/a', 'x', setAside('a'));
  expect(runs.collect(first)).toEqual([setAside('a')]);
  for (let i = 0; i < REPORTED_MAX * 2; i++) runs.report(`/w/b${i}`, 'x', setAside(`b${i}`));
  const second = runs.begin(protecting(), momentOf(clock), true);
  runs.end(second, momentOf(clock));
  expect(runs.collect(second)).toHaveLength(REPORTED_MAX + 1);
});

test('a file is of runs that go on only if no ended run can have made it', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  expect(runs.isOfActiveRuns(1_000_000)).toBe(false);
  const first = runs.begin(protecting(), momentOf(clock), true);
  clock.pass(1000);
  const second = runs.begin(protecting(), momentOf(clock), true);
  expect(runs.isOfActiveRuns(1_000_500)).toBe(true);
  runs.end(first, momentOf(clock));
  clock.pass(1000);
  expect([runs.isOfActiveRuns(1_000_900), runs.isOfActiveRuns(1_001_500)]).toEqual([false, true]);
  runs.end(second, momentOf(clock));
  expect(runs.isOfActiveRuns(1_001_500)).toBe(false);
});
