import { statSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { compileGlobs } from '#src/fs/glob.js';
import { Runs } from '#src/guard/index/runs.js';
import { WorkspaceIndex } from '#src/guard/index/workspace-index.js';
import { Scan } from '#src/guard/search/scan.js';
import { type Bench, openBench } from '../helpers/workspace-bench.ts';

const nothing = (): void => {};

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

test.each([
  ['has just changed is looked at once more: its time would not tell of a second change in the same tick', 0, true],
  ['changed a while ago is not', 1000, false],
])('a directory that %s', (_title, laterMs, expected) => {
  const clock = { now: () => statSync(bench.workspace).ctimeMs + laterMs, monotonic: () => 0 };
  utimesSync(bench.workspace, 0, 0);
  const index = new WorkspaceIndex(bench.workspace);
  const runs = new Runs(clock, bench.workspace, nothing);
  const scan = new Scan({
    index,
    runs,
    globs: compileGlobs([]),
    isBeingBuilt: () => false,
    pause: nothing,
    ledger: bench.ledger(),
    logger: silentLogger,
    clock,
  });
  scan.visit({ path: bench.workspace, isFresh: false }, nothing);
  expect(scan.hasChanged(index.directories.rowOf(bench.workspace) ?? -1, bench.workspace)).toBe(expected);
});
