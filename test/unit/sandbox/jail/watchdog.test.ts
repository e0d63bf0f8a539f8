import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isMachineShort, measure, type ProcessReader, type WatchTools, watchTree } from '#src/sandbox/jail/watchdog.js';

const MIB = 1024 * 1024;

interface FakeProcess {
  parent: number;
  residentBytes?: number;
  shareBytes?: number | null;
  furtherBytes?: number;
  threads?: number[];
  /** The thread of the parent that started it. */
  startedBy?: number;
}

/** Processes by pid, and which of them were read. */
function fakeReader(
  processes: Record<number, FakeProcess>,
  { files = 0, isShort = false }: { files?: number; isShort?: boolean } = {},
): ProcessReader & { read: string[] } {
  const read: string[] = [];
  const threadsOf = (pid: number): number[] => processes[pid]?.threads ?? [pid];
  return {
    read,
    startTime: (pid) => (processes[pid] === undefined ? null : `s${pid}`),
    glance(pid) {
      read.push(`glance ${pid}`);
      const one = processes[pid];
      if (one === undefined) return null;
      const { residentBytes = 0, furtherBytes = 0 } = one;
      return { threads: threadsOf(pid).length, residentBytes, furtherBytes };
    },
    threadIds: threadsOf,
    children: (pid, thread) =>
      Object.entries(processes).flatMap(([child, one]) =>
        one.parent === pid && (one.startedBy ?? pid) === thread ? [Number(child)] : [],
      ),
    shareBytes(pid) {
      read.push(`share ${pid}`);
      return processes[pid]?.shareBytes ?? null;
    },
    temporaryBytes: (pid) => (pid === ROOT ? null : files),
    isMachineShort: () => isShort,
  };
}

const ROOT = 10;
const BOUNDS = { rootPid: ROOT, memoryBytes: 100 * MIB, pids: 8, temporary: [] };

test('SEC-2.5 watchdog: the memory of the whole tree counts, including orphans under the sandbox’s init', () => {
  const tree = {
    10: { parent: 1, residentBytes: MIB },
    11: { parent: 10, residentBytes: MIB },
    12: { parent: 11, residentBytes: 40 * MIB },
    13: { parent: 12, residentBytes: 40 * MIB },
    99: { parent: 1, residentBytes: 900 * MIB },
  };
  expect(measure(BOUNDS, fakeReader(tree))).toBeNull();
  expect(measure(BOUNDS, fakeReader({ ...tree, 14: { parent: 11, residentBytes: 40 * MIB } }))).toBe('oom');
});

test('SEC-2.5 watchdog: shared pages count once, and this is looked up only near the limit', () => {
  const shared = { residentBytes: 60 * MIB, shareBytes: 30 * MIB };
  const two = fakeReader({
    10: { parent: 1, shareBytes: 0 },
    11: { parent: 10, ...shared },
    12: { parent: 10, ...shared },
  });
  expect(measure(BOUNDS, two)).toBeNull();
  expect(two.read).toContain('share 12');
  const one = fakeReader({ 10: { parent: 1 }, 11: { parent: 10, ...shared } });
  expect(measure(BOUNDS, one)).toBeNull();
  expect(one.read).not.toContain('share 11');
});

test('SEC-2.5 watchdog: in-memory files, page tables and swapped memory count too', () => {
  const tree = { 10: { parent: 1 }, 11: { parent: 10, residentBytes: 40 * MIB, shareBytes: 40 * MIB } };
  expect(measure(BOUNDS, fakeReader(tree, { files: 55 * MIB }))).toBeNull();
  expect(measure(BOUNDS, fakeReader(tree, { files: 65 * MIB }))).toBe('oom');
  const swapped = { ...tree, 12: { parent: 11, furtherBytes: 65 * MIB } };
  expect(measure(BOUNDS, fakeReader(swapped))).toBe('oom');
});

test('SEC-2.5 watchdog: a machine without memory ends a sandbox, however little the sandbox seems to hold', () => {
  expect(measure(BOUNDS, fakeReader({ 10: { parent: 1 } }, { isShort: true }))).toBe('oom');
  const meminfo = (availableKib: number, swapFreeKib: number) =>
    `MemTotal:        1000000 kB\nMemFree: 9 kB\nMemAvailable:   ${availableKib} kB\nSwapFree:   ${swapFreeKib} kB\n`;
  expect(isMachineShort(meminfo(40_000, 0))).toBe(true);
  expect(isMachineShort(meminfo(60_000, 0))).toBe(false);
  expect(isMachineShort(meminfo(40_000, 500_000))).toBe(false);
  expect(isMachineShort()).toBe(false);
});

test('SEC-2.5 watchdog: counts unreadable processes in full', () => {
  const secretive = { 10: { parent: 1 }, 11: { parent: 10, residentBytes: 101 * MIB, shareBytes: null } };
  expect(measure(BOUNDS, fakeReader(secretive))).toBe('oom');
});

test('SEC-2.5 watchdog: processes and threads are limited, and it reads no more of them than that', () => {
  const crowd = (count: number): Record<number, FakeProcess> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [ROOT + i, { parent: i === 0 ? 1 : ROOT }]));
  expect(measure(BOUNDS, fakeReader(crowd(10)))).toBeNull();
  const many = fakeReader(crowd(5000));
  expect(measure(BOUNDS, many)).toBe('pids');
  expect(many.read).toHaveLength(11);
  const threaded = { 10: { parent: 1 }, 11: { parent: 10, threads: Array.from({ length: 10 }, (_, i) => 11 + i) } };
  expect(measure(BOUNDS, fakeReader(threaded))).toBe('pids');
});

test('SEC-2.5 watchdog: finds the children of every thread', () => {
  const tree = {
    10: { parent: 1 },
    11: { parent: 10, threads: [11, 20] },
    12: { parent: 11, startedBy: 20, residentBytes: 101 * MIB },
  };
  expect(measure(BOUNDS, fakeReader(tree))).toBe('oom');
});

/** Time that passes only when the test moves it. */
function fakeTools(reader: ProcessReader, lookTakesMs = 0): WatchTools & { next(): number | null } {
  let due: { ms: number; then: () => void } | null = null;
  let now = 0;
  return {
    reader,
    later(ms, then) {
      const own = { ms, then };
      due = own;
      return () => {
        if (due === own) due = null;
      };
    },
    now() {
      now += lookTakesMs;
      return now;
    },
    next() {
      const current = due;
      due = null;
      current?.then();
      return current === null ? null : current.ms;
    },
  };
}

test('SEC-2.5 watchdog: it looks every 200 ms, reports once, and then stops looking', () => {
  const processes: Record<number, FakeProcess> = { 10: { parent: 1 } };
  const tools = fakeTools(fakeReader(processes));
  const told: string[] = [];
  watchTree({ ...BOUNDS, onExceeded: (what) => told.push(what), signal: new AbortController().signal }, tools);
  expect([tools.next(), tools.next()]).toEqual([200, 200]);
  processes[11] = { parent: 10, residentBytes: 200 * MIB };
  expect(tools.next()).toBe(200);
  expect(tools.next()).toBeNull();
  expect(told).toEqual(['oom']);
});

test('SEC-2.5 watchdog: waits longer after a slow check', () => {
  const tools = fakeTools(fakeReader({ 10: { parent: 1 } }), 30);
  watchTree({ ...BOUNDS, onExceeded: () => {}, signal: new AbortController().signal }, tools);
  expect([tools.next(), tools.next()]).toEqual([200, 600]);
});

test('SEC-2.5 watchdog: it ends with the sandbox, and never watches another process with the same pid', () => {
  const over = new AbortController();
  const told: string[] = [];
  const options = { ...BOUNDS, onExceeded: (what: string) => told.push(what), signal: over.signal };
  const big = { 10: { parent: 1, residentBytes: 900 * MIB } };
  const stopped = fakeTools(fakeReader(big));
  watchTree(options, stopped);
  over.abort();
  expect(stopped.next()).toBeNull();
  const late = fakeTools(fakeReader(big));
  watchTree(options, late);
  expect(late.next()).toBeNull();
  const reader = fakeReader(big);
  const replaced = fakeTools({ ...reader, startTime: () => `s${reader.read.push('start')}` });
  watchTree({ ...options, signal: new AbortController().signal }, replaced);
  expect([replaced.next(), replaced.next()]).toEqual([200, null]);
  expect(told).toEqual([]);
});

test('SEC-2.5 watchdog: this kernel lists the children of a process', () => {
  expect(existsSync(`/proc/${process.pid}/task/${process.pid}/children`)).toBe(true);
});
