import { describe, expect, it } from 'vitest';
import { runTool } from '#src/sdk/test-harness.js';
import type { ExecResult } from '#src/sdk/tool.js';
import { safeBash } from '#tools/safe_bash/main.js';

const WORKSPACE = '/work space';

function exec(change: Partial<ExecResult>): () => Promise<ExecResult> {
  const base = { exit_code: 0, signal: null, ended_by: 'exit', stdout: '', stderr: '' } as const;
  const facts = { dropped_bytes: 0, duration_ms: 12, encoding_replaced: false, stdout_gap: null, stderr_gap: null };
  const encodings = { stdout_encoding: '', stderr_encoding: '', doing: '', doing_text: '' };
  return async () => ({ ...base, ...facts, ...encodings, ...change });
}

describe('FR-4.1 safe_bash', () => {
  it('asks the host to run the command, in the workspace root, without additional environment', async () => {
    const { output, execs } = await runTool(
      safeBash,
      { command: 'ls' },
      { workspace: WORKSPACE, exec: exec({ stdout: 'a\n' }) },
    );
    expect(execs).toEqual([{ command: 'ls', cwd: WORKSPACE, env: {}, stdin: null }]);
    expect(output).toEqual({
      data: { exit_code: 0 },
      streams: [
        { field: 'stdout', text: 'a\n' },
        { field: 'stderr', text: '' },
      ],
    });
  });

  it('passes on cwd, env and stdin', async () => {
    const input = { command: 'cat', cwd: 'sub', env: { A: 'b' }, stdin: 'text' };
    const { execs } = await runTool(safeBash, input, { workspace: WORKSPACE, exec: exec({}) });
    expect(execs).toEqual([{ command: 'cat', cwd: `${WORKSPACE}/sub`, env: { A: 'b' }, stdin: 'text' }]);
  });

  it('asks for a loopback of its own only if the call says share: false', async () => {
    const { execs } = await runTool(
      safeBash,
      { command: 'ls', share: false },
      { workspace: WORKSPACE, exec: exec({}) },
    );
    expect(execs).toEqual([{ command: 'ls', cwd: WORKSPACE, env: {}, stdin: null, ownLoopback: true }]);
  });

  it('refuses a directory outside the workspace and names it', async () => {
    const run = runTool(safeBash, { command: 'ls', cwd: '../other' }, { workspace: WORKSPACE });
    await expect(run).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: expect.stringContaining('/other'),
      remedy: expect.stringContaining('`cd DIR && …`'),
    });
  });

  it('succeeds even if the command fails, also by a signal', async () => {
    const failed = await runTool(safeBash, { command: 'x' }, { workspace: WORKSPACE, exec: exec({ exit_code: 7 }) });
    expect(failed.output).toMatchObject({ data: { exit_code: 7 } });
    expect(failed.output.failure).toBeUndefined();
    const killed = exec({ exit_code: 139, signal: 'SIGSEGV', ended_by: 'signal' });
    const { output } = await runTool(safeBash, { command: 'x' }, { workspace: WORKSPACE, exec: killed });
    expect(output.data).toEqual({ exit_code: 139, ended_by: 'signal', signal: 'SIGSEGV' });
    expect(output.failure).toBeUndefined();
  });

  it.each([
    ['timeout', 'TIMEOUT'],
    ['cancelled', 'CANCELLED'],
    ['oom', 'RESOURCE_LIMIT'],
    ['pids', 'RESOURCE_LIMIT'],
    ['output_limit', 'RESOURCE_LIMIT'],
    ['storage_limit', 'RESOURCE_LIMIT'],
    ['input', 'TIMEOUT'],
    ['seccomp', 'PERMISSION_DENIED'],
  ] as const)('reports a command that ended by %s as %s, with its output so far', async (endedBy, code) => {
    const ended = exec({ exit_code: null, signal: 'SIGKILL', ended_by: endedBy, stdout: 'so far', dropped_bytes: 5 });
    const { output } = await runTool(safeBash, { command: 'x' }, { workspace: WORKSPACE, exec: ended });
    expect(output).toMatchObject({ data: { exit_code: null, ended_by: endedBy }, failure: { code }, droppedBytes: 5 });
    expect(output.data).not.toHaveProperty('signal');
    expect(output.streams?.[0]).toEqual({ field: 'stdout', text: 'so far' });
  });

  it.each([
    ['input', 'cat waits for input', /stdin/],
    ['network', 'curl waits for a connection to 127.0.0.1:80', /It waited for a server/],
    ['lock', 'apt waits for the lock on /l', /holds the lock/],
    ['busy', 'cc computes', /"background":true/],
    ['other', 'sleep sleeps', /"background":true/],
    ['', '', /"background":true/],
  ])('says that a command that took too long did this: "%s", and what to do then', async (doing, text, remedy) => {
    const ended = exec({ exit_code: null, ended_by: 'timeout', duration_ms: 506, doing, doing_text: text });
    const { output } = await runTool(safeBash, { command: 'x' }, { workspace: WORKSPACE, timeoutMs: 500, exec: ended });
    const message = `the command did not finish within 500 ms and was killed${text === '' ? '' : `: ${text}`}`;
    expect(output.failure).toMatchObject({ code: 'TIMEOUT', message, remedy: expect.stringMatching(remedy) });
  });

  it('asks for a terminal only if the call says tty: true, for jobs too', async () => {
    const input = { command: 'top', tty: true };
    const { execs } = await runTool(safeBash, input, { workspace: WORKSPACE, exec: exec({}) });
    expect(execs).toEqual([{ command: 'top', cwd: WORKSPACE, env: {}, stdin: null, tty: true }]);
    const asked: unknown[] = [];
    const ask = async (_method: string, request: unknown) => {
      asked.push(request);
      return {};
    };
    await runTool(safeBash, { ...input, background: true }, { workspace: WORKSPACE, ask });
    expect(asked).toEqual([{ command: 'top', cwd: WORKSPACE, env: {}, tty: true }]);
  });

  it('warns if bytes were replaced', async () => {
    const { output } = await runTool(
      safeBash,
      { command: 'x' },
      { workspace: WORKSPACE, exec: exec({ encoding_replaced: true }) },
    );
    expect(output.warnings).toEqual(['bytes of the output that its encoding does not have were replaced by U+FFFD']);
  });

  it('warns if the script leaves a process in the background, which ends with it', async () => {
    const warningsOf = async (command: string, ended_by: 'exit' | 'timeout' = 'exit') =>
      (await runTool(safeBash, { command }, { workspace: WORKSPACE, exec: exec({ ended_by }) })).output.warnings;
    for (const command of ['npm start &', '(sleep 9; date) &', 'x > log 2>&1 &\n', 'cd web\nnpm start& ', '&'])
      expect(await warningsOf(command), command).toEqual([expect.stringContaining('safe_bash --background')]);
    for (const command of ['a && b', 'a & wait', 'a & b', 'echo a \\&', 'ls # x &', 'cat <&', 'a &&', 'a |&', ''])
      expect(await warningsOf(command), command).toBeUndefined();
    expect(await warningsOf('npm start &', 'timeout')).toBeUndefined();
  });
});
