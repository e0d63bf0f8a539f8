import { expect, test } from 'vitest';
import type { Clock } from '#src/core/clock.js';
import type { Cover } from '#src/sandbox/workspace/protection.js';
import { isShutOut, momentOf, REPORTED_MAX, type Run, Runs } from '#src/sandbox/workspace/runs.js';

function protecting(...paths: string[]): Cover {
  return { mounted: new Map(paths.map((path) => [path, 'id'])), identities: new Set(['id']), links: new Map() };
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
  const run = runs.begin(protecting(), momentOf(clock));
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
  remote.begin(protecting(), momentOf(clock));
  expect(remote.mayHaveStamped(-5000)).toBe(true);
  const local = new Runs(clock, '/', nothing);
  local.begin(protecting(), momentOf(clock));
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
    run = runs.begin(cover, momentOf(clock));
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
  const run = runs.begin(protecting('/w/.claude', '/w/hidden'), momentOf(clock));
  expect(['/w/.claude', '/w/hidden/a/.envrc', '/w/.envrc'].map((path) => isShutOut(run, path, 'id'))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isShutOut(run, '/w/.claude', 'other')).toBe(false);
  runs.report('/w/.claude', 'id', setAside('.claude'), Number.NaN);
  expect(isShutOut(run, '/w/.claude', 'id')).toBe(false);
  expect(runs.collect(run)).toEqual([]);
});

test('a run is struck out when it makes a path again: the second time if it alone can have made it, otherwise the third', () => {
  const clock = clockAt(1_000_000);
  const struck: string[] = [];
  const names = new Map<Run, string>();
  const onFound = (run: Run, { path }: { path: string }, isAgain: boolean) => {
    if (isAgain) struck.push(`${names.get(run)} ${path}`);
  };
  const runs = new Runs(clock, '/', nothing, onFound);
  const begin = (name: string, cover = protecting()) => {
    const run = runs.begin(cover, momentOf(clock));
    names.set(run, name);
    return run;
  };
  const find = (path: string) => {
    clock.pass(1000);
    runs.report(path, 'x', setAside(path), clock.now() - 500);
    return struck.splice(0);
  };
  begin('job');
  clock.pass(1000);
  expect([find('a'), find('b'), find('a')]).toEqual([[], [], ['job a']]);
  const call = begin('call');
  clock.pass(1000);
  expect([find('c'), find('c'), find('c')]).toEqual([[], [], ['job c', 'call c']]);
  runs.report('d', 'x', setAside('d'), clock.now() - 10);
  runs.end(call, momentOf(clock));
  // The call ended, and may have made it: the job is not blamed.
  for (let i = 0; i < 5; i++) runs.report('d', 'x', setAside('d'), clock.now() - 10);
  expect(struck).toEqual([]);
  // A search that began later, and a run whose mounts kept it from the path, cannot have made it.
  begin('search');
  begin('kept', protecting('e'));
  for (let i = 0; i < 2; i++) runs.report('e', 'id', setAside('e'), clock.now() - 100);
  expect(struck).toEqual([]);
});

test('the next report includes what a lost report would have said', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  const first = runs.begin(protecting(), momentOf(clock));
  const second = runs.begin(protecting('/w/a'), momentOf(clock));
  runs.report('/w/a', 'id', setAside('a'), Number.NaN);
  runs.end(first, momentOf(clock));
  runs.postpone(first);
  runs.end(second, momentOf(clock));
  expect(runs.collect(second)).toEqual([setAside('a')]);
});

test('what is found late is reported to the next run that ends, up to a limit', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  const first = runs.begin(protecting(), momentOf(clock));
  runs.end(first, momentOf(clock));
  runs.report('/w/a', 'x', setAside('a'), Number.NaN);
  expect(runs.collect(first)).toEqual([setAside('a')]);
  for (let i = 0; i < REPORTED_MAX * 2; i++) runs.report(`/w/b${i}`, 'x', setAside(`b${i}`), Number.NaN);
  const second = runs.begin(protecting(), momentOf(clock));
  runs.end(second, momentOf(clock));
  expect(runs.collect(second)).toHaveLength(REPORTED_MAX + 1);
});

test('a file is of runs that go on only if no ended run can have made it', () => {
  const clock = clockAt(1_000_000);
  const runs = new Runs(clock, '/', nothing);
  expect(runs.isOfActiveRuns(1_000_000)).toBe(false);
  const first = runs.begin(protecting(), momentOf(clock));
  clock.pass(1000);
  const second = runs.begin(protecting(), momentOf(clock));
  expect(runs.isOfActiveRuns(1_000_500)).toBe(true);
  runs.end(first, momentOf(clock));
  clock.pass(1000);
  expect([runs.isOfActiveRuns(1_000_900), runs.isOfActiveRuns(1_001_500)]).toEqual([false, true]);
  runs.end(second, momentOf(clock));
  expect(runs.isOfActiveRuns(1_001_500)).toBe(false);
});
