import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '#src/cli/program.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { processesWith } from '../fixtures/sandbox-harness.ts';
import { appears } from '../helpers/appears.ts';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate } from '../helpers/sample-patterns.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install({ settings: { 'jobs.per_session': '3' } });
  daemon = await openCaller(at, 'jobs');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;
const jobs = (action: string, job?: number, more: object = {}) =>
  call('jobs', { action, ...(job === undefined ? {} : { job }), ...more });

/** Starts a job and returns its number. */
async function start(command: string, more: object = {}): Promise<number> {
  const { data, error } = await call('safe_bash', { command, background: true, ...more });
  expect(error).toBeNull();
  return Number(data.job);
}

async function stopAll(): Promise<void> {
  const { data } = await jobs('list');
  const listed = data.jobs as { job: number; state: string }[];
  for (const { job, state } of listed) if (state === 'running') await jobs('stop', job);
}

describe('a background job', () => {
  it('answers at once, prints into an artifact that grows, and ends with its exit code', async () => {
    const job = await start('echo one; echo two >&2; read; echo three; exit 3');
    const first = await jobs('wait', job, { text: '^two$' });
    expect(first.data).toMatchObject({ job, state: 'running', matched: true, line: 2, output: 'one\ntwo\n' });
    await jobs('input', job, { text: '', eof: true });
    const last = await jobs('wait', job);
    expect(last.data).toMatchObject({ job, state: 'ended', exit_code: 3, exited_with: 3, output: 'one\ntwo\nthree\n' });
    expect(last.refs).toEqual(first.refs);
    const grep = await call('tool_view', { ref: last.refs[0], view: { grep: 'three' } });
    expect(grep.data.output).toBe('3:three\n');
  });

  it('ends a wait when it waits for input itself, and says which program does', async () => {
    const job = await start('echo asking; cat');
    const waited = await jobs('wait', job, { text: 'never printed' });
    expect(waited.data).toMatchObject({ state: 'running', matched: false, doing: 'cat waits for input' });
    await jobs('input', job, { eof: true });
    expect((await jobs('wait', job)).data).toMatchObject({ state: 'ended', exit_code: 0 });
  });

  it('is a dialogue on a terminal: shows the screen without codes, takes lines and Ctrl-D', async () => {
    const job = await start('node -i', { tty: true });
    await jobs('wait', job, { text: '^> $' });
    await jobs('input', job, { text: '"4" + "2"' });
    const answered = await jobs('wait', job, { text: "^'42'$" });
    expect(answered.data).toMatchObject({ matched: true });
    expect(answered.data.output).not.toContain('\u001b');
    await jobs('input', job, { eof: true });
    expect((await jobs('wait', job)).data).toMatchObject({ state: 'ended', exit_code: 0 });
  });

  it('on a terminal masks a secret that the terminal wrapped', async () => {
    const secret = generate('ghp_[a-zA-Z0-9]{36}', seededRandom(14));
    const job = await start(
      `printf '%100s' ''; printf 'GITHUB_TOKEN=%s%s' ${secret.slice(0, 20)} ${secret.slice(20)}; echo`,
      {
        tty: true,
      },
    );
    const { data } = await jobs('wait', job);
    expect(data.output).toContain('[SECRET_');
    expect(JSON.stringify(data.output)).not.toContain(secret.slice(-10));
  });

  it('continues a page while the output grows behind it', async () => {
    const job = await start('seq 3000; read; echo more');
    await jobs('wait', job, { text: '^3000$' });
    const head = await jobs('show', job, { view: 'head', max_tokens: 500 });
    await jobs('input', job, { text: 'go' });
    await jobs('wait', job);
    const continuation = head.meta.pagination?.cursor;
    const page = await call('jobs', { continuation, max_tokens: 20_000 });
    const shown = String(head.data.output);
    const lastShown = Number(/(\d+)\n[^\d]*$/.exec(`${shown.slice(0, shown.indexOf('\n…'))}\n`)?.[1]);
    expect(String(page.data.output).split('\n')[0]).toBe(String(lastShown + 1));
  });

  it('goes on behind the line that the last wait for the same pattern found', async () => {
    const job = await start('echo built 1; while read x; do echo "built $x"; done');
    expect((await jobs('wait', job, { text: 'built' })).data).toMatchObject({ matched: true, line: 1 });
    await jobs('input', job, { text: '2' });
    expect((await jobs('wait', job, { text: 'built' })).data).toMatchObject({ matched: true, line: 2 });
    const late = await jobs('wait', job, { text: 'built', timeout_ms: 300 });
    expect(late.data).toMatchObject({ matched: false, state: 'running' });
    await stopAll();
  });

  it('shows a prompt, which has no line end', async () => {
    const job = await start(`printf 'Continue? [y/N] '; read a; echo "said $a"`);
    expect((await jobs('wait', job, { text: '\\[y/N\\]' })).data).toMatchObject({ matched: true });
    await jobs('input', job, { text: 'y' });
    expect((await jobs('wait', job)).data.output).toBe('Continue? [y/N] said y\n');
  });

  it('takes signals and a stop, which ends everything it started', async () => {
    const job = await start('trap "echo hup" HUP; echo up; while :; do sleep 0.1; done');
    await jobs('wait', job, { text: '^up' });
    await jobs('signal', job, { text: 'hup' });
    expect((await jobs('wait', job, { text: '^hup' })).data.matched).toBe(true);
    const seconds = `7${Math.floor(Math.random() * 1e9)}`;
    const stubborn = await start(`trap '' TERM; setsid sleep ${seconds} & echo up; while :; do sleep 0.1; done`);
    await jobs('wait', stubborn, { text: '^up' });
    const stopped = await jobs('stop', job);
    expect(stopped.data).toMatchObject({ state: 'ended', ended_by: 'stopped' });
    const [kill] = await Promise.all([jobs('stop', stubborn, { timeout_ms: 2_000 })]);
    expect(kill.data).toMatchObject({ state: 'ended', ended_by: 'stopped' });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect((await jobs('input', job, { text: 'x' })).data.error_code).toBe('CONFLICT');
  });

  it('is refused past the limit, with the jobs that run and how to stop one', async () => {
    const first = await start('sleep 600');
    await Promise.all([start('sleep 600'), start('sleep 600')]);
    const { data, error } = await call('safe_bash', { command: 'sleep 600', background: true });
    expect(data).toMatchObject({ error_code: 'RESOURCE_LIMIT', details: { limit: 'jobs.per_session' } });
    expect(`${error} ${data.remediation}`).toContain(`"job":${first}`);
    const listed = (await jobs('list')).data.jobs as { state: string; command: string }[];
    expect(listed.filter(({ state }) => state === 'running').map(({ command }) => command)).toEqual(
      Array.from({ length: 3 }, () => 'sleep 600'),
    );
    await stopAll();
  });

  it('reports wrong arguments and unknown jobs', async () => {
    expect((await jobs('explode', 1)).data.error_code).toBe('ARGS_INVALID');
    expect((await jobs('show')).data.error_code).toBe('ARGS_INVALID');
    expect((await jobs('show', 999)).data.error_code).toBe('NOT_FOUND');
    const job = await start('cat');
    expect((await jobs('signal', job, { text: 'NOPE' })).data.error_code).toBe('ARGS_INVALID');
    expect((await jobs('wait', job, { text: '(' })).data.error_code).toBe('ARGS_INVALID');
    await stopAll();
  });
});

describe('secrets in the output of a job', () => {
  const random = seededRandom(20_261_122);

  it('SEC-1.1 are masked although they arrive in two parts, and no file ever holds one', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', random);
    writeFileSync(join(at.project, 'half'), secret.slice(0, 20));
    writeFileSync(join(at.project, 'rest'), secret.slice(20));
    const job = await start('echo begin; printf "token "; cat half; read; cat rest; echo; echo end; read');
    const early = await jobs('wait', job, { text: 'token' });
    expect(early.data).toMatchObject({ matched: true, held_bytes: 20 });
    expect(JSON.stringify(early)).not.toContain(secret.slice(0, 12));
    await jobs('input', job, { text: 'go' });
    const later = await jobs('wait', job, { text: '^end' });
    expect(later.data.output).toMatch(/^begin\ntoken \[SECRET_\d+\]\nend\n$/);
    await jobs('stop', job);
    expect(at.filesHolding(secret)).toEqual([]);
  });

  it('SEC-1.1 are held back as a key block until its end has come', async () => {
    const body = Array.from({ length: 12 }, () => generate('[A-Za-z0-9+/]{64}', random));
    const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} RSA PRIVATE KEY-----`);
    writeFileSync(join(at.project, 'key-1'), [begin, ...body.slice(0, 6), ''].join('\n'));
    writeFileSync(join(at.project, 'key-2'), [...body.slice(6), end, ''].join('\n'));
    const job = await start('echo before; cat key-1; read; cat key-2; echo after; read');
    const early = await jobs('wait', job, { text: 'before' });
    expect(early.data.output).toBe('before\n');
    await jobs('input', job, { text: 'go' });
    const later = await jobs('wait', job, { text: 'after' });
    expect(later.data.output).toMatch(/^before\n\[SECRET_\d+\]\nafter\n$/);
    for (const line of body) expect(at.filesHolding(line)).toEqual([]);
    await stopAll();
  });

  it('SEC-1.1 are masked in earlier parts too once they are known', async () => {
    const secret = generate('[a-z]{4}-[a-z0-9]{14}', random);
    writeFileSync(join(at.project, 'plain'), `${secret}\n`);
    writeFileSync(join(at.project, 'named'), `password = "${secret}"\n`);
    const job = await start('cat plain; read; cat named; read');
    await jobs('wait', job, { text: '.' });
    await jobs('input', job, { text: 'go' });
    const both = await jobs('wait', job, { text: 'password' });
    expect(both.data.matched).toBe(true);
    const whole = await jobs('show', job);
    expect(String(whole.data.output)).toMatch(/^\[SECRET_(\d+)\]\npassword = "\[SECRET_\1\]"\n$/);
    await stopAll();
  });

  it('cannot be guessed with the pattern of a wait', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', random);
    writeFileSync(join(at.project, 'token'), `${secret}\n`);
    const job = await start('cat token; echo "== end"; read');
    const end = await jobs('wait', job, { text: '== end' });
    expect(end.data).toMatchObject({ matched: true });
    const guess = await jobs('wait', job, { text: secret.slice(0, 8), timeout_ms: 300 });
    expect(guess.data.matched).toBe(false);
    await stopAll();
  });
});

describe('files that a job leaves', () => {
  /** How many of the answers report the path. */
  const reports = (path: string, answers: readonly { meta: object }[]) =>
    answers.filter(({ meta }) => JSON.stringify(meta).includes(`${path} was set aside`)).length;

  it('are set aside while it runs, and reported once, by an answer of its session', async () => {
    const job = await start('mkdir -p sub/.vscode; echo "{}" >sub/.vscode/tasks.json; echo made; read');
    const answers: { meta: object }[] = [await jobs('wait', job, { text: 'made' })];
    // The search at the end of a call may find it when the answer of that call is made already.
    const reported = async (): Promise<number> => {
      answers.push(await call('safe_bash', { command: 'true' }));
      return reports('sub/.vscode', answers);
    };
    await expect.poll(reported).toBe(1);
    expect(existsSync(join(at.project, 'sub/.vscode'))).toBe(false);
    answers.push(await jobs('stop', job), await jobs('list'));
    expect(reports('sub/.vscode', answers)).toBe(1);
  });

  it('are reported at its end', async () => {
    const job = await start('read; mkdir -p late/.vscode; echo "{}" >late/.vscode/tasks.json');
    const answers = [await jobs('input', job, { text: 'go' }), await jobs('wait', job)];
    expect(reports('late/.vscode', [...answers, await jobs('list')])).toBe(1);
  });
});

describe('the tool jobs', () => {
  it('lists the jobs, those that run first, if it is called by its name alone', async () => {
    const job = await start('sleep 600');
    const { stdout } = await at.run(join(at.project, '.claude/tools/jobs/jobs'), [], {
      env: { CONTEXTD_SESSION_ID: 'jobs' },
    });
    expect(stdout).toMatch(new RegExp(`^job=${job} state=running`));
    await jobs('stop', job);
  });
});

describe('a tool whose schema requires nothing', () => {
  it.each(['memory_search', 'checkpoint_list', 'session_init'])('answers to its name alone: %s', async (tool) => {
    expect(await at.run(join(at.project, `.claude/tools/${tool}/${tool}`), [])).toMatchObject({ code: 0 });
  });

  it('says what is missing if it needs one of several', async () => {
    const { code, stderr } = await at.run(join(at.project, '.claude/tools/safe_read/safe_read'), []);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Pass "path" or "paths"')]);
  });
});

describe('a person', () => {
  const json = async (...words: string[]) => JSON.parse((await at.run(CTXD, [...words, '--json'])).stdout);

  it('sees jobs and calls with `ctxd ps`, scrubbed, and ends them with `ctxd kill`', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', seededRandom(7));
    const job = await start(`: ${secret}; echo up; sleep 600`);
    await jobs('wait', job, { text: 'up' });
    const ready = appears(at.project, 'running');
    const running = call('safe_bash', { command: 'touch running; sleep 600', timeout_ms: 60_000 });
    await ready;
    const { items } = await json('ps');
    expect(items.map(({ kind }: { kind: string }) => kind)).toEqual(['job', 'call']);
    expect(items[0]).toMatchObject({ job, project: at.project, session: 'jobs', tool: 'safe_bash' });
    expect(items[0].memory_bytes).toBeGreaterThan(0);
    expect(JSON.stringify(items)).not.toContain(secret);
    await json('kill', items[1].id);
    expect((await running).error).toContain('a person ended the call');
    await json('kill', items[0].id.slice(-6));
    expect((await jobs('show', job)).data).toMatchObject({
      state: 'ended',
      ended_by: 'killed',
      error: expect.stringContaining('a person ended it with ctxd kill'),
    });
    expect((await json('ps')).items).toEqual([]);
    expect((await at.run(CTXD, ['kill', 'job_none'])).stderr).toContain('ctxd ps');
  });

  it('ends a session with its jobs by `ctxd session end --hook`', async () => {
    const other = await openCaller(at, 'hooked');
    const seconds = `7${Math.floor(Math.random() * 1e9)}`;
    await other.call('safe_bash', { command: `exec sleep ${seconds}`, background: true });
    const kept = await start('sleep 600');
    const input = JSON.stringify({ session_id: 'hooked', cwd: join(at.project, '.claude'), reason: 'exit' });
    const ended = await at.run(CTXD, ['session', 'end', '--hook', '--json'], { input });
    expect(JSON.parse(ended.stdout)).toEqual({ root: at.project, session: 'hooked', ended: true });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect((await other.call('jobs', { action: 'list' })).envelope.data.jobs).toEqual([]);
    expect((await jobs('show', kept)).data.state).toBe('running');
    other.close();
    await stopAll();
  });
});

describe('the record of a job', () => {
  const records = async () =>
    JSON.parse((await at.run(CTXD, ['audit', 'tail', '-n', '100', '--json'])).stdout) as Record<string, unknown>[];

  it('has its start and its end, and INTERRUPTED if the daemon died', async () => {
    const done = await start('echo recorded; exit 4');
    await jobs('wait', done);
    expect((await records()).find(({ job }) => job === done)).toMatchObject({
      tool: 'safe_bash',
      exit_code: 4,
      error_code: null,
      began: true,
      door: 'job',
      input: { command: 'echo recorded; exit 4', background: true },
    });
    const lost = await start('echo up; sleep 600');
    const { refs } = await jobs('wait', lost, { text: 'up' });
    expect((await records()).find(({ job }) => job === lost)).toMatchObject({ kind: 'started', error_code: null });
    const { pid } = await at.status();
    const gone = watchEnd(pid);
    process.kill(pid, 'SIGKILL');
    await gone;
    await at.run(CTXD, ['server', 'start']);
    expect((await records()).find(({ job }) => job === lost)).toMatchObject({ error_code: 'INTERRUPTED', began: true });
    daemon.close();
    daemon = await openCaller(at, 'jobs');
    // Once, with the output as far as it was looked at.
    expect((await jobs('list')).data.jobs).toEqual([
      { job: lost, state: 'interrupted', age_s: expect.any(Number), command: 'echo up; sleep 600', output: refs[0] },
    ]);
    expect((await daemon.call('tool_view', { ref: refs[0] })).envelope.data).toMatchObject({ output: 'up\n' });
    expect((await jobs('list')).data.jobs).toEqual([]);
    for (const action of ['show', 'wait']) {
      const shown = await jobs(action, lost);
      expect(shown.refs).toEqual(refs);
      expect(shown.data).toMatchObject({
        job: lost,
        state: 'interrupted',
        command: 'echo up; sleep 600',
        output: 'up\n',
      });
    }
    expect(await jobs('stop', lost)).toMatchObject({ success: false, data: { error_code: 'CONFLICT' } });
    expect(await jobs('show', lost + 1)).toMatchObject({ success: false, data: { error_code: 'NOT_FOUND' } });
    expect(await start('true')).toBe(lost + 1);
  });

  it('FR-4.1 is listed once after a stop too, and not if its session has ended', async () => {
    const stop = async (): Promise<void> => {
      daemon.close();
      for (const act of ['stop', 'start']) expect(await at.run(CTXD, ['server', act])).toMatchObject({ code: 0 });
      daemon = await openCaller(at, 'jobs');
    };
    const lost = await start('exec sleep 600');
    await stop();
    const listed = (await jobs('list')).data.jobs as { job: number; state: string }[];
    expect(listed.map(({ job, state }) => ({ job, state }))).toEqual([{ job: lost, state: 'interrupted' }]);
    expect((await jobs('list')).data.jobs).toEqual([]);
    await start('exec sleep 600');
    await stop();
    expect(await at.run(CTXD, ['session', 'end', '--session', 'jobs'])).toMatchObject({ code: 0 });
    expect((await jobs('list')).data.jobs).toEqual([]);
  });
});

/** Resolves when the process is gone. */
async function watchEnd(pid: number): Promise<void> {
  const { spawn } = await import('node:child_process');
  await once(spawn('tail', ['--pid', String(pid), '-s', '0.05', '-f', '/dev/null']), 'exit');
  expect(existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') S ')).toBe(false);
}

describe('the end of the daemon', () => {
  /** At a terminal at which a person gives this answer. */
  async function stopAtTerminal(answer: string): Promise<{ code: number; asked: string }> {
    const env = readEnvironment({ HOME: at.home, CONTEXTD_HOME: at.home, PATH: '/usr/bin:/bin' });
    const stderr = new PassThrough();
    const asked = text(stderr);
    const code = await runCli(['server', 'stop'], {
      env,
      stderr,
      version: '1',
      cwd: at.project,
      signal: new AbortController().signal,
      stdin: Object.assign(Readable.from([`${answer}\n`]), { isTTY: true }),
      stdout: new PassThrough(),
      paths: resolvePaths(env, findInstallRoot()),
    });
    stderr.end();
    return { code, asked: await asked };
  }

  it('asks a person at a terminal before it ends background jobs, and says how many it ended', async () => {
    await stopAll();
    const job = await start('sleep 600; true asked-for');
    const { code, asked } = await stopAtTerminal('n');
    expect(code).not.toBe(0);
    expect(asked).toContain('asked-for');
    expect(asked).toContain('the daemon keeps running, with 1 job');
    expect((await jobs('show', job)).data).toMatchObject({ state: 'running' });
    const { stdout } = await at.run(CTXD, ['server', 'stop']);
    expect(stdout).toContain('1 background job ended with it');
  });
});
