import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '#src/core/profile.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { type CallChange, openToolRunner, PROFILE, type RunResult, type ToolRunner } from '../helpers/tool-runner.ts';

let bundles: string;
let bench: Bench;
let tools: ToolRunner;

describe.each(usualWho())('the runtimes of tools, %s', (who) => {
  beforeAll(async () => {
    bundles = mkdtempSync(join(tmpdir(), 'ctxd-runtimes-'));
    chmodSync(bundles, 0o755);
    bench = await openBench(who);
    await bench.sandbox.start();
    tools = openToolRunner(bench, { config: { cancelGraceMs: 5_000 } });
  });
  afterAll(async () => {
    await tools.close();
    await bench.close();
    rmSync(bundles, { recursive: true, force: true });
  });

  /** Calls a tool whose bundle is these files, all of them executable except `.txt`. */
  function call(
    runtime: Runtime,
    files: Record<string, string>,
    change: CallChange & { entry?: string } = {},
  ): Promise<RunResult> {
    const [first = ''] = Object.keys(files);
    const bundleDir = mkdtempSync(join(bundles, 'b-'));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(bundleDir, path)), { recursive: true });
      writeFileSync(join(bundleDir, path), text, { mode: path.endsWith('.txt') ? 0o644 : 0o755 });
    }
    chmodSync(bundleDir, 0o755);
    const profile = { ...PROFILE, runtime, entry: change.entry ?? first };
    return tools.program('hello', { bundleDir, profile, ...change });
  }

  const sh = (script: string, change: CallChange = {}): Promise<RunResult> =>
    call('exec', { 'main.sh': `#!/bin/sh\n${script}\n` }, change);

  describe('node', () => {
    const MAIN = `import { serveTool, type JsonObject } from '@contextd/sdk';
import { greeting } from './greeting.ts';
interface Input { who: string }
serveTool({
  name: 'hello',
  execute(context, input: Input): { data: JsonObject } {
    return { data: { text: greeting(input.who), cwd: context.cwd } };
  },
});
`;
    const GREETING = "export const greeting = (who: string): string => 'hello ' + who;\n";

    it('FR-1.4 runs TypeScript of several files with the SDK, which no file of the bundle holds', async () => {
      const { output } = await call('node', { 'main.ts': MAIN, 'greeting.ts': GREETING }, { input: { who: 'you' } });
      expect(output.data).toEqual({ text: 'hello you', cwd: bench.workspace });
    });

    it('FR-1.4 prefers the SDK that the bundle brings', async () => {
      const own = "export const serveTool = () => { throw new Error('my own SDK'); };";
      const files = {
        'main.js': "import { serveTool } from '@contextd/sdk'; serveTool({});",
        'node_modules/@contextd/sdk/package.json': '{"name":"@contextd/sdk","type":"module","exports":"./index.js"}',
        'node_modules/@contextd/sdk/index.js': own,
      };
      await expect(call('node', files)).rejects.toMatchObject({
        code: 'TOOL_CRASHED',
        message: expect.stringContaining('my own SDK'),
      });
    });

    it('SEC-2.1 sees the SDK read-only', async () => {
      const main = `import { ContextdError, serveTool } from '@contextd/sdk';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
serveTool({
  name: 'hello',
  execute() {
    try { appendFileSync(fileURLToPath(import.meta.resolve('@contextd/sdk')), ' '); } catch ({ code }) {
      throw new ContextdError('CONFLICT', code);
    }
    return { data: {} };
  },
});`;
      await expect(call('node', { 'main.mjs': main })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringMatching(/^(?:EROFS|EACCES)$/),
      });
    });
  });

  describe('exec', () => {
    it('FR-1.4 starts the program for each call with the arguments as JSON on stdin, where the call was made', async () => {
      const input = { text: 'a "quoted" line\nand another' };
      const { output } = await sh('printf \'{"got":%s,"cwd":"%s"}\' "$(cat)" "$PWD"', { input });
      expect(output).toEqual({ data: { got: input, cwd: bench.workspace } });
    });

    it('FR-1.4 a JSON object is the data, its long texts are texts, and anything else is `text`', async () => {
      const long = 'x'.repeat(5000);
      const { output } = await sh(`printf '{"n":1,"body":"${long}"}'`);
      expect(output).toEqual({ data: { n: 1 }, streams: [{ field: 'body', text: long }] });
      for (const text of ['plain words\n', '[1,2]', `{"a":[${'1,'.repeat(100_001)}1]}`, '{"cut":', '"text"', '{} {}'])
        expect((await sh(`printf '%s' '${text}'`)).output).toEqual({ data: {}, streams: [{ field: 'text', text }] });
      expect((await sh('exit 0')).output).toEqual({ data: {} });
    });

    it('FR-1.4 an exit status other than 0 is a failure with what the program printed', async () => {
      const { output } = await sh('echo partly; echo first >&2; echo "no such city" >&2; exit 3');
      expect(output).toEqual({
        data: { exit_code: 3 },
        streams: [
          { field: 'text', text: 'partly\n' },
          { field: 'stderr', text: 'first\nno such city\n' },
        ],
        failure: {
          code: 'TOOL_CRASHED',
          message: 'the program of hello failed with exit status 3: no such city',
          remedy: expect.any(String),
        },
      });
      expect((await sh('kill -9 $$')).output).toMatchObject({
        data: { exit_code: 137 },
        failure: { message: 'the program of hello was killed by SIGKILL' },
      });
    });

    it('FR-1.4 a failed object keeps its own fields, even `stderr` and `exit_code`', async () => {
      const { output } = await sh(`printf '{"stderr":"%0500d","exit_code":"none"}' 0; echo said >&2; exit 1`);
      expect(output.data).toEqual({ stderr: '0'.repeat(500), exit_code: 1 });
      expect(output.failure).toMatchObject({ message: 'the program of hello failed with exit status 1: said' });
    });

    it('FR-1.4 says why a program cannot be started', async () => {
      const cases = [
        [{ 'main.sh': '#!/no/such/interpreter\n' }, 'main.sh cannot be started (ENOENT)'],
        [{ 'other.sh': '' }, 'main.sh cannot be started (ENOENT)'],
        [{ 'main.sh': '#!/bin/sh\n', 'plain.txt': '' }, 'plain.txt cannot be started (EACCES)'],
      ] as const;
      for (const [files, message] of cases)
        await expect(call('exec', files, { entry: message.split(' ')[0] ?? '' })).rejects.toMatchObject({
          code: 'TOOL_CRASHED',
          message: expect.stringContaining(message),
        });
    });

    it('SEC-2.1 gives the program nothing of the handshake, and no variable of the daemon', async () => {
      const { output } = await sh('env | cut -d= -f1 | sort | tr "\\n" " "');
      const names = output.streams?.[0]?.text.trim().split(' ') ?? [];
      expect(names.filter((name) => name !== '_')).toEqual(
        ['CONTEXTD_WORKSPACE', 'HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR'].sort(),
      );
    });

    it('FR-1.4 keeps head and tail of an endless output', async () => {
      const { output } = await sh('seq 1 200000', { outputMaxBytes: 2_000 });
      const [stream] = output.streams ?? [];
      expect(stream?.text).toMatch(/^1\n2\n[\s\S]*… \d+ bytes were not kept by contextd[\s\S]*\n200000\n$/);
      expect(output.droppedBytes).toBe(stream?.gap?.bytes);
    });

    it('NFR-2.2 at the deadline the program is asked to end, and what it printed is kept', async () => {
      const { output } = await sh('trap "echo asked; exit 9" TERM; echo begun; while :; do sleep 0.1; done', {
        timeoutMs: 3_000,
      });
      expect(output).toMatchObject({
        data: { exit_code: 9 },
        streams: expect.arrayContaining([{ field: 'text', text: 'begun\nasked\n' }]),
        failure: { code: 'TIMEOUT' },
      });
    });

    it('SEC-2.1 nothing that a call started is alive when it has answered, whatever group it is in', async () => {
      const bundleDir = mkdtempSync(join(bundles, 'b-'));
      chmodSync(bundleDir, 0o755);
      const script = `#!/bin/sh
case $(cat) in
*start*) setsid sleep 1000 >/dev/null 2>&1 & sleep 1000 & echo started ;;
*) for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null; echo; done | grep -c '^sleep 1000' || true ;;
esac
`;
      writeFileSync(join(bundleDir, 'main.sh'), script, { mode: 0o755 });
      const profile = { ...PROFILE, runtime: 'exec' as const, entry: 'main.sh' };
      const ask = (what: string): Promise<RunResult> =>
        tools.program('hello', { bundleDir, profile, input: { do: what } });
      expect((await ask('start')).output.streams).toEqual([{ field: 'text', text: 'started\n' }]);
      expect((await ask('count')).output.streams).toEqual([{ field: 'text', text: '0\n' }]);
    });
  });
});
