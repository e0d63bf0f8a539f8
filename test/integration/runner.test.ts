import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContextdError, shownText } from '#src/sdk/tool.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';
import { openToolRunner, type RunResult, type ToolRunner } from '../helpers/tool-runner.ts';

const MIB = 1024 * 1024;

describe.each(usualWho())('the core tools in a real sandbox, %s', (who) => {
  let bench: Bench;
  let tools: ToolRunner;
  let call: ToolRunner['core'];

  beforeAll(async () => {
    bench = await openBench(who);
    await bench.sandbox.start();
    tools = openToolRunner(bench);
    call = tools.core;
  });

  afterAll(async () => {
    await tools.close();
    await bench.close();
  });

  function textOf({ output }: RunResult, field: string): string | undefined {
    const stream = output.streams?.find((each) => each.field === field);
    return stream && shownText(stream);
  }

  /** Creates a file as the owner of the workspace. */
  function put(name: string, content: string): void {
    bench.host(`cat > '${name}' <<'END_OF_FILE'\n${content}\nEND_OF_FILE`);
  }

  it('FR-4.1 safe_bash runs a command and succeeds even if the command fails', async () => {
    const result = await call('safe_bash', {
      command: 'echo out; echo err >&2; cat; exit 3',
      stdin: 'in',
      env: { A: 'b' },
    });
    expect(result.output.data).toEqual({ exit_code: 3 });
    expect(result.output.failure).toBeUndefined();
    expect(textOf(result, 'stdout')).toBe('out\nin');
    expect(textOf(result, 'stderr')).toBe('err\n');
  });

  it('SEC-2.1 FR-8.4 run a command in its own sandbox, not beside the tools', async () => {
    const result = await call('safe_bash', { command: 'ls /opt/contextd; ls /proc | grep -c "^[0-9]"' });
    expect(textOf(result, 'stderr')).toContain('No such file or directory');
    expect(Number(textOf(result, 'stdout'))).toBeLessThan(8);
  });

  it('SEC-2.1 FR-8.4 cannot exec without the grant', async () => {
    await expect(call('safe_bash', { command: 'true' }, { grants: [] })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
  });

  it('NFR-2.2 return the output so far after a timeout, and delay no other call', async () => {
    put('beside.txt', 'beside');
    const slow = call('safe_bash', { command: 'echo so far; sleep 60' }, { timeoutMs: 2_000 });
    await expect(call('safe_read', { path: 'beside.txt' })).resolves.toMatchObject({ output: { data: { lines: 1 } } });
    const result = await slow;
    expect(result.output).toMatchObject({
      data: { exit_code: null, ended_by: 'timeout' },
      failure: { code: 'TIMEOUT' },
    });
    expect(textOf(result, 'stdout')).toBe('so far\n');
  });

  it('return CANCELLED with the output so far for a cancelled command', async () => {
    const caller = new AbortController();
    const running = call('safe_bash', { command: 'echo so far; touch started; sleep 60' }, { signal: caller.signal });
    await call('safe_bash', { command: 'until [ -e started ]; do :; done' });
    caller.abort();
    const result = await running;
    expect(result.output).toMatchObject({ data: { ended_by: 'cancelled' }, failure: { code: 'CANCELLED' } });
    expect(textOf(result, 'stdout')).toBe('so far\n');
  });

  it('SEC-1.1 withhold binary output and report its kind, size and sha256', async () => {
    const command = 'head -c 4096 /bin/true | tee program; sha256sum <program >&2';
    const result = await call('safe_bash', { command });
    const sha256 = textOf(result, 'stderr')?.slice(0, 64);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(textOf(result, 'stdout')).toBe(`… ELF program, 4096 bytes, sha256 ${sha256}, withheld by contextd …\n`);
  });

  it('report protected paths that a command creates', async () => {
    const { quarantined } = await call('safe_bash', { command: 'echo x > .envrc' });
    expect(quarantined).toMatchObject([{ path: '.envrc' }]);
  });

  it('report PATH_NOT_FOUND for a missing directory', async () => {
    await expect(call('safe_bash', { command: 'true', cwd: 'nowhere' })).rejects.toMatchObject({
      code: 'PATH_NOT_FOUND',
    });
  });

  it('FR-4.2 FR-4.3 safe_write checks the etag that safe_read returned', async () => {
    put('guarded.txt', 'first');
    const { output } = await call('safe_read', { path: 'guarded.txt' });
    const etag = output.data.etag ?? null;
    const written = await call('safe_write', { path: 'guarded.txt', content: 'second', expected_etag: etag });
    expect(written.output.data).toMatchObject({ path: 'guarded.txt', bytes: 7 });
    expect(readFileSync(join(bench.workspace, 'guarded.txt'), 'utf8')).toBe('second\n');
    await expect(
      call('safe_write', { path: 'guarded.txt', content: 'third', expected_etag: etag }),
    ).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('FR-4.3 write a file as its owner, and a hard link to the old file keeps its content', async () => {
    put('name', 'old');
    linkSync(join(bench.workspace, 'name'), join(bench.workspace, 'other-name'));
    await call('safe_write', { path: 'name', content: 'new' });
    expect(readFileSync(join(bench.workspace, 'other-name'), 'utf8')).toBe('old\n');
    expect(bench.host('stat -c %u . name')).toMatch(/^(\d+)\n\1\n$/);
  });

  it('FR-4.3 refuse to write to a read-only mount and say why', async () => {
    const vendor = join(bench.workspace, 'vendor');
    bench.host('mkdir -p vendor && echo x > vendor/file');
    const reader = openToolRunner(bench, { policyFor: () => bench.policy({ roPaths: [vendor] }) });
    try {
      const write = reader.core('safe_write', { path: 'vendor/file', content: 'x' });
      await expect(write).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
        details: { rule: 'read-only in the sandbox' },
      });
    } finally {
      await reader.close();
    }
  });

  it('FR-4.2 do not follow a link out of the workspace', async () => {
    const outside = join(bench.base, 'outside');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'secret'), 'x');
    symlinkSync(join(outside, 'secret'), join(bench.workspace, 'way-out'));
    symlinkSync('/proc/self/environ', join(bench.workspace, 'environ'));
    await expect(call('safe_read', { path: 'way-out' })).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(call('safe_read', { path: 'environ' })).rejects.toMatchObject({ code: 'PATH_INVALID' });
    await expect(call('safe_write', { path: 'way-out', content: 'x' })).rejects.toMatchObject({ code: 'PATH_INVALID' });
  });

  it('FR-4.2 read a part of a file that is larger than the sandbox’s memory', async () => {
    bench.host('yes 0123456789 | head -c 300000000 > large.txt');
    const limits = { ...bench.policy().limits, memoryBytes: 256 * MIB };
    const small = openToolRunner(bench, { policyFor: () => bench.policy({ limits }) });
    try {
      const result = await small.core('safe_read', { path: 'large.txt', lines: '20000000-20000001' });
      expect(result.output.data).toMatchObject({ bytes: 300_000_000, range: '20000000-20000001' });
      expect(textOf(result, 'content')).toBe('0123456789\n0123456789\n');
    } finally {
      await small.close();
      bench.host('rm large.txt');
    }
  });

  it.each([
    ['short', 0],
    ['long enough for the scan in a thread', 3_000],
  ])('SEC-1.2 report the places of secrets and replace nothing in a text that is %s', async (_, lines) => {
    const secret = generate('ghp_[0-9A-Za-z]{36}', seededRandom(7));
    put('secrets.txt', `${'nothing to see in this line\n'.repeat(lines)}token = ${secret}`);
    const result = await call('safe_read', { path: 'secrets.txt' });
    const text = textOf(result, 'content') ?? '';
    expect(text).toContain(secret);
    const found = await result.firstPass;
    if (found instanceof ContextdError) throw found;
    const spans = found.at(-1)?.map(({ start, end }) => text.slice(start, end));
    expect(spans).toEqual([secret]);
  });
});
