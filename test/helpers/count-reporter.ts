import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with a plain line that every continuous integration can read. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const skipped = count('skipped');
    const line = `${count('passed')} passed, ${count('failed') + broken + unhandled.length} failed`;
    process.stdout.write(`\n${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  }
}
