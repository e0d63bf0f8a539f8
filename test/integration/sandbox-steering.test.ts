import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SteeredCommand } from '#src/sandbox/contract/command.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

interface Steered extends SteeredCommand {
  /** Resolves with the output so far once it holds `text`. */
  printed(text: string): Promise<string>;
  found: string[];
  stop(): void;
}

function begin(bench: Bench, script: string): Steered {
  const abort = new AbortController();
  let output = '';
  const found: string[] = [];
  let wake = Promise.withResolvers<void>();
  const changed = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const command = bench.sandbox.begin(
    bench.policy(),
    {
      argv: ['bash', '-c', script],
      cwd: bench.workspace,
      env: {},
      timeoutMs: 60_000,
      outputMaxBytes: 0,
      outputKillBytes: 0,
      signal: abort.signal,
      onOutput: (_stream, bytes) => {
        output += bytes.toString();
        changed();
      },
    },
    (items) => {
      found.push(...items.map(({ path }) => path));
      changed();
    },
  );
  command.ended.then(changed, changed);
  return {
    ...command,
    found,
    stop: () => abort.abort(),
    async printed(text) {
      while (!output.includes(text) && !found.includes(text)) await wake.promise;
      return output;
    },
  };
}

describe.each(usualWho())('a command that others steer, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  afterAll(() => bench.close());

  test('reads input line by line until it is closed, and also by the name /dev/stdin', async () => {
    const job = begin(bench, 'exec 3</dev/stdin; read one; echo "got $one"; cat <&3; echo end');
    await job.started;
    await job.input(Buffer.from('first\n'), false);
    expect(await job.printed('got first')).toBe('got first\n');
    await job.input(Buffer.from('rest'), true);
    expect(await job.ended).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    expect(await job.printed('end')).toBe('got first\nrestend\n');
    await expect(job.input(Buffer.from('x'), false)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('refuses input that nobody reads, and input after its end', async () => {
    const job = begin(bench, 'echo up; sleep 60');
    await job.printed('up');
    await job.input(Buffer.alloc(1024 * 1024), false);
    await expect(job.input(Buffer.alloc(1024 * 1024), false)).rejects.toMatchObject({ code: 'RESOURCE_LIMIT' });
    await job.input(Buffer.alloc(0), true);
    await expect(job.input(Buffer.from('x'), false)).rejects.toMatchObject({ code: 'CONFLICT' });
    job.stop();
    expect(await job.ended).toMatchObject({ endedBy: 'cancelled' });
  });

  test('gets signals in every process, and its sandbox stays', async () => {
    const child = 'trap "echo child; exit" USR1; echo ready; while :; do read -t 0.05 <> <(:); done';
    const job = begin(bench, `trap 'echo parent' USR1; bash -c '${child}' & wait; wait; echo over`);
    await job.printed('ready');
    expect(await job.signal('SIGUSR1')).toBeGreaterThanOrEqual(2);
    const output = await job.printed('over');
    expect(output).toContain('child');
    expect(output).toContain('parent');
    expect(await job.ended).toMatchObject({ exitCode: 0 });
  });

  test('reports what it uses', async () => {
    const job = begin(bench, 'echo up; exec sleep 60');
    await job.printed('up');
    const usage = await job.usage();
    expect(usage?.processes).toBe(1);
    expect(usage?.memoryBytes).toBeGreaterThan(100_000);
    job.stop();
    await job.ended;
  });

  test('has what it leaves set aside and reported while it runs', async () => {
    const job = begin(bench, 'mkdir -p sub/.vscode; echo "{}" >sub/.vscode/tasks.json; echo made; sleep 60');
    await job.printed('sub/.vscode');
    job.stop();
    const { quarantined } = await job.ended;
    expect(quarantined.map(({ path }) => path)).toEqual(['sub/.vscode']);
  });

  test('is never started if it was cancelled before', async () => {
    const job = begin(bench, 'echo no');
    job.stop();
    expect(await job.ended).toMatchObject({ endedBy: 'cancelled' });
  });
});
