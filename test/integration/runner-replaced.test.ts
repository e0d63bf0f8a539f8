import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { openToolRunner, type ToolRunner } from '../helpers/tool-runner.ts';

describe.each(usualWho())('the tool process of a replaced project folder, %s', (who) => {
  let bench: Bench;
  let tools: ToolRunner;
  beforeAll(async () => {
    bench = await openBench(who);
    tools = openToolRunner(bench);
  });
  afterAll(async () => {
    await tools.close();
    await bench.close();
  });

  const write = (path: string) => tools.core('safe_write', { path, content: 'text\n' });
  function remake(): void {
    const { uid, gid } = statSync(bench.base);
    mkdirSync(bench.workspace);
    if (who === 'workspace of uid 65534') chownSync(bench.workspace, 65_534, 65_534);
    else chownSync(bench.workspace, uid, gid);
  }

  it.each([
    ['removed', () => rmSync(bench.workspace, { recursive: true })],
    ['renamed away', () => renameSync(bench.workspace, `${bench.workspace}-before`)],
  ])('SEC-2.1 is a new process from the first call on if the old folder was %s', async (_how, takeAway) => {
    await write('old');
    const before = tools.processes.length;
    for (let round = 0; round < 3; round++) {
      takeAway();
      remake();
      // The call comes at once, before anything had time to check whether the folder is still the same.
      expect((await write(`new-${round}`)).output.failure).toBeUndefined();
      expect(readFileSync(join(bench.workspace, `new-${round}`), 'utf8')).toBe('text\n');
      expect(existsSync(join(bench.workspace, 'old'))).toBe(false);
      rmSync(`${bench.workspace}-before`, { recursive: true, force: true });
    }
    expect(tools.processes.length).toBe(before + 3);
  });

  it('SEC-2.1 stays the same as long as the folder does, even if its content changes', async () => {
    await write('one');
    const before = tools.processes.length;
    bench.host('mkdir -p sub; echo x >sub/x; touch .');
    await write('two');
    renameSync(bench.workspace, `${bench.workspace}-away`);
    renameSync(`${bench.workspace}-away`, bench.workspace);
    await write('three');
    expect(tools.processes.length).toBe(before);
  });

  it('names the folder and the remedy if the folder is gone', async () => {
    await write('one');
    renameSync(bench.workspace, `${bench.workspace}-away`);
    await expect(write('two')).rejects.toMatchObject({
      code: 'PATH_NOT_FOUND',
      message: expect.stringContaining(bench.workspace),
      remedy: expect.stringContaining('ctxd init'),
    });
    renameSync(`${bench.workspace}-away`, bench.workspace);
  });
});
