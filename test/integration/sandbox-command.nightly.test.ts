import { createHash, randomBytes } from 'node:crypto';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, processesWith, whoCanRun } from '../fixtures/sandbox-harness.ts';

/** A number of seconds that no other process sleeps, so that the host can recognise ours. */
function mark(): string {
  return `7${randomBytes(4).readUInt32BE().toString().padStart(10, '0')}`;
}

describe.each(whoCanRun())('a command, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  afterAll(() => bench.close());

  test('returns its own exit code, stdout and stderr', async () => {
    const done = await bench.bash('echo out; echo err >&2; exit 7');
    expect(done).toMatchObject({
      exitCode: 7,
      signal: null,
      endedBy: 'exit',
      out: 'out\n',
      err: 'err\n',
      quarantined: [],
    });
  });

  test('distinguishes a signal from an exit', async () => {
    expect(await bench.bash('kill -TERM $$')).toMatchObject({ exitCode: 143, signal: 'SIGTERM', endedBy: 'signal' });
    expect(await bench.bash('exit 128')).toMatchObject({ exitCode: 128, signal: null, endedBy: 'exit' });
    expect(await bench.bash('exit 255')).toMatchObject({ exitCode: 255, signal: null, endedBy: 'exit' });
  });

  test('exits with 127 for a missing program and 126 for one that cannot be run', async () => {
    expect(await bench.bash('', { argv: ['no-such-program'] })).toMatchObject({ exitCode: 127, endedBy: 'exit' });
    expect(await bench.bash('', { argv: [bench.workspace] })).toMatchObject({ exitCode: 126, endedBy: 'exit' });
  });

  test('treats output that looks like a failure of the sandbox as the command’s own', async () => {
    const done = await bench.bash('echo "bwrap: Can\'t bind mount a on b" >&2; exit 1');
    expect(done).toMatchObject({ exitCode: 1, endedBy: 'exit' });
  });

  test('reports PATH_NOT_FOUND for a missing directory', async () => {
    await expect(bench.bash('true', { cwd: join(bench.workspace, 'none') })).rejects.toMatchObject({
      code: 'PATH_NOT_FOUND',
    });
    symlinkSync('/root', join(bench.workspace, 'out'));
    await expect(bench.bash('true', { cwd: join(bench.workspace, 'out') })).rejects.toMatchObject({
      code: 'PATH_NOT_FOUND',
    });
  });

  test('receives long and binary stdin, and an empty one if none is given', async () => {
    const data = randomBytes(3_000_000);
    const done = await bench.bash('sha256sum | cut -c1-64', { stdin: data });
    expect(done.out.trim()).toBe(createHash('sha256').update(data).digest('hex'));
    expect(await bench.bash('cat; echo end')).toMatchObject({ out: 'end\n' });
    expect(await bench.bash('true', { stdin: data })).toMatchObject({ exitCode: 0 });
  });

  test('can open /dev/stdin, /dev/stdout and /dev/stderr by name', async () => {
    const done = await bench.bash('cat /dev/stdin | tee /dev/stderr >/dev/stdout', { stdin: Buffer.from('text') });
    expect(done).toMatchObject({ out: 'text', err: 'text', exitCode: 0 });
  });

  test('is killed with its whole tree on a timeout', async () => {
    const seconds = mark();
    const done = await bench.bash(`setsid sleep ${seconds} & trap "" TERM; echo started; sleep ${seconds}`, {
      timeoutMs: 400,
    });
    expect(done).toMatchObject({ endedBy: 'timeout', exitCode: null, signal: 'SIGKILL' });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
  });

  test('is killed with its whole tree when cancelled, and never runs if cancelled before it starts', async () => {
    const seconds = mark();
    const controller = new AbortController();
    const running = bench.bash(`touch began; sleep ${seconds} & sleep ${seconds}`, { signal: controller.signal });
    await expect.poll(() => existsSync(join(bench.workspace, 'began')), { timeout: 20_000 }).toBe(true);
    controller.abort();
    expect(await running).toMatchObject({ endedBy: 'cancelled', exitCode: null, signal: 'SIGKILL' });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    const never = await bench.bash('touch never', { signal: AbortSignal.abort() });
    expect(never.endedBy).toBe('cancelled');
    expect(existsSync(join(bench.workspace, 'never'))).toBe(false);
  });

  test('is not delayed by a daemonised child that holds stdout, and the child is dead', async () => {
    const seconds = mark();
    for (let round = 0; round < 5; round++) {
      const script = `(setsid nohup sleep ${seconds} &) ; for i in $(seq 100); do (sleep ${seconds} &); done; echo done`;
      const done = await bench.bash(script);
      expect(processesWith(`sleep ${seconds}`)).toEqual([]);
      expect(done).toMatchObject({ exitCode: 0, out: 'done\n' });
    }
  });

  test('is killed by stop()', async () => {
    const other = await openBench(who);
    const seconds = mark();
    const running = other.bash(`touch began; sleep ${seconds}`);
    await expect.poll(() => existsSync(join(other.workspace, 'began')), { timeout: 20_000 }).toBe(true);
    await Promise.all([other.sandbox.stop(), running]);
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    await expect(other.bash('true')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    await other.close();
  });

  test('has complete output up to the limit; beyond it head, tail and the count of dropped bytes', async () => {
    const whole = await bench.bash('head -c 4000 /dev/zero | tr "\\0" a', { outputMaxBytes: 4000 });
    expect(whole.raw.stdout).toMatchObject({ droppedBytes: 0, totalBytes: 4000 });
    expect(whole.raw.stdout.head).toHaveLength(4000);
    const cut = await bench.bash('echo first; seq 3000; echo last', { outputMaxBytes: 4000 });
    expect(cut.endedBy).toBe('exit');
    const { head, tail, droppedBytes, totalBytes } = cut.raw.stdout;
    expect(head.toString()).toMatch(/^first\n1\n2\n/);
    expect(tail.toString()).toMatch(/\n3000\nlast\n$/);
    expect(head.length + tail.length + droppedBytes).toBe(totalBytes);
    expect(head.length + tail.length).toBe(4000);
  });

  test('is ended when its output passes the limit, and costs no more memory than what is kept', async () => {
    const done = await bench.bash('yes', { outputMaxBytes: 100_000, outputKillBytes: 800_000 });
    expect(done).toMatchObject({ endedBy: 'output_limit', exitCode: null, signal: 'SIGKILL' });
    expect(done.raw.stdout.head.length + done.raw.stdout.tail.length).toBe(100_000);
    expect(done.raw.stdout.totalBytes).toBeGreaterThan(800_000);
  });

  test('gets its own answer when many run at once', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, (_, i) => bench.bash(`echo ${i}; exit ${i}`)));
    expect(all.map((one) => [one.exitCode, one.out])).toEqual(all.map((_, i) => [i, `${i}\n`]));
  });

  test('is ARGS_INVALID with a NUL, an empty argv or an impossible name, and PAYLOAD_TOO_LARGE if huge', async () => {
    const invalid = [{ argv: ['a\0b'] }, { argv: [] }, { env: { A: 'x\0--bind\0/\0/host' } }, { env: { 'A=B': '' } }];
    for (const change of invalid) {
      await expect(bench.bash('true', change)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    }
    await expect(bench.bash('x'.repeat(140_000))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  test('SEC-2.5 cannot write a file longer than the limit or open too many files', async () => {
    const limits = { ...bench.policy().limits, fileBytes: 1024 * 1024, openFiles: 64 };
    const file = await bench.bash(
      'head -c 3M /dev/zero >big; echo $?; stat -c %s big; ulimit -n; ulimit -c',
      {},
      { limits },
    );
    expect(file.out).toBe('153\n1048576\n64\n0\n');
  });
});
