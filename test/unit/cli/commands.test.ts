import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliContext } from '#src/cli/context.js';
import { checkClientSettings } from '#src/cli/doctor/client-checks.js';
import { checkClientVersions, OLDEST_CLIENTS } from '#src/cli/doctor/client-versions.js';
import { checkCertificates, checkSocket } from '#src/cli/doctor/daemon-checks.js';
import { checkProxy } from '#src/cli/doctor/machine-checks.js';
import { readInput } from '#src/cli/input.js';
import { runCli } from '#src/cli/program.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';

let base = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'ctxd-')));
  await mkdir(join(base, 'home'));
  await mkdir(join(base, 'project'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** A home of its own without a daemon, independent of the terminal that runs the tests. */
function createWorld(installRoot = findInstallRoot()): CliContext & { stdout: PassThrough; stderr: PassThrough } {
  const env = readEnvironment({ HOME: join(base, 'home'), CONTEXTD_HOME: join(base, 'c'), PATH: '/usr/bin:/bin' });
  return {
    stdin: Readable.from(['{"from":"stdin"}']),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env,
    paths: resolvePaths(env, installRoot),
    version: '1.2.3',
    cwd: join(base, 'project'),
    signal: new AbortController().signal,
  };
}

async function ctxd(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const world = createWorld();
  const [out, err] = [text(world.stdout), text(world.stderr)];
  const code = await runCli(words, world);
  world.stdout.end();
  world.stderr.end();
  return { code, out: await out, err: await err };
}

async function put(path: string, content: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), content, { mode });
}

describe('ctxd', () => {
  it('prints help and version to standard output', async () => {
    expect(await ctxd('--version')).toEqual({ code: 0, out: '1.2.3\n', err: '' });
    const help = await ctxd('--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const word of ['init', 'server', 'tool', 'doctor', 'config', 'audit']) expect(help.out).toContain(word);
    expect((await ctxd('server', 'logs', '--help')).out).toContain('--follow');
    expect(await ctxd()).toEqual(help);
  });

  it.each([
    [['server'], 'a subcommand is missing'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['server', 'status', '--frob'], "unknown option '--frob'"],
    [
      ['tool', 'info'],
      "missing required argument 'name'. Usage: ctxd tool info <name>. What it takes: `ctxd tool info --help`.",
    ],
    [['network', 'allow'], 'Usage: ctxd network allow <'],
    [['config', 'get', 'a', 'b'], 'too many arguments'],
    [['server', 'logs', '-n', '0'], '--lines must be a number from 1 to 100000, not 0'],
    [['stats', '--by', 'week'], '--by must be one of day, tool, session, not week'],
    [['audit', 'tail', '-n', '1001'], '--lines must be a number from 1 to 1000, not 1001'],
    [['server', 'logs', '--json', '--follow'], '--json prints one value and --follow never ends'],
    [['config', 'get', 'budget.frob'], 'there is no setting "budget.frob"'],
    [
      ['config', 'get', 'budget.defualt_tokens'],
      'did you mean budget.default_tokens, budget.max_tokens, budget.shell_cut_tokens? `ctxd',
    ],
  ])('answers %j with one line and exit code 2', async (words, message) => {
    const { code, out, err } = await ctxd(...words);
    expect(code).toBe(2);
    if (words.includes('--json')) expect(JSON.parse(out)).toMatchObject({ error: { code: 'ARGS_INVALID', message } });
    else expect(out).toBe('');
    expect(err).toMatch(/^ctxd: .*\n$/);
    expect(err).toContain(message);
  });

  it.each([[['server', 'status', '--json']], [['tool', 'list']], [['tool', 'info', 'safe_bash']], [['audit', 'tail']]])(
    'answers %j with one line and exit code 69 if no daemon has ever run',
    async (words) => {
      const { code, out, err } = await ctxd(...words);
      expect(code).toBe(69);
      if (words.includes('--json')) expect(JSON.parse(out).error.code).toBe('DAEMON_UNAVAILABLE');
      else expect(out).toBe('');
      expect(err).toMatch(/^ctxd: no daemon .*`ctxd server start`\.\n$/);
    },
  );

  it('FR-9.4 runs a tool only in a project', async () => {
    expect(await ctxd('tool', 'run', 'safe_bash')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not in a project of contextd. Run `ctxd init`'),
    });
  });

  it('FR-9.1 reports that there is nothing to stop if no daemon runs', async () => {
    expect(await ctxd('server', 'stop')).toEqual({ code: 0, out: 'no daemon is running\n', err: '' });
    expect(JSON.parse((await ctxd('server', 'stop', '--json')).out)).toEqual({
      stopped: false,
      pid: null,
      active_calls: 0,
      ended_calls: 0,
      ended_jobs: 0,
      terminated: false,
    });
  });

  it('prints the log as lines and as one JSON value', async () => {
    await put('c/state/daemon.log', '{"level":30,"event":"a"}\nnot JSON\n{"event":"b"}\n');
    expect((await ctxd('server', 'logs', '-n', '2')).out).toBe('not JSON\n{"event":"b"}\n');
    expect(JSON.parse((await ctxd('server', 'logs', '--json')).out)).toEqual([
      { level: 30, event: 'a' },
      'not JSON',
      { event: 'b' },
    ]);
  });

  it('rejects its own directories as a project before it starts a daemon', async () => {
    const answer = await ctxd('init', join(base, 'home'));
    expect(answer).toMatchObject({ code: 2, out: '', err: expect.stringContaining('it is your home directory') });
    expect(await readdir(base)).toEqual(['home', 'project']);
  });
});

describe('ctxd config', () => {
  const file = () => join(base, 'c', 'config', 'config.json');

  it('FR-9.6 sets a setting, mode 0600, and says that the daemon must be restarted', async () => {
    const set = await ctxd('config', 'set', 'budget.default_tokens', '1500');
    expect(set).toMatchObject({ code: 0, err: '', out: expect.stringContaining('ctxd server restart') });
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({ budget: { default_tokens: 1500 } });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(file()))).toEqual(['config.json']);
    expect(await ctxd('config', 'get', 'budget.default_tokens')).toEqual({ code: 0, out: '1500\n', err: '' });
    expect(JSON.parse((await ctxd('config', 'get', 'budget', '--json')).out)).toMatchObject({
      default_tokens: 1500,
      max_tokens: 20000,
    });
  });

  it('FR-9.6 accepts plain text and lists, and keeps the other settings of the file', async () => {
    await put('c/config/config.json', '{"$schema":"x","log":{"level":"warn"}}');
    await ctxd('config', 'set', 'log.level', 'debug');
    await ctxd('config', 'set', 'sandbox.ro_paths', '["/opt/x"]');
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({
      $schema: 'x',
      log: { level: 'debug' },
      sandbox: { ro_paths: ['/opt/x'] },
    });
  });

  it.each([
    ['timeout.max_ms', '99999999', 'cannot set timeout.max_ms to 99999999: it must be a whole number'],
    ['log.level', 'loud', 'cannot set log.level to "loud": it must be'],
    ['budget.default_tokens', '30000', 'cannot set budget.default_tokens to 30000'],
    ['sandbox.deny', '["../x"]', 'cannot set sandbox.deny to ["../x"]: it must be'],
    ['scrub.seeds', 'null', 'cannot set scrub.seeds to null: it must be true or false'],
  ])('FR-9.6 refuses %s = %s and leaves the file unchanged', async (key, value, message) => {
    expect(await ctxd('config', 'set', key, value)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    await expect(readFile(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('FR-9.6 returns a setting to its default', async () => {
    await put('c/config/config.json', '{"sandbox":{"cpus":1.5},"log":{"level":"debug","$other":1}}');
    expect(await ctxd('config', 'unset', 'log.level')).toMatchObject({ code: 1 });
    await put('c/config/config.json', '{"sandbox":{"cpus":1.5},"log":{"level":"debug"}}');
    expect((await ctxd('config', 'unset', 'log.level')).out).toContain('log.level has its default again: "info"');
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({ sandbox: { cpus: 1.5 } });
    expect((await ctxd('config', 'unset', 'log.level')).out).toBe('log.level was not set; its default is "info"\n');
    expect((await ctxd('config', 'unset', 'log.size')).err).toContain('there is no setting "log.size"');
  });

  it('FR-9.6 replaces ~ in paths by the home directory', async () => {
    expect((await ctxd('config', 'set', 'sandbox.ro_paths', '~/.nvm')).code).toBe(0);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({ sandbox: { ro_paths: [join(base, 'home/.nvm')] } });
    expect((await ctxd('config', 'set', 'sandbox.ro_paths', '["~/a","/opt/~b"]')).code).toBe(0);
    expect(JSON.parse(await readFile(file(), 'utf8')).sandbox.ro_paths).toEqual([join(base, 'home/a'), '/opt/~b']);
  });

  it('FR-9.6 names the fault of an invalid file and does not suggest removing it', async () => {
    await put('c/config/config.json', '{"log":{"level":7}}');
    const { code, err } = await ctxd('config', 'set', 'budget.default_tokens', '1000');
    expect(code).toBe(1);
    expect(err).toMatch(/\/log\/level .*but is 7/);
    expect(err).not.toMatch(/remove/i);
  });

  it('SEC-1.1 hides the values of tools.env in lists and echoes, and prints them when they are asked for', async () => {
    const value = '{"CITY_API":"https://api.example.com/key"}';
    const set = await ctxd('config', 'set', 'tools.env', value);
    const lists = [
      await ctxd('config', 'list'),
      await ctxd('config', 'list', '--json'),
      await ctxd('config', 'get'),
      set,
    ];
    for (const { code, out } of lists) {
      expect(code).toBe(0);
      expect(out).toContain('CITY_API');
      expect(out).toContain('(hidden)');
      expect(out).not.toContain('api.example.com');
    }
    expect((await ctxd('config', 'get', 'tools.env')).out).toContain('api.example.com');
  });

  it('FR-9.6 lists every setting with the source of its value', async () => {
    await put('c/config/config.json', '{"sandbox":{"cpus":1.5}}');
    const { settings } = JSON.parse((await ctxd('config', 'list', '--json')).out);
    expect(settings).toContainEqual({ key: 'sandbox.cpus', value: 1.5, from: 'file' });
    expect(settings).toContainEqual({ key: 'log.level', value: 'info', from: 'default' });
    expect((await ctxd('config', 'list')).out).toContain('log.level\t"info"\tdefault\n');
  });
});

describe('ctxd doctor', () => {
  it('fails with a remedy for every missing component', async () => {
    const { code, out } = await ctxd('doctor', '--json');
    expect(code).toBe(1);
    const { healthy, checks } = JSON.parse(out);
    expect(healthy).toBe(false);
    for (const name of ['daemon', 'socket', 'certificates']) {
      expect(checks).toContainEqual(
        expect.objectContaining({ name, status: 'fail', remedy: expect.stringContaining('ctxd server') }),
      );
    }
    expect(checks).toContainEqual(expect.objectContaining({ name: 'configuration', status: 'ok' }));
    expect((await ctxd('doctor')).out).toMatch(/^fail {2}daemon: no daemon /m);
  });

  it('names client settings that look right but do not work', async () => {
    await put('project/.claude/tools/x', '');
    await put(
      'project/.claude/settings.json',
      '// mine\n{"permissions":{"allow":["Bash(.claude/tools/*:*)"],},"sandbox":{"enabled":true}}',
    );
    await put('project/.claude/settings.local.json', '{ broken');
    const details = async () =>
      (await checkClientSettings(createWorld())).map(({ status, detail }) => `${status} ${detail}`);
    const expected = [
      `warn ${base}/project/.claude/settings.local.json is not JSON`,
      `warn Bash(.claude/tools/*:*) in ${base}/project/.claude/settings.json never matches`,
    ];
    const sandboxed = `warn ${base}/project/.claude/settings.json turns Claude Code's sandbox on: the tools cannot reach the daemon from inside it`;
    expect(await details()).toEqual([...expected, sandboxed]);
    await put('home/.claude/settings.json', '{"sandbox":{"excludedCommands":[".claude/tools/*"]}}');
    expect(await details()).toEqual([...expected, sandboxed]);
    await put('home/.claude/settings.json', '{"sandbox":{"excludedCommands":["safe_bash *"]}}');
    expect(await details()).toEqual(expected);
  });

  it('issue 28: names rules that allow more than contextd made, until they are deleted', async () => {
    await put('project/.claude/tools/x', '');
    const WIDE = ['Bash(.claude/tools/*)', 'Bash(jobs *)', 'Bash(/srv/shop/.claude/bin/*)', 'Bash(jobs:*)'];
    const FINE = ['Bash(.claude/tools/safe_bash/safe_bash *)', 'Bash(safe_jobs *)', 'Bash(ls *)'];
    await put('home/.claude/settings.json', JSON.stringify({ permissions: { allow: [...WIDE, ...FINE] } }));
    const checks = await checkClientSettings(createWorld());
    expect(checks.map(({ detail }) => detail.split(' in ')[0])).toEqual(WIDE);
    for (const { status, remedy } of checks)
      expect([status, remedy]).toEqual(['warn', expect.stringMatching(/^Delete it\./)]);
    await put('home/.claude/settings.json', JSON.stringify({ permissions: { allow: FINE } }));
    expect(await checkClientSettings(createWorld())).toMatchObject([{ status: 'ok' }]);
  });

  it('issue 28: reports a client that is older than every version that was tried, and its remedy', async () => {
    const document = await readFile(join(import.meta.dirname, '../../../docs/clients.md'), 'utf8');
    for (const { client, program, oldest, update } of OLDEST_CLIENTS) {
      expect(document).toContain(`${client} ${oldest}`);
      const newest = '99.0.0';
      const script = (version: string) =>
        `#!/bin/sh\ncase $1 in --version) echo '${version} (of a test)';; update|upgrade) echo '#!/bin/sh' >"$0"; echo 'echo ${newest}' >>"$0";; esac\n`;
      const world = createWorld();
      const path = `${join(base, 'clients')}:/usr/bin:/bin`;
      const context = { ...world, env: { ...world.env, path } };
      for (const version of ['2.1.100', '1.18.32', '0.99.999']) {
        await put(`clients/${program}`, script(version), 0o755);
        const [check] = await checkClientVersions(context);
        const isOld = program === 'opencode' ? version !== '2.1.100' : true;
        expect(check, version).toMatchObject({
          status: isOld ? 'warn' : 'ok',
          detail: expect.stringContaining(version),
        });
      }
      const [check] = await checkClientVersions(context);
      expect(check?.remedy).toBe(`Run \`${update}\`.`);
      spawnSync('/bin/sh', ['-c', update], { env: { PATH: path } });
      expect(await checkClientVersions(context)).toEqual([
        { name: 'client version', status: 'ok', detail: `${client} ${newest}`, remedy: '' },
      ]);
      await put(`clients/${program}`, script(oldest), 0o755);
      expect(await checkClientVersions(context)).toMatchObject([{ status: 'ok' }]);
      await rm(join(base, 'clients', program));
      expect(await checkClientVersions(context)).toEqual([]);
    }
  });

  it('compares the proxy with the installed version and recognises the Node script', async () => {
    const world = createWorld(join(base, 'opt'));
    expect(await checkProxy(world)).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('is missing or does not run'),
    });
    await put('opt/bin/contextd-proxy', '#!/bin/sh\necho contextd-proxy 0.0.1\n', 0o755);
    expect(await checkProxy(world)).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('installed is 1.2.3'),
    });
    await put('opt/bin/contextd-proxy', '#!/bin/sh\necho contextd-proxy 1.2.3\n', 0o755);
    expect(await checkProxy(world)).toMatchObject({ status: 'warn', detail: expect.stringContaining('run by Node') });
  });

  it('reports a file at the path of the socket', async () => {
    await put('c/run/contextd.sock', '');
    expect(await checkSocket(createWorld())).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('is not a socket'),
    });
    await expect(checkCertificates(createWorld())).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
  });
});

describe('the input of ctxd tool run', () => {
  const read = async (argument: string, limit = 100) => (await readInput(argument, createWorld(), limit)).toString();

  it('is JSON, a file or standard input', async () => {
    await put('project/in.json', '{"from":"file"}');
    expect(await read('{"a":1}')).toBe('{"a":1}');
    expect(await read('@in.json')).toBe('{"from":"file"}');
    expect(await read('-')).toBe('{"from":"stdin"}');
  });

  it('is limited in size, and rejects a file that cannot be read', async () => {
    await put('project/big', 'x'.repeat(101));
    await symlink('/nowhere', join(base, 'project', 'broken'));
    for (const argument of ['@big', 'x'.repeat(101)])
      await expect(read(argument)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    for (const argument of ['@broken', '@.'])
      await expect(read(argument)).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });
});
