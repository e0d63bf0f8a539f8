import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, BUILDS, type Finished } from '../fixtures/proxy-daemon/bench.ts';

interface Start {
  pid: number;
  sessionId: number;
  args: string[];
  cwd: string;
  environment: Record<string, string>;
}

describe.each(BUILDS)('the first call of the %s proxy', (build) => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create(build);
    rmSync(bench.home, { recursive: true });
    bench.installLauncher();
  });
  afterEach(async () => {
    for (const { pid } of starts()) end(pid);
    await bench.remove();
  });

  function starts(): Start[] {
    try {
      const lines = readFileSync(join(bench.treasury, 'starts'), 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  }

  function failure({ code, stdout }: Finished) {
    const { data, error } = JSON.parse(stdout);
    return { code, error_code: data.error_code, error: `${error}. ${data.remediation}` };
  }

  it('starts one daemon even as one of a hundred, and all are answered by it', async () => {
    const calls = Array.from({ length: build === 'compiled' ? 100 : 20 }, () => bench.run(['{}']));
    const outputs = new Set((await Promise.all(calls)).map((finished) => JSON.stringify(finished)));
    const [start, ...more] = starts();
    expect(more).toEqual([]);
    expect([...outputs]).toEqual([JSON.stringify({ code: 0, stdout: `{"pid":${start?.pid}}\n`, stderr: '' })]);
    expect(readdirSync(join(bench.home, 'run'))).toEqual(['contextd.sock']);
  });

  it('starts the daemon in its own session, in /, with only PATH, HOME, XDG_* and CONTEXTD_HOME', async () => {
    const inherited = {
      XDG_RUNTIME_DIR: '/run/none',
      XDG_CONFIG_HOME: '/c',
      XDG_DATA_HOME: '/d',
      XDG_STATE_HOME: '/s',
    };
    const env = { ...inherited, SECRET: 'x', NODE_OPTIONS: '--no-warnings', LD_LIBRARY_PATH: '/nowhere' };
    await bench.run(['{}'], { env });
    const [start] = starts();
    // The launcher's shell adds the first four; Node passes the last one to every child when coverage is measured.
    const { PWD, SHLVL, _, OLDPWD, NODE_V8_COVERAGE, ...environment } = start?.environment ?? {};
    expect(environment).toEqual({ PATH: process.env.PATH, HOME: bench.root, CONTEXTD_HOME: bench.home, ...inherited });
    expect(start).toMatchObject({ args: ['serve', '--replaceable'], cwd: '/', sessionId: start?.pid });
    for (const directory of ['run', 'state']) {
      expect(statSync(join(bench.home, directory)).mode & 0o777).toBe(0o700);
    }
  });

  it('leaves the daemon no descriptor of the caller', async () => {
    const stdio = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ignore', 'pipe'] as const;
    const child = spawn(bench.link, ['{}'], { env: environment(), stdio: [...stdio] });
    const pipes = child.stdio.slice(1).filter((pipe) => pipe !== null);
    await Promise.all(pipes.map((pipe) => text(pipe as NodeJS.ReadableStream)));
    expect(starts()).toHaveLength(1);
  });

  it('sends the daemon’s stderr to the log', async () => {
    bench.installLauncher('echo "out"; echo "no room" >&2; exit 7');
    const finished = await bench.run(['{}']);
    expect(failure(finished)).toEqual({
      code: 69,
      error_code: 'DAEMON_UNAVAILABLE',
      error: expect.stringMatching(/could not start \(exit code 7\).*daemon\.log/),
    });
    expect(readFileSync(join(bench.home, 'state/daemon.log'), 'utf8')).toBe('no room\n');
    expect(statSync(join(bench.home, 'state/daemon.log')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(bench.home, 'run'))).toEqual([]);
  });

  it('does not retry a start that failed while it waited for it', async () => {
    bench.installLauncher(`echo x >> '${bench.treasury}/attempts'; exit 1`);
    const all = await Promise.all(Array.from({ length: 10 }, () => bench.run(['{}'])));
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set([69]));
    expect(readFileSync(join(bench.treasury, 'attempts'), 'utf8')).toBe('x\n');
  });

  it('reports a missing launcher at once', async () => {
    rmSync(bench.launcher);
    expect(failure(await bench.run(['{}']))).toMatchObject({
      code: 69,
      error: expect.stringContaining(`${bench.launcher} could not start (it cannot be run)`),
    });
  });

  it('takes over the lock of a dead holder, but only one call does', async () => {
    const dead = spawn('true');
    await once(dead, 'exit');
    mkdirSync(join(bench.home, 'run'), { recursive: true });
    writeFileSync(join(bench.home, 'run/start.lock'), `${`${dead.pid}`.padEnd(11)}${'0'.padEnd(11)}req_DEAD`);
    const all = await Promise.all(Array.from({ length: 20 }, () => bench.run(['{}'])));
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set([0]));
    expect(starts()).toHaveLength(1);
    expect(readdirSync(join(bench.home, 'run'))).toEqual(['contextd.sock']);
  });

  it('replaces a socket that a dead daemon left behind', async () => {
    expect((await bench.run(['{}'])).code).toBe(0);
    const [first] = starts();
    end(first?.pid ?? 0);
    await expect.poll(() => isRunning(first?.pid ?? 0), { timeout: 20_000 }).toBe(false);
    const second = await bench.run(['{}']);
    expect(second).toMatchObject({ code: 0 });
    expect(JSON.parse(second.stdout).pid).not.toBe(first?.pid);
  });

  it('starts another daemon if the first one dies while it is called', async () => {
    expect((await bench.run(['{}'])).code).toBe(0);
    const [first] = starts();
    end(first?.pid ?? 0);
    await expect.poll(() => isRunning(first?.pid ?? 0), { timeout: 20_000 }).toBe(false);
    const path = join(bench.home, 'run/contextd.sock');
    rmSync(path);
    const dying = createServer((socket) => {
      dying.close();
      socket.destroy();
    });
    await once(dying.listen(path), 'listening');
    expect(await bench.run(['{}'])).toMatchObject({ code: 0 });
    expect(dying.listening).toBe(false);
  });

  it('names a directory that cannot be created', async () => {
    writeFileSync(bench.home, '');
    expect(failure(await bench.run(['{}']))).toMatchObject({ code: 69, error: expect.stringContaining(bench.home) });
  });

  it('reports PATH_INVALID with the limit if the socket path is too long, and for a relative CONTEXTD_HOME', async () => {
    const long = await bench.run(['{}'], { env: { CONTEXTD_HOME: join(bench.root, 'x'.repeat(100)) } });
    expect(failure(long)).toMatchObject({ code: 2, error: expect.stringMatching(/limit is 10[37].*CONTEXTD_HOME/) });
    const relative = await bench.run(['{}'], { env: { CONTEXTD_HOME: 'here' } });
    expect(failure(relative)).toMatchObject({ code: 2, error_code: 'PATH_INVALID' });
  });

  it('finds the daemon through the XDG directories', async () => {
    const env = { CONTEXTD_HOME: undefined, XDG_RUNTIME_DIR: undefined, XDG_STATE_HOME: undefined };
    bench.installLauncher('exit 3');
    expect(failure(await bench.run(['{}'], { env })).error).toContain(
      join(bench.root, '.local/state/contextd/daemon.log'),
    );
    expect(readdirSync(join(bench.root, '.local/state/contextd/run'))).toEqual([]);
    const runtime = join(bench.root, 'runtime');
    expect((await bench.run(['{}'], { env: { ...env, XDG_RUNTIME_DIR: runtime } })).code).toBe(69);
    expect(readdirSync(join(runtime, 'contextd'))).toEqual([]);
  });

  function environment() {
    return { PATH: process.env.PATH, HOME: bench.root, CONTEXTD_HOME: bench.home };
  }
});

function end(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL');
  } catch {
    // The daemon has ended.
  }
}

/** A zombie, which only waits to be reaped, counts as dead. */
function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/^.*\) [ZX]/s.test(readFileSync(path, 'utf8'));
}
