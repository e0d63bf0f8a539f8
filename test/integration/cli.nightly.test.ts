import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CORE_EFFECTS } from '../helpers/core-effects.ts';
import { CTXD, type Finished, type Installation, install, ROOT } from '../helpers/installation.ts';

/** By name. */
const CORE_TOOLS = [...CORE_EFFECTS.keys()].sort();

let machine: Installation;

const ctxd = (...words: string[]): Promise<Finished> => machine.run(CTXD, words);
const json = async (...words: string[]) => {
  const { stdout, stderr } = await ctxd(...words, '--json');
  if (stdout.split('\n').length !== 2) throw new Error(`not one line: ${stdout}${stderr}`);
  return JSON.parse(stdout);
};

describe('ctxd server', () => {
  beforeEach(async () => {
    machine = await install({ init: false });
  });
  afterEach(() => machine.remove());

  it('FR-9.1 starts one daemon even if several starts race, and stops it for good', async () => {
    const starts = await Promise.all(Array.from({ length: 5 }, () => json('server', 'start')));
    expect(new Set(starts.map(({ pid }) => pid)).size).toBe(1);
    const { pid } = starts[0];
    expect(await json('server', 'start')).toMatchObject({ pid, started: false });
    expect(await json('server', 'status')).toEqual({
      pid,
      version: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version,
      uptime_ms: expect.any(Number),
      socket: join(machine.home, 'run', 'contextd.sock'),
      calls: 0,
      active_calls: 0,
      projects: 0,
      bad_links: [],
      resident_bytes: expect.any(Number),
      protocol_version: 2,
      isolation: expect.stringMatching(/^(full|reduced)$/),
      sandbox: expect.objectContaining({ spawner_pid: expect.any(Number), running: 0, processes: 0, ready_max: 32 }),
      steps: [],
    });
    expect(await json('server', 'stop')).toMatchObject({ stopped: true, pid, terminated: false });
    expect(isRunning(pid)).toBe(false);
    expect(await ctxd('server', 'status')).toMatchObject({
      code: 69,
      stdout: '',
      stderr: expect.stringMatching(/^ctxd: no daemon answers at .*\n$/),
    });
    expect(await json('server', 'stop')).toMatchObject({ stopped: false, pid: null });
  });

  it('FR-9.1 starts the daemon in its own session, in /, with nothing of the caller except the listed variables', async () => {
    // If the daemon kept a copy of the caller's output open, this command would not end.
    const secret = { env: { SOME_TOKEN: 'not-for-the-daemon', XDG_CONFIG_HOME: '/xdg' } };
    expect(await machine.run('/bin/bash', ['-c', `exec 77>&1; ${CTXD} server start`], secret)).toMatchObject({
      code: 0,
    });
    const { pid } = await machine.status();
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((one) => one !== '');
    const names = environment
      .map((one) => one.slice(0, one.indexOf('=')))
      .filter((name) => !['NODE_V8_COVERAGE', 'PWD', 'SHLVL', '_'].includes(name));
    const ofAllocator = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'];
    expect(names.sort()).toEqual(['CONTEXTD_HOME', 'HOME', ...ofAllocator, 'PATH', 'XDG_CONFIG_HOME']);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    const session = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3];
    expect(session).toBe(String(pid));
  });

  it('FR-9.1 restarts the daemon and shows its log', async () => {
    const { pid } = await json('server', 'start');
    const after = await json('server', 'restart');
    expect(after.previous_pid).toBe(pid);
    expect(after.pid).not.toBe(pid);
    expect(await machine.status()).toMatchObject({ pid: after.pid });
    // The daemon masks what it logs in a thread, so a line comes a moment later.
    const events = async (): Promise<string[]> =>
      (await json('server', 'logs', '-n', '100')).map(({ event }: { event: string }) => event);
    await expect.poll(async () => (await events()).filter((event) => event === 'daemon.ready')).toHaveLength(2);
    expect((await ctxd('server', 'logs', '-n', '1')).stdout.split('\n')).toHaveLength(2);
  });

  it('reports why a daemon did not start', async () => {
    await mkdir(join(machine.home, 'config'), { recursive: true });
    await writeFile(join(machine.home, 'config', 'config.json'), '{"budget":{"max_tokns":1}}');
    const { code, stdout, stderr } = await ctxd('server', 'start');
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toMatch(/^ctxd: the daemon did not start: .*\/budget\/max_tokns is not a setting.*\n$/);
  });

  it('does not disturb another program on the socket, and reports it', async () => {
    await mkdir(join(machine.home, 'run'), { recursive: true });
    const socket = join(machine.home, 'run', 'contextd.sock');
    const stranger = createServer((connection) => connection.on('error', () => {}).end('hello\n')).listen(socket);
    await once(stranger, 'listening');
    try {
      const { code, stderr } = await ctxd('server', 'start');
      expect(code).toBe(69);
      expect(stderr).toContain('is held by something that is not this contextd');
      const connection = connect(socket);
      await once(connection, 'connect');
      connection.destroy();
    } finally {
      stranger.close();
    }
  });

  it('finds a daemon that hangs by the database it holds and ends it with SIGTERM', async () => {
    const { pid } = await json('server', 'start');
    process.kill(pid, 'SIGSTOP');
    const stopping = json('server', 'stop');
    // A stopped process receives SIGTERM only when it continues: wait until the signal is pending.
    await expect.poll(() => pendingSignals(pid) & (1n << 14n)).not.toBe(0n);
    process.kill(pid, 'SIGCONT');
    expect(await stopping).toMatchObject({ stopped: true, pid, terminated: true });
  });
});

/** Returns false for a zombie too: a dead orphan stays in the process table if nothing reaps it. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function pendingSignals(pid: number): bigint {
  const mask = /^ShdPnd:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return BigInt(`0x${mask ?? '0'}`);
}

describe('ctxd in a project', () => {
  beforeAll(async () => {
    machine = await install();
  });
  afterAll(() => machine.remove());

  it('FR-2.1 FR-2.2 sets up the project and starts the daemon, and changes nothing the second time', async () => {
    expect(await json('init')).toMatchObject({
      changed: false,
      created: [],
      updated: [],
      tools: CORE_TOOLS,
    });
    const again = (await ctxd('init')).stdout;
    expect(again.split('\n')[0]).toBe(`${machine.project} is set up already: nothing changed`);
  });

  it.each([['/'], ['.']])('refuses %s when called in the home directory', async (directory) => {
    const { HOME = '' } = machine.environment;
    const answer = await machine.run(CTXD, ['init', directory], { cwd: HOME });
    expect(answer).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^ctxd: .* cannot be a project: .*\n$/),
    });
  });

  it('says that git does not work in a part of a repository, and lets commands use the repository after a yes', async () => {
    const top = await realpath(await mkdtemp(join(tmpdir(), 'mono-')));
    await mkdir(join(top, '.git'), { recursive: true });
    await mkdir(join(top, 'part'));
    const part = join(top, 'part');
    expect((await ctxd('init', part)).stdout).toContain(`To work with git: ctxd allow path ${top} ${part}\n`);
    expect((await ctxd('allow', 'list', part)).stdout).toContain('  none');
    expect((await ctxd('init', '--yes', part)).stdout).toContain(`Commands can read ${top} and commit`);
    expect((await ctxd('allow', 'list', part)).stdout).toContain(`  ${top} (the repository around it`);
    expect((await ctxd('init', part)).stdout).not.toContain('To work with git');
    expect((await ctxd('allow', 'remove', top, part)).code).toBe(0);
    expect((await ctxd('allow', 'path', top, part)).stdout).toContain(`Commands in ${part} can read ${top}`);
    await rm(join(top, '.git'), { recursive: true });
    expect(await ctxd('allow', 'path', top, part)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not the top of the repository'),
    });
    await ctxd('init', '--uninstall', part);
    expect(await ctxd('init', top)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('To work with git') });
    await ctxd('init', '--uninstall', top);
    await rm(top, { recursive: true });
  });

  it('registers nothing if it cannot write everything', async () => {
    const other = await realpath(await mkdtemp(join(tmpdir(), 'other-')));
    await symlink('/tmp', join(other, '.claude'));
    const before = await json('server', 'status');
    const answer = await ctxd('init', other);
    expect(answer).toMatchObject({ code: 1, stderr: expect.stringContaining('.claude is a symbolic link') });
    expect((await json('server', 'status')).projects).toBe(before.projects);
    await rm(other, { recursive: true });
  });

  it('lists and shows the tools', async () => {
    const tools = await json('tool', 'list');
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(CORE_TOOLS);
    expect(await json('tool', 'list', '--project')).toEqual(tools);
    expect(await json('tool', 'info', 'safe_bash')).toMatchObject({
      name: 'safe_bash',
      origin: 'core',
      schema: { type: 'object' },
    });
    expect(await ctxd('tool', 'info', 'nothing')).toMatchObject({
      code: 1,
      stderr: `ctxd: there is no tool "nothing". There are ${CORE_TOOLS.join(', ')}.\n`,
    });
    expect(await ctxd('tool', 'list', '--project', '/usr')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a registered project'),
    });
  });

  it('FR-9.4 runs a tool from any directory of the project and prints its envelope', async () => {
    const below = join(machine.project, 'below');
    await mkdir(below);
    const answer = await machine.run(CTXD, ['tool', 'run', 'safe_bash', '--input', '-'], {
      cwd: below,
      input: '{"command":"pwd; exit 3"}',
    });
    expect(answer).toMatchObject({ code: 3, stderr: '' });
    expect(JSON.parse(answer.stdout)).toMatchObject({
      success: true,
      data: { exit_code: 3, stdout: `${below}\n` },
    });
    const wrong = await ctxd('tool', 'run', 'safe_bash', '--input', '{"comand":1}');
    expect(wrong.code).toBe(2);
    expect(JSON.parse(wrong.stdout)).toMatchObject({ success: false, data: { error_code: 'ARGS_INVALID' } });
    expect(wrong.stderr.trimEnd().split('\n')).toHaveLength(1);
    const unknown = await ctxd('tool', 'run', 'nothing');
    expect(unknown.code).toBe(1);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ data: { error_code: 'TOOL_NOT_FOUND' } });
  });

  it('shows the audit log of one project and of all', async () => {
    await ctxd('tool', 'run', 'safe_bash', '--input', '{"command":"echo audited"}');
    const [record] = await json('audit', 'tail', '-n', '1', '--project');
    expect(record).toMatchObject({
      tool: 'safe_bash',
      project: machine.project,
      error_code: null,
    });
    expect(JSON.stringify(record.input)).toContain('echo audited');
    expect(await json('audit', 'tail', '-n', '1')).toEqual([record]);
    expect((await ctxd('audit', 'tail', '-n', '1')).stdout).toMatch(/\tsafe_bash\texit 0\t/);
  });

  it('finds every component healthy, and reports a missing link', async () => {
    const { checks, healthy } = await json('doctor');
    expect(checks.filter(({ status }: { status: string }) => status === 'fail')).toEqual([]);
    expect(healthy).toBe(true);
    for (const name of [
      'daemon',
      'socket',
      'certificates',
      'sandbox runs a command',
      'network',
      'files of branches',
      'scrubber masks a canary',
      'token counter',
      'proxy',
      'links',
    ]) {
      expect(checks.map((check: { name: string }) => check.name)).toContain(name);
    }
    await rm(join(machine.project, '.claude/bin/safe_read'));
    const answer = await ctxd('doctor');
    expect(answer).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^fail {2}links: .*\.claude\/bin\/safe_read$/m),
    });
    expect((await ctxd('init')).stdout).toContain('created  .claude/bin/safe_read');
    expect((await ctxd('doctor')).code).toBe(0);
  });

  it('NFR-2.2 uses a changed setting after a restart', async () => {
    expect((await ctxd('config', 'set', 'timeout.default_ms', '1234')).stdout).toContain('ctxd server restart');
    expect(await ctxd('server', 'restart')).toMatchObject({ code: 0 });
    expect(await json('config', 'get', 'timeout.default_ms')).toBe(1234);
  });

  it('is removed from the project and from the daemon', async () => {
    await writeFile(join(machine.project, 'mine.txt'), 'mine');
    expect(await json('init', '--uninstall')).toMatchObject({ action: 'uninstall', changed: true, kept: [] });
    expect(await readFile(join(machine.project, 'mine.txt'), 'utf8')).toBe('mine');
    expect(await ctxd('tool', 'list', '--project', '.')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a registered project'),
    });
    expect(await json('init', '--uninstall')).toMatchObject({ changed: false, removed: [] });
  });
});
