import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { ServiceError } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecuteResponse__Output } from '#src/protocol/generated/tool.js';
import { readRpcFault } from '#src/protocol/rpc-faults.js';
import { answered, type Clients, certificateOf, close, connect } from '../helpers/door.ts';

const ROOT = join(import.meta.dirname, '../..');
const STUB = join(ROOT, 'test/fixtures/stub-daemon.ts');
const LAUNCHER = join(ROOT, 'bin/contextd');

interface Event {
  event: string;
  [field: string]: unknown;
}

/** A daemon in the foreground, and its log while it is written. */
interface Daemon {
  child: ChildProcess;
  /** Returns the next log record of this name and skips the records before it. */
  next(event: string): Promise<Event>;
  /** Exit code or signal. */
  ended: Promise<number | string | null>;
  /** Lines of stderr that are not log records. */
  said: string[];
}

let home: string;
let daemons: Daemon[];
let opened: Clients[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'daemon-'));
  daemons = [];
  opened = [];
});
afterEach(async () => {
  for (const clients of opened) close(clients);
  for (const { child, ended } of daemons) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(home, { recursive: true, force: true });
});

const environment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  CONTEXTD_HOME: home,
  ...(process.env.NODE_V8_COVERAGE ? { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE } : {}),
});
const socket = () => join(home, 'run/contextd.sock');

function launch(args: readonly string[] = ['--foreground']): Daemon {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', STUB, 'serve', ...args], {
    env: environment(),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const said: string[] = [];
  const events: Event[] = [];
  let wake = (): void => {};
  let over = false;
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    if (line.startsWith('{')) events.push(JSON.parse(line));
    else said.push(line);
    wake();
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('close', (code, signal) => {
      over = true;
      wake();
      resolve(code ?? signal);
    });
  });
  const daemon: Daemon = {
    child,
    said,
    ended,
    async next(event) {
      for (;;) {
        const found = events.shift();
        if (found?.event === event) return found;
        if (found !== undefined) continue;
        if (over) throw new Error(`ended before ${event}: ${said.join('\n')}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
  daemons.push(daemon);
  return daemon;
}

async function launchReady(): Promise<Daemon> {
  const daemon = launch();
  await daemon.next('daemon.ready');
  return daemon;
}

function clients(identity = 'cli'): Clients {
  const made = connect(socket(), certificateOf(join(home, 'state/certs'), identity));
  opened.push(made);
  return made;
}

function execute(tool: string, from = clients('proxy')): Promise<ExecuteResponse__Output> {
  const context = { request_id: 'req_01JD0000000000000000000000', project_root: '/p', protocol_version: 2 };
  return answered((done) => from.tools.Execute({ tool, input_json: Buffer.from('{}'), context }, done));
}

/** Resolves when `file`, in an existing directory, holds `word`. */
function written(file: string, word: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(dirname(file), () => {
      if (!existsSync(file) || !readFileSync(file, 'utf8').includes(word)) return;
      watcher.close();
      resolve();
    });
  });
}

const envelopeOf = (answer: ExecuteResponse__Output) => JSON.parse(answer.envelope_json.toString());

describe('FR-9.1 the daemon', () => {
  it('starts, answers, and exits with 0 on SIGTERM after removing its socket', async () => {
    const daemon = await launchReady();
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
    expect(existsSync(socket())).toBe(false);
  });

  it('stops when the CLI asks it to, and answers the CLI first', async () => {
    const daemon = await launchReady();
    const { management } = clients();
    expect(await answered((done) => management.StopServer({ grace_ms: 1000 }, done))).toEqual({
      pid: daemon.child.pid,
      active_calls: 0,
      ended_calls: 0,
    });
    expect(await daemon.ended).toBe(0);
  });

  it('creates only private files and works in /', async () => {
    const daemon = await launchReady();
    expect(statSync(socket()).mode & 0o777).toBe(0o600);
    for (const dir of ['run', 'config', 'data', 'state', 'state/certs']) {
      expect(statSync(join(home, dir)).mode & 0o777).toBe(0o700);
    }
    for (const file of ['cli.key', 'server.key', 'ca.pem']) {
      expect(statSync(join(home, 'state/certs', file)).mode & 0o777).toBe(0o600);
    }
    if (process.platform === 'linux') {
      expect(readlinkSync(`/proc/${daemon.child.pid}/cwd`)).toBe('/');
      const status = readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8');
      expect(/^Umask:\s+(\d+)/m.exec(status)?.[1]).toBe('0077');
    }
  });

  it('logs to a file of mode 0600 in the background and prints nothing', async () => {
    const file = join(home, 'state/daemon.log');
    mkdirSync(join(home, 'state'));
    const ready = written(file, 'daemon.ready');
    const daemon = launch([]);
    await ready;
    daemon.child.kill('SIGHUP');
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const events = readFileSync(file, 'utf8').trim().split('\n');
    expect(events.map((line) => JSON.parse(line).event)).toContain('daemon.stopped');
    expect(daemon.said).toEqual([]);
  });
});

describe('stopping', () => {
  it('lets running calls finish and accepts no more', async () => {
    const daemon = await launchReady();
    const proxy = clients('proxy');
    const running = execute('wait', proxy);
    await daemon.next('stub.call_begun');
    const { management } = clients();
    const stopped = answered((done) => management.StopServer({ grace_ms: 60_000 }, done));
    await expect
      .poll(() => execute('echo', proxy).then(envelopeOf, readRpcFault))
      .toMatchObject({ code: 'DAEMON_UNAVAILABLE', remedy: expect.stringContaining('again') });
    daemon.child.stdin?.write('go on\n');
    expect(envelopeOf(await running).tool).toBe('wait');
    expect(await stopped).toMatchObject({ active_calls: 1, ended_calls: 0 });
    expect(await daemon.ended).toBe(0);
  });

  it('interrupts a call that outlasts the grace, and still sends its answer', async () => {
    const daemon = await launchReady();
    const running = execute('hang');
    await daemon.next('stub.call_begun');
    const { management } = clients();
    await answered((done) => management.StopServer({ grace_ms: 1 }, done));
    expect(envelopeOf(await running).tool).toBe('hang');
    expect(await daemon.ended).toBe(0);
  });

  it('happens at once on the second signal', async () => {
    const daemon = await launchReady();
    const running = execute('hang').then(
      () => 'answered',
      (error: ServiceError) => error.details,
    );
    await daemon.next('stub.call_begun');
    daemon.child.kill('SIGTERM');
    await daemon.next('daemon.signalled');
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(143);
    expect(await running).not.toBe('answered');
  });

  it('after an uncaught fault, logs without secret or stack, exits with 70, and the next start cleans up', async () => {
    const daemon = await launchReady();
    await execute('crash').catch(() => {});
    expect((await daemon.next('daemon.crashed')).cause).toEqual(['RangeError: [SECRET] in the engine room']);
    expect(await daemon.ended).toBe(70);
    expect(daemon.said).toEqual([]);
    expect(existsSync(socket())).toBe(true);
    await launchReady();
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
  });
});

describe('a second daemon', () => {
  it('is refused while the first one runs, in one line with its pid and how to stop it', async () => {
    const first = await launchReady();
    const before = statSync(socket()).ino;
    const second = launch();
    expect(await second.ended).toBe(1);
    expect(second.said).toHaveLength(1);
    expect(second.said[0]).toContain(`pid ${first.child.pid}`);
    expect(second.said[0]).toContain('`ctxd server stop`');
    expect(statSync(socket()).ino).toBe(before);
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
  });

  it('keeps exactly one of several that start at once', async () => {
    const all = [launch(), launch(), launch()];
    const outcomes = await Promise.all(
      all.map((daemon) =>
        daemon.next('daemon.ready').then(
          () => 'ready',
          () => daemon.ended,
        ),
      ),
    );
    expect(outcomes.sort()).toEqual([1, 1, 'ready']);
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
  });

  it('starts after the first was killed and left its socket', async () => {
    const first = await launchReady();
    first.child.kill('SIGKILL');
    await first.ended;
    expect(existsSync(socket())).toBe(true);
    await launchReady();
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
  });

  it('waits for one that has closed its door but still holds the state', async () => {
    const first = await launchReady();
    // The socket is gone, as in a daemon that is stopping.
    rmSync(socket());
    const second = launch();
    await second.next('daemon.waiting_for_another_to_end');
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await second.next('daemon.ready');
    expect(envelopeOf(await execute('echo')).tool).toBe('echo');
  });
});

describe('a start that fails', () => {
  it('does not disturb a foreign listener and names the socket', async () => {
    mkdirSync(join(home, 'run'), { mode: 0o700 });
    const foreign = createServer((connection) => connection.resume()).listen(socket());
    await once(foreign, 'listening');
    const before = statSync(socket()).ino;
    const daemon = launch();
    expect(await daemon.ended).toBe(1);
    expect(daemon.said).toHaveLength(1);
    expect(daemon.said[0]).toContain(socket());
    expect(statSync(socket()).ino).toBe(before);
    await new Promise((resolve) => foreign.close(resolve));
  });

  it.each([
    ['an invalid configuration', { 'config/config.json': '{"log":{"level":"loud"}}' }, 1, '/log/level'],
    ['a configuration that is not JSON', { 'config/config.json': '{' }, 1, 'config.json'],
  ])('reports %s in one line and never with a stack', async (_what, files, code, word) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(home, name, '..'), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    const daemon = launch();
    expect(await daemon.ended).toBe(code);
    expect(daemon.said).toHaveLength(1);
    expect(daemon.said[0]).toMatch(/^contextd: /);
    expect(daemon.said[0]).toContain(word);
    expect(daemon.said[0]).not.toMatch(/\bat \S+:\d+/);
  });

  it('names the limit if the socket path is too long', async () => {
    const long = join(home, 'x'.repeat(100));
    const failed = await failure(process.execPath, [STUB, 'serve'], { ...environment(), CONTEXTD_HOME: long });
    expect(failed.code).toBe(2);
    expect(failed.stderr).toMatch(/^contextd: .*limit is 10[73].*shorter path\.\n$/);
  });
});

interface Failure {
  code: number;
  stdout: string;
  stderr: string;
}

async function failure(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<Failure> {
  return new Promise((resolve) => {
    execFile(file, args, { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

describe('the launcher', () => {
  const version = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

  it('finds its installation through links of links, from any directory and with any PATH', async () => {
    symlinkSync(LAUNCHER, join(home, 'one'));
    mkdirSync(join(home, 'below'));
    symlinkSync('../one', join(home, 'below', 'two'));
    const { stdout } = await promisify(execFile)(join(home, 'below', 'two'), ['--version'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(stdout).toBe(`${version}\n`);
    const relative = await promisify(execFile)('below/two', ['--version'], {
      cwd: home,
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(relative.stdout).toBe(`${version}\n`);
  });

  it('fails on links that lead in a circle', async () => {
    symlinkSync('b', join(home, 'a'));
    symlinkSync('a', join(home, 'b'));
    // A shell refuses to run a circular link, so the link becomes circular while the launcher runs.
    const failed = await failure('/bin/sh', ['-c', `. ${LAUNCHER}`, join(home, 'a')], environment());
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('circle of links') });
  });

  it('ignores NODE_OPTIONS', async () => {
    writeFileSync(join(home, 'first.cjs'), 'console.log("ran first")');
    const env = { ...environment(), NODE_OPTIONS: `--require ${join(home, 'first.cjs')}` };
    const { stdout } = await promisify(execFile)(LAUNCHER, ['--version'], { env });
    expect(stdout).toBe(`${version}\n`);
  });

  it('reports what is missing in an incomplete installation', async () => {
    const root = join(home, 'half');
    mkdirSync(join(root, 'bin'), { recursive: true });
    cpSync(LAUNCHER, join(root, 'bin/contextd'));
    expect(await failure(join(root, 'bin/contextd'), [], environment())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${root}/node_modules/.bin/node is missing`),
    });
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules/.bin/node'), '#!/bin/sh\n');
    chmodSync(join(root, 'node_modules/.bin/node'), 0o755);
    expect(await failure(join(root, 'bin/contextd'), [], environment())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not built'),
    });
  });

  it('rejects a wrong command line with exit code 2', async () => {
    expect((await failure(LAUNCHER, ['dance'], environment())).code).toBe(2);
    expect((await failure(LAUNCHER, [], environment())).code).toBe(2);
    expect((await failure(LAUNCHER, ['serve', '--loud'], environment())).code).toBe(2);
    expect((await failure(LAUNCHER, ['--help'], environment())).code).toBe(0);
  });
});
