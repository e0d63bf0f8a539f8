import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Files named at the end of a run. */
const SLOWEST = 10;
/** Seconds of wall time that a file may take on two quiet cores. */
const BUDGET_SECONDS = 30;

/** Names the file that gets the path of every test file with a failure, a line each; nothing is written by default. */
const FAILED_FILES = 'CONTEXTD_FAILED_FILES';

/**
 * Ends a run with its slowest files and a plain line that every continuous integration can read. A file over its budget is
 * named and nothing fails: how long a test takes depends on what else the machine does.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const skipped = count('skipped');
    const failing = modules.filter((module) => !module.ok()).map(({ moduleId }) => `${relative('', moduleId)}\n`);
    const list = process.env[FAILED_FILES];
    if (list !== undefined) writeFileSync(list, failing.join(''));
    const line = `${count('passed')} passed, ${count('failed') + broken + unhandled.length} failed`;
    process.stdout.write(`${slowestFiles(modules)}\n${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  }
}

function slowestFiles(modules: readonly TestModule[]): string {
  const timed = modules.map((module) => ({ path: relative('', module.moduleId), seconds: secondsOf(module) }));
  const [first, ...others] = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  if (first === undefined || others.length === 0) return '';
  const over = timed.filter(({ seconds }) => seconds > BUDGET_SECONDS).length;
  const rows = [first, ...others].map(
    ({ path, seconds }) =>
      `${seconds.toFixed(1).padStart(8)} s  ${path}${seconds > BUDGET_SECONDS ? '  (over its budget)' : ''}\n`,
  );
  return `\nThe slowest files; ${over} of ${timed.length} take more than the ${BUDGET_SECONDS} s of their budget:\n${rows.join('')}`;
}

/** Everything that a file costs: its process, its imports, its hooks and its tests. */
function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1000;
}
