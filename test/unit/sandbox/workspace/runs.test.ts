import { expect, test } from 'vitest';
import type { Protection } from '#src/sandbox/workspace/protection.js';
import { isShutOut, REPORTED_MAX, Runs } from '#src/sandbox/workspace/runs.js';

function protecting(...paths: string[]): Protection {
  const mounted = new Map(paths.map((path) => [path, 'id']));
  const cover = { mounted, identities: new Set(['id']), links: new Map() };
  return { commonGitDir: null, entries: [], hidden: [], mounts: [], fingerprint: '', cover };
}

function clockAt(time: { ms: number }) {
  return { now: () => 1_000_000 + time.ms, monotonic: () => time.ms };
}

test('SEC-2.3 a run can have made what was stamped while it went on, from a tick before it began', () => {
  const time = { ms: 0 };
  const runs = new Runs(clockAt(time), '/');
  expect(runs.mayHaveStamped(1_000_000)).toBe(false);
  time.ms = 1000;
  const run = runs.begin(protecting());
  time.ms = 2000;
  const isSuspect = () => [0, 900, 990, 1500, 2002, 2010, 2100].map((ms) => runs.mayHaveStamped(1_000_000 + ms));
  expect(isSuspect()).toEqual([false, false, true, true, true, true, true]);
  runs.end(run);
  time.ms = 9000;
  expect(isSuspect()).toEqual([false, false, true, true, true, false, false]);
  runs.settle(run);
  expect(isSuspect()).not.toContain(true);
});

test('SEC-2.3 where times prove nothing, everything is suspect: another file system, a clock set back', () => {
  const time = { ms: 0 };
  const remote = new Runs(clockAt(time), '/proc');
  remote.begin(protecting());
  expect(remote.mayHaveStamped(-5000)).toBe(true);
  let wallMs = 1_000_000;
  const local = new Runs({ now: () => wallMs, monotonic: () => time.ms }, '/');
  local.begin(protecting());
  expect(local.mayHaveStamped(0)).toBe(false);
  wallMs -= 3_600_000;
  expect(local.mayHaveStamped(0)).toBe(true);
});

const setAside = (path: string) => ({ path, id: '0123abcd', reason: 'r' });

test('SEC-2.3 what a mount covered, itself or a directory above, is no run’s doing until it was moved aside or replaced', () => {
  const runs = new Runs(clockAt({ ms: 0 }), '/');
  const run = runs.begin(protecting('/w/.claude', '/w/hidden'));
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

test('what a lost report had is in the next', () => {
  const runs = new Runs(clockAt({ ms: 0 }), '/');
  const [first, second] = [runs.begin(protecting()), runs.begin(protecting('/w/a'))];
  runs.report('/w/a', 'id', setAside('a'));
  runs.end(first);
  runs.postpone(first);
  runs.end(second);
  expect(runs.collect(second)).toEqual([setAside('a')]);
});

test('what is found late is told to the next run that ends, up to a number', () => {
  const runs = new Runs(clockAt({ ms: 0 }), '/');
  const first = runs.begin(protecting());
  runs.end(first);
  runs.report('/w/a', 'x', setAside('a'));
  expect(runs.collect(first)).toEqual([setAside('a')]);
  for (let i = 0; i < REPORTED_MAX * 2; i++) runs.report(`/w/b${i}`, 'x', setAside(`b${i}`));
  const second = runs.begin(protecting());
  runs.end(second);
  expect(runs.collect(second)).toHaveLength(REPORTED_MAX + 1);
});
