import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { buildGoPrograms } from '../helpers/build-go-programs.ts';
import { openToolRunner, PROFILE, type RunResult, type ToolRunner } from '../helpers/tool-runner.ts';

const programs = buildGoPrograms('go-plugin');
const whenBuilt = it.skipIf(programs.missing !== null);
let bench: Bench;
let tools: ToolRunner;
afterAll(() => programs.remove());
// Vitest runs no afterAll hook in a file whose tests are all skipped.
if (programs.missing !== null) programs.remove();

describe.each(usualWho())('a plugin in Go, %s', (who) => {
  beforeAll(async () => {
    chmodSync(programs.dir, 0o755);
    bench = await openBench(who);
    await bench.sandbox.start();
    tools = openToolRunner(bench);
  });
  afterAll(async () => {
    await tools.close();
    await bench.close();
  });

  function probe(input: { do: string; text?: string }, grants: readonly string[] = []): Promise<RunResult> {
    const bundle = {
      bundleDir: programs.dir,
      profile: { ...PROFILE, runtime: 'plugin' as const, entry: 'go-plugin' },
    };
    return tools.program('probe', { ...bundle, input, grants });
  }

  whenBuilt('FR-1.4 a tool in Go, made with the real library, loads and answers in the sandbox', async () => {
    const { output } = await probe({ do: 'echo', text: 'hello from Go' });
    expect(output).toEqual({ data: { text: 'hello from Go' } });
  });

  whenBuilt('FR-8.1 it runs commands through ToolHost, with the grant and not without', async () => {
    const granted = await probe({ do: 'exec', text: 'echo hi; exit 3' }, ['exec']);
    expect(granted.output.data).toEqual({ exit_code: 3, stdout: 'hi\n' });
    expect(granted.hostCalls.calls).toMatchObject([{ method: 'Exec', exit_code: 3 }]);
    await expect(probe({ do: 'exec', text: 'echo hi' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  whenBuilt('FR-1.4 an error it returns is its failure, and it lives on', async () => {
    await expect(probe({ do: 'dance' })).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      message: 'probe cannot "dance"',
    });
    await expect(probe({ do: 'echo', text: 'still here' })).resolves.toMatchObject({
      output: { data: { text: 'still here' } },
    });
    expect(tools.processes).toHaveLength(1);
  });

  whenBuilt('FR-1.4 when it exits the call under way is TOOL_CRASHED, and the next one has a new process', async () => {
    await expect(probe({ do: 'exit' })).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('it exited with code 7'),
    });
    await expect(probe({ do: 'echo', text: 'again' })).resolves.toMatchObject({
      output: { data: { text: 'again' } },
    });
  });
});
