import type { Reporter, TestModule } from 'vitest/node';

/** Prints the share of tasks that work, and each task that does not, with its first reason. */
export default class ShareReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const withState = (state: string) => tests.filter((test) => test.result().state === state);
    const [passed, failed, skipped] = [withState('passed'), withState('failed'), withState('skipped')];
    const tried = passed.length + failed.length;
    const lines = [
      ...failed.map((test) => `does not work: ${test.fullName}: ${test.result().errors?.[0]?.message.split('\n')[0]}`),
      ...skipped.map((test) => `not tried: ${test.fullName}`),
      ...modules.flatMap((module) => module.errors().map((error) => `cannot run: ${error.message}`)),
      ...unhandled.map((error) => `failed outside a task: ${error}`),
      `${passed.length} of ${tried} tasks work (${tried === 0 ? 0 : Math.floor((100 * passed.length) / tried)} %)`,
    ];
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}
