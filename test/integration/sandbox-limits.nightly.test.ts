import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, LIMITS, openBench, processesWith, whoCanRun } from '../fixtures/sandbox-harness.ts';

const MIB = 1024 * 1024;

describe.each(whoCanRun())('limits, %s', (who) => {
  let bench: Bench;
  let byCgroup = false;
  beforeAll(async () => {
    bench = await openBench(who);
    const { missing } = await bench.sandbox.isolationFor(bench.workspace);
    byCgroup = !missing.some((one) => one.includes('cgroup'));
    console.warn(
      `limits, ${who}: ${byCgroup ? 'by cgroup' : 'per process (no writable cgroup): the cgroup tests prove nothing here'}`,
    );
  });
  afterAll(() => bench.close());

  /** Asks the host's kernel which cgroup a process inside is in. No test presses on a limit before this is known. */
  async function seenInGroup(controller: string): Promise<boolean> {
    const seconds = `7${process.pid}${Math.trunc(performance.now())}`;
    const controllerDone = new AbortController();
    const running = bench.bash(`sleep ${seconds} & wait`, { signal: controllerDone.signal });
    try {
      await expect.poll(() => processesWith(`sleep ${seconds}`).length, { timeout: 20_000 }).toBe(1);
      const [pid] = processesWith(`sleep ${seconds}`);
      const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
      return lines.some((line) => new RegExp(`:(${controller})?:.*contextd-\\d+-[0-9a-f]+(-|/)\\d+$`).test(line));
    } finally {
      controllerDone.abort();
      await running;
    }
  }

  test('SEC-2.5 bound the memory of the tree and report oom', async () => {
    if (!byCgroup) return;
    expect(await seenInGroup('memory')).toBe(true);
    const limits = { ...LIMITS, memoryBytes: 64 * MIB };
    const done = await bench.bash(`python3 -c 'x=bytearray(200<<20); print("got it")'`, {}, { limits });
    expect(done).toMatchObject({ endedBy: 'oom', out: '' });
    const many = await bench.bash(
      `for i in 1 2 3 4; do python3 -c 'import time; x=bytearray(30<<20); time.sleep(0.5)' & done; wait; echo after`,
      {},
      { limits },
    );
    expect(many.endedBy).toBe('oom');
    const fits = await bench.bash(`python3 -c 'x=bytearray(20<<20); print("got it")'`, {}, { limits });
    expect(fits).toMatchObject({ endedBy: 'exit', out: 'got it\n' });
  });

  test('SEC-2.5 bound the memory of a process without a cgroup', async () => {
    if (byCgroup) return;
    const limits = { ...LIMITS, memoryBytes: 64 * MIB };
    const done = await bench.bash(`python3 -c 'x=bytearray(200<<20); print("got it")'`, {}, { limits });
    expect(done.exitCode).not.toBe(0);
    expect(done.err).toContain('MemoryError');
  });

  test('SEC-2.5 bound the number of processes exactly, and report pids for a run that fails because of it', async () => {
    if (byCgroup) expect(await seenInGroup('pids')).toBe(true);
    const limits = { ...LIMITS, pids: 64 };
    const script = [
      'import subprocess, sys',
      'started = []',
      'try:',
      '  for i in range(200): started.append(subprocess.Popen(["sleep", "60"]))',
      'except OSError as error: print(error.strerror)',
      'print(len(started))',
      'sys.exit(3)',
    ].join('\n');
    const full = await bench.bash('', { argv: ['python3', '-c', script] }, { limits });
    const [refusal, started] = full.out.split('\n');
    expect(refusal).toBe('Resource temporarily unavailable');
    // python itself is one of the 64; without a cgroup, bubblewrap's two processes count as well.
    expect(Number(started)).toBeLessThanOrEqual(63);
    expect(Number(started)).toBeGreaterThanOrEqual(60);
    expect(full).toMatchObject({ endedBy: byCgroup ? 'pids' : 'exit', exitCode: 3 });
    const few = await bench.bash('for i in $(seq 40); do sleep 0.01 & done; wait; exit 3', {}, { limits });
    expect(few).toMatchObject({ endedBy: 'exit', exitCode: 3 });
  });

  test('SEC-2.5 do not count dead processes of one run in the next', async () => {
    const limits = { ...LIMITS, pids: 16 };
    for (let run = 0; run < 40; run++) {
      expect(await bench.bash('true', {}, { limits })).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    }
  });

  test('SEC-2.5 make half a processor take twice as long', async () => {
    if (!byCgroup) return;
    const spin = 'import time; t=time.process_time()\nwhile time.process_time()-t < 0.4: pass';
    const limits = { ...LIMITS, cpus: 0.25 };
    const done = await bench.bash(`python3 -c '${spin}'`, {}, { limits });
    expect(done.exitCode).toBe(0);
    expect(done.durationMs).toBeGreaterThan(1000);
  });

  test('SEC-2.5 count temporary files as memory', async () => {
    const done = await bench.bash(
      'head -c 300M /dev/zero >/tmp/x; stat -c %s /tmp/x; head -c 100M /dev/zero >/dev/shm/x; stat -c %s /dev/shm/x',
    );
    expect(done.out).toBe(`${256 * MIB}\n${64 * MIB}\n`);
    expect(done.err).toContain('No space left on device');
  });
});
