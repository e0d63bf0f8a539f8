import { expect, test } from 'vitest';
import { Area } from '#src/sandbox/storage/area.js';

const MIB = 1024 * 1024;
const PLENTY = { bytes: 100_000 * MIB, entries: 1_000_000 };

function areaOf(maxMib: number, runMaxMib = maxMib): Area {
  return new Area(['/s'], { kind: 'self' }, { maxBytes: maxMib * MIB, runMaxBytes: runMaxMib * MIB });
}

/** As much less. */
function less(mib: number, entries = 0) {
  return { bytes: PLENTY.bytes - mib * MIB, entries: PLENTY.entries - entries };
}

test('a storage is walked only if the disk shows that it can have grown over its limit, and not too often', () => {
  const area = areaOf(100);
  expect(area.isSuspect(PLENTY, 0)).toBe(true);
  area.note(40 * MIB, PLENTY, 0, 100);
  expect(area.isSuspect(less(50), 5_000)).toBe(false);
  expect(area.isSuspect(less(70), 5_000)).toBe(true);
  expect(area.isSuspect(less(70), 1_000)).toBe(false);
});

test('files without content count, and bytes that others free do not hide them', () => {
  const area = areaOf(100);
  area.note(0, PLENTY, 0, 0);
  expect(area.isSuspect({ bytes: PLENTY.bytes + 500 * MIB, entries: PLENTY.entries - 200_000 }, 5_000)).toBe(true);
});

test('it is walked after some time whatever the disk shows, because others may free as much as it grows', () => {
  const area = areaOf(100);
  area.note(0, PLENTY, 0, 0);
  expect([area.isSuspect(PLENTY, 19_000), area.isSuspect(PLENTY, 21_000)]).toEqual([false, true]);
});

test('a walk that takes long is followed by a longer rest', () => {
  const area = areaOf(100);
  area.note(0, PLENTY, 0, 3_000);
  expect([area.isSuspect(less(200), 32_000), area.isSuspect(less(200), 34_000)]).toEqual([false, true]);
});

test('what it held before a command began is no reason to end the command; growth is', () => {
  const area = areaOf(100);
  area.note(150 * MIB, PLENTY, 0, 0);
  expect(area.isOver).toBe(false);
  area.runs.add(() => {});
  area.note(150.5 * MIB, PLENTY, 0, 0);
  expect(area.isOver).toBe(false);
  area.note(152 * MIB, PLENTY, 0, 0);
  expect(area.isOver).toBe(true);
});

test('a run cannot use up the disk, even below its limit', () => {
  const area = areaOf(10_000);
  area.note(100 * MIB, { bytes: 600 * MIB, entries: 1_000 }, 0, 0);
  area.runs.add(() => {});
  area.note(180 * MIB, { bytes: 520 * MIB, entries: 1_000 }, 0, 0);
  expect(area.isOver).toBe(false);
  area.note(190 * MIB, { bytes: 510 * MIB, entries: 1_000 }, 0, 0);
  expect(area.isOver).toBe(true);
});

test('caches may hold more while a command runs than they keep', () => {
  const area = areaOf(100, 200);
  area.note(150 * MIB, PLENTY, 0, 0);
  expect([area.isOver, area.mayBeOver(PLENTY)]).toEqual([false, true]);
});

test('SEC-2.5: what makes its storage impossible to measure ends after three tries, whatever the disk shows, also if it was never measured', () => {
  for (const isMeasured of [true, false]) {
    const area = areaOf(100);
    if (isMeasured) area.note(0, PLENTY, 0, 0);
    const tries = [30_000, 33_000, 36_000].map((nowMs) => area.failed(true, PLENTY, nowMs));
    expect(tries).toEqual([false, false, true]);
  }
});

test('SEC-2.5: a measurement that could not be started ends nothing for ten minutes, unless the disk shows growth', () => {
  const area = areaOf(100);
  area.note(0, PLENTY, 0, 0);
  expect([area.failed(false, PLENTY, 1_000), area.failed(false, PLENTY, 600_000)]).toEqual([false, false]);
  expect([area.failed(false, less(101), 600_500), area.failed(false, PLENTY, 602_000)]).toEqual([true, true]);
});

test('a measurement that succeeds is a new beginning, and one that failed is followed by a rest', () => {
  const area = areaOf(100);
  for (const nowMs of [1_000, 4_000]) area.failed(true, PLENTY, nowMs);
  expect([area.isSuspect(PLENTY, 5_000), area.isSuspect(PLENTY, 6_500)]).toEqual([false, true]);
  area.note(0, PLENTY, 6_500, 6_600);
  expect(area.failed(true, PLENTY, 30_000)).toBe(false);
});
