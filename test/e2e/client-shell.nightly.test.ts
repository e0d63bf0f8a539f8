import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appears } from '../helpers/appears.ts';
import { codexWrapped, geminiWrapped } from '../helpers/client-wrappers.ts';
import { CTXD, type Installation, install, PROXY } from '../helpers/installation.ts';

const CLAUDE = { CLAUDECODE: '1' };
const OPENCODE = { OPENCODE: '1', AGENT: '1' };
const CODEX = { CODEX_THREAD_ID: 'a-thread', CODEX_CI: '1' };
const GEMINI = { GEMINI_CLI: '1' };

let one: Installation;
let shell: string;
/** On the host, outside the project: nothing in a sandbox can write there. */
let outside: string;
beforeAll(async () => {
  one = await install({ warm: true });
  expect((await one.run(CTXD, ['init', '--shell'])).code).toBe(0);
  shell = join(one.project, '.claude/tools/safe_bash/contextd-sh');
  outside = mkdtempSync(join(tmpdir(), 'outside-'));
  mkdirSync(join(one.project, 'lib'));
});
afterAll(async () => {
  rmSync(outside, { recursive: true, force: true });
  await one?.remove();
});

const run = (words: readonly string[], options: Parameters<Installation['runProcess']>[2] = {}) =>
  one.runProcess(shell, words, options);

/** As Claude Code wraps a command, with the file from which it reads where the command ended. */
function wrapped(command: string, file: string): string {
  return `shopt -u extglob 2>/dev/null || true && eval '${command.replaceAll("'", `'"'"'`)}' < /dev/null && pwd -P >| ${file}`;
}

describe('issue 35 part 1: contextd-sh', () => {
  it('runs a command in the sandbox, with its status, and streams apart if the client keeps them apart', async () => {
    const { code, stdout, stderr } = await run(['-c', 'echo out; echo err >&2; pwd; exit 3']);
    expect([code, stdout.split('\n').slice(0, 2), stderr]).toEqual([3, ['out', one.project], 'err\n']);
    expect(await run(['-lc', 'kill -TERM $$'])).toMatchObject({ code: 143 });
    expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^contextd-sh: the shell /) });
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringContaining('GNU bash') });
    const { stdout: records } = await one.run(CTXD, ['audit', 'tail', '--json']);
    expect(JSON.parse(records)).toContainEqual(
      expect.objectContaining({ door: 'shell', tool: 'safe_bash', input: { command: 'kill -TERM $$' } }),
    );
  });

  it('keeps the order of both streams if they are one file, or if the client joins them', async () => {
    const script = 'for i in 1 2 3; do echo out$i; echo err$i >&2; done';
    const lines = 'out1\nerr1\nout2\nerr2\nout3\nerr3\n';
    const file = join(outside, 'both');
    const descriptor = openSync(file, 'w');
    const env = { ...one.environment, ...CLAUDE };
    spawnSync(shell, ['-c', script], { cwd: one.project, env, stdio: ['ignore', descriptor, descriptor] });
    expect(readFileSync(file, 'utf8')).toBe(lines);
    expect(await run(['-c', script], { env: OPENCODE })).toMatchObject({ stdout: lines, stderr: '' });
  });

  it('masks secrets, and prints nothing of its own if nothing is cut', async () => {
    const token = `ghp_${'aB3dE5fG7hJ9'.repeat(3)}`;
    writeFileSync(join(one.project, 'lib/token.txt'), `${token}\n`);
    const seen = await run(['-c', 'cat lib/token.txt; false'], { env: { CONTEXTD_SESSION_ID: 'masks' } });
    expect(`${seen.stdout}${seen.stderr}`).not.toContain(token);
    // How a person takes a mask back is nothing that the agent could act on.
    expect(seen).toMatchObject({ code: 1, stdout: '[SECRET_1]\n', stderr: '' });
    const plain = await run(['-c', 'echo a > lib/new; cat lib/new; exit 4'], { env: { CONTEXTD_SESSION_ID: 'plain' } });
    expect(plain).toMatchObject({ code: 4, stdout: 'a\n', stderr: '' });
  });

  it('starts where the client stands, and says Claude Code where the command ended after a success', async () => {
    const file = join('/tmp', `claude-${process.pid}-cwd`);
    const at = (command: string, cwd = one.project) => run(['-c', wrapped(command, file)], { cwd, env: CLAUDE });
    try {
      expect(await at("cd lib; echo 'it'\"'\"'s'")).toMatchObject({ code: 0, stdout: "it's\n", stderr: '' });
      expect(readFileSync(file, 'utf8')).toBe(`${one.project}/lib\n`);
      expect(await at('pwd; cd ..; false', join(one.project, 'lib'))).toMatchObject({
        code: 1,
        stdout: `${one.project}/lib\n`,
      });
      expect(readFileSync(file, 'utf8')).toBe(`${one.project}/lib\n`);
      expect((await at('cd /tmp')).stderr).toBe(
        `[contextd the next command starts in ${one.project}: /tmp is outside the project]\n`,
      );
      expect(readFileSync(file, 'utf8')).toBe(`${one.project}\n`);
    } finally {
      rmSync(file, { force: true });
    }
  });

  it('runs a script from stdin, passes on a file as input, and runs what it does not know inside as it stands', async () => {
    expect(await run([], { input: 'echo "$((1+1))"\n' })).toMatchObject({ code: 0, stdout: '2\n' });
    expect(await run(['-s'], { input: 'pwd' })).toMatchObject({ stdout: `${one.project}\n` });
    expect(await run(['-o', 'pipefail', '-c', 'false | true'])).toMatchObject({ code: 1 });
    expect(await run(['-c', 'echo "$0 $1"', 'name', 'argument'])).toMatchObject({ stdout: 'name argument\n' });
    writeFileSync(join(one.project, 'lib/script.sh'), 'echo "script $1"\n');
    expect(await run(['lib/script.sh', 'x'])).toMatchObject({ stdout: 'script x\n' });
    writeFileSync(join(one.project, 'lib/input'), 'from a file\n');
    const stdin = openSync(join(one.project, 'lib/input'), 'r');
    const { stdout } = spawnSync(shell, ['-c', 'cat'], {
      cwd: one.project,
      env: one.environment,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    expect(String(stdout)).toBe('from a file\n');
  });

  it('FR-4.1: takes from a pipe or a file only what its command may read, and records no more', async () => {
    const env = { ...one.environment, CONTEXTD_SESSION_ID: 'stdin' };
    const at = (script: string) =>
      spawnSync('bash', ['-c', script, shell], { cwd: one.project, env, encoding: 'utf8', timeout: 60_000 }).stdout;
    const loop = (command: string) => `while read -r x; do "$0" -c '${command}'; done`;
    expect(at(`printf '1\\n2\\n' | ${loop('echo ran; true')}`)).toBe('ran\nran\n');
    writeFileSync(join(one.project, 'lib/lines'), 'unread-1\nunread-2\n');
    expect(at(`${loop('echo ran')} < lib/lines`)).toBe('ran\nran\n');
    expect(at(`printf 'unread-3' | { "$0" -c 'cd lib && ls lines'; cat; }`)).toBe('lines\nunread-3');
    expect(at(`printf 'a\\nb\\n' | "$0" -c 'cat'`)).toBe('a\nb\n');
    expect(at(`printf 'a\\nb\\n' | "$0" -c 'read -r x; echo "<$x>"'`)).toBe('<a>\n');
    expect(at(`printf 'print(1+1)' | "$0" -c 'python3 -'`)).toBe('2\n');
    expect(at(`"$0" -c 'cat; echo end' < /dev/null`)).toBe('end\n');
    // The other end of this pipe stays open for as long as the shell runs.
    expect(at(`mkfifo lib/pipe; exec 3<> lib/pipe; "$0" -c 'echo at once' <&3`)).toBe('at once\n');
    const refused = (script: string) =>
      spawnSync('bash', ['-c', script, shell], { cwd: one.project, env, encoding: 'utf8', timeout: 60_000 }).stderr;
    expect(refused(`printf '\\377a' | "$0" -c 'touch lib/ran; cat'`)).toContain('standard input is not text in UTF-8');
    expect(refused(`yes | "$0" -c 'touch lib/ran; cat'`)).toContain('standard input has more than');
    expect(existsSync(join(one.project, 'lib/ran'))).toBe(false);
    writeFileSync(join(one.project, 'lib/bytes'), Buffer.from([0xff, 0x61]));
    expect(at(`"$0" -c 'cat <lib/bytes | od -An -tx1'`)).toBe(' ff 61\n');
    const { stdout: records } = await one.run(CTXD, ['audit', 'tail', '--json', '-n', '20']);
    expect(records).toContain('print(1+1)');
    expect(records).not.toContain('unread-');
  });

  it('makes a command that is a call of a tool that call, by name and by path, in the session of the client', async () => {
    const env = { CLAUDE_CODE_SESSION_ID: 'tools' };
    writeFileSync(join(one.project, 'lib/a.txt'), 'one\ntwo\n');
    expect(await run(['-c', 'safe_read lib/a.txt'], { env })).toMatchObject({ code: 0, stdout: 'one\ntwo\n' });
    expect(await run(['-c', 'safe_bash \'echo "$((1+1))"\''], { env })).toMatchObject({ stdout: '2\n' });
    expect(await run(['-c', 'safe_read a.txt'], { env, cwd: join(one.project, 'lib') })).toMatchObject({ code: 0 });
    expect(await run(['-c', `${one.project}/.claude/bin/safe_read lib/a.txt`], { env })).toMatchObject({ code: 0 });
    expect((await run(['-c', 'safe_read lib/a.txt | cat'], { env })).code).toBe(0);
  });

  it('never runs anything outside, whatever a command says of wrappers, snapshots and shells', async () => {
    const made = join(outside, 'made');
    const cwdFile = join(outside, 'claude-1234-cwd');
    const touch = `touch ${made}`;
    const texts = [
      touch,
      `SNAPSHOT_FILE=${made}\ndeclare -f > "$SNAPSHOT_FILE"\necho x > ${made}`,
      `source /tmp/snapshot-bash-1.sh 2>/dev/null || true && ${touch}`,
      wrapped(touch, cwdFile),
      wrapped('true', made),
      wrapped('true', cwdFile),
      `true && pwd -P >| ${made}`,
      `eval 'true' < /dev/null && pwd -P >| ${cwdFile}`,
      `${shell} -c '${touch}'`,
      `CLAUDECODE= AI_AGENT= ${shell} -i <<< '${touch}'`,
      `/bin/bash -c '${touch}'`,
      `env -i /bin/bash -lc '${touch}'`,
      `exec /bin/sh -c '${touch}'`,
      `contextd-sh -i; ${touch}`,
      `safe_bash '${touch}'`,
      `safe_bash --out ${made} 'echo x'`,
      `unset CLAUDECODE; ${touch}`,
      codexWrapped(touch),
      codexWrapped(`true'; ${touch}; '`),
      codexWrapped('true').replace('2>&1; then :; fi', `2>&1; then :; fi; ${touch}`),
      `${codexWrapped('true')}\nexec '/bin/bash' -c '${touch}'`,
      geminiWrapped(touch),
      geminiWrapped(`true\n)\n${touch}\n(`),
      `CODEX_THREAD_ID= GEMINI_CLI= ${shell} -i <<< '${touch}'`,
    ];
    for (const env of [CLAUDE, OPENCODE, CODEX, GEMINI, {}])
      for (const text of texts) {
        await run(['-c', text], { env });
        await run([], { env, input: text });
        expect([made, cwdFile].filter(existsSync), text).toEqual([]);
      }
  });

  it('runs the command that Codex and Gemini CLI wrap, also a call of a tool', async () => {
    for (const [env, wrap] of [[CODEX, codexWrapped] as const, [GEMINI, geminiWrapped] as const]) {
      expect(await run(['-lc', wrap(`echo "it's" $((1+1)); exit 3`)], { env })).toMatchObject({
        code: 3,
        stdout: "it's 2\n",
      });
      expect(await run(['-c', wrap(`safe_bash 'echo called'`)], { env })).toMatchObject({
        code: 0,
        stdout: 'called\n',
      });
    }
  });

  it('takes no link of another project for a tool, and prints no file that a link leads to', async () => {
    const other = join(one.project, 'lib/other/.claude');
    mkdirSync(join(other, 'bin'), { recursive: true });
    mkdirSync(join(other, 'tools/safe_bash'), { recursive: true });
    const secret = join(outside, 'private.txt');
    writeFileSync(secret, 'private words');
    symlinkSync(PROXY, join(other, 'bin/safe_bash'));
    symlinkSync(secret, join(other, 'tools/safe_bash/TOOL.md'));
    const evil = join(one.project, '.claude/tools/evil');
    mkdirSync(evil);
    symlinkSync(PROXY, join(evil, 'evil'));
    symlinkSync(secret, join(evil, 'TOOL.md'));
    const bin = `${one.project}/.claude/bin`;
    const calls = [
      `${bin}/../../lib/other/.claude/bin/safe_bash`,
      `${other}/bin/safe_bash`,
      'lib/other/.claude/bin/safe_bash',
      `${bin}/../tools/evil/evil`,
      '.claude/tools/evil/evil',
    ];
    try {
      for (const call of calls)
        for (const words of ['--help', '--schema', "'pwd'"]) {
          const { stdout, stderr } = await run(['-c', `${call} ${words}`]);
          expect(`${stdout}${stderr}`, call).not.toContain('private words');
        }
      const { stdout } = await one.runProcess(join(evil, 'evil'), ['--help']);
      expect(stdout).not.toContain('private words');
    } finally {
      rmSync(join(one.project, 'lib/other'), { recursive: true });
      rmSync(evil, { recursive: true });
    }
  });

  it('is the own shell of a person at a terminal only: without -c, and without the variables of a client', () => {
    const made = join(outside, 'by-a-person');
    const at = (env: Record<string, string>, words: string) => {
      const { CLAUDECODE: _, ...clean } = { ...process.env, ...one.environment };
      const own = { ...clean, SHELL: '/bin/bash', ...env };
      spawnSync('script', ['-qec', `${shell} ${words}`, '/dev/null'], {
        cwd: one.project,
        env: own,
        input: `touch ${made}\nexit\n`,
        timeout: 60_000,
      });
      const did = existsSync(made);
      rmSync(made, { force: true });
      return did;
    };
    const none = Object.fromEntries(
      ['AI_AGENT', 'AGENT', 'OPENCODE', 'GEMINI_CLI', 'CURSOR_AGENT'].map((n) => [n, '']),
    );
    expect(at(none, '')).toBe(true);
    expect(at(none, '-i')).toBe(true);
    expect(at(none, `-c 'touch ${made}'`)).toBe(false);
    for (const name of ['CLAUDECODE', 'AI_AGENT', 'OPENCODE', 'GEMINI_CLI', 'CODEX_SANDBOX', 'CURSOR_AGENT'])
      expect(at({ ...none, [name]: '1' }, '-i'), name).toBe(false);
  });

  it('FR-4.1: a command that ends with & runs on as a job of the session, and the rest of the text runs beside it', async () => {
    const env = { ...CLAUDE, CLAUDE_CODE_SESSION_ID: 'left' };
    const left = 'nohup sh -c "touch lib/up; exec sleep 1001" > lib/log 2>&1 &';
    const first = await run(['-c', `${left}\necho "it's up"; echo "<$!>"; false`], { env });
    expect(first).toMatchObject({
      code: 1,
      stdout: "[contextd job 1 is running: see it with safe_jobs 'show 1', end it with 'stop 1']\nit's up\n<>\n",
      stderr: expect.stringContaining('`$!` is empty'),
    });
    await appears(join(one.project, 'lib'), 'up');
    expect((await one.run(CTXD, ['ps', '--json'])).stdout).toContain('sleep 1001');
    expect((await run(['-c', "safe_jobs 'stop 1'"], { env })).code).toBe(0);
    expect((await one.run(CTXD, ['ps', '--json'])).stdout).not.toContain('sleep 1001');
    // The shell that started it waits for it: one command, in one sandbox.
    const waited = await run(['-c', 'sh -c "exit 5" & wait $!'], { env });
    expect(waited).toMatchObject({ code: 5, stdout: '' });
  });

  it('FR-4.1: a server behind other commands runs on, in the directory and with the variables that they set', async () => {
    const file = join('/tmp', `claude-${process.pid}-cwd`);
    const env = { ...CLAUDE, CLAUDE_CODE_SESSION_ID: 'behind' };
    const serve = 'sh -c "pwd > up; echo \\$PORT >> up; exec sleep 1002" > /dev/null 2>&1 &';
    const texts = [
      [`mkdir -p srv && cd srv; export PORT=3\n${serve}\necho $PORT`, '3\n'],
      [`cd srv\nexport PORT=3\n(${serve.slice(0, -1)} &)`, ''],
    ] as const;
    try {
      for (const [text, seen] of texts) {
        const done = await run(['-c', wrapped(text, file)], { env, cwd: join(one.project, 'lib') });
        expect(done).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^\[contextd job \d+ is running: .*\]\n/),
        });
        expect(done.stdout.split('\n').slice(1).join('\n')).toBe(seen);
        await appears(join(one.project, 'lib/srv'), 'up');
        await expect
          .poll(() => readFileSync(join(one.project, 'lib/srv/up'), 'utf8'))
          .toBe(`${one.project}/lib/srv\n3\n`);
        // Claude Code starts its next command where this one ended.
        expect(readFileSync(file, 'utf8')).toBe(`${one.project}/lib/srv\n`);
        const [, job] = /job (\d+)/.exec(done.stdout) ?? [];
        expect((await run(['-c', `safe_jobs 'stop ${job}'`], { env })).code).toBe(0);
        rmSync(join(one.project, 'lib/srv/up'));
      }
      const stopped = await run(['-c', 'test -e none || exit 4\nsleep 1003 &'], { env });
      expect(stopped).toMatchObject({ code: 4, stdout: '' });
    } finally {
      rmSync(file, { force: true });
    }
  });

  it('FR-4.1: what cannot run on ends with its command at once, and the answer says so', async () => {
    const held = await run(['-c', 'for i in 1 2; do sleep 1004 & done; echo done'], { env: CLAUDE });
    expect(held).toMatchObject({ code: 0, stdout: 'done\n', stderr: expect.stringContaining('has ended with it') });
    expect((await run(['-c', `sh -c 'sleep 1004 &'; echo done`], { env: CLAUDE })).stdout).toBe('done\n');
    expect((await one.run(CTXD, ['ps', '--json'])).stdout).not.toContain('sleep 1004');
    // In a second shell `> lib/log` would erase what the job wrote, and the guard would not end the text.
    const log = await run(['-c', '> lib/log; echo started >>lib/log & sleep 0.2; cat lib/log'], { env: CLAUDE });
    expect(log).toMatchObject({ code: 0, stdout: 'started\n' });
    const guarded = await run(['-c', 'set -o errexit; test -d nope; touch lib/ran & echo rest'], { env: CLAUDE });
    expect(guarded).toMatchObject({ code: 1, stdout: '' });
    expect(existsSync(join(one.project, 'lib/ran'))).toBe(false);
    const waited = await run(['-c', 'for i in 1 2; do true & done; wait'], { env: CLAUDE });
    expect(waited).toMatchObject({ code: 0, stderr: '' });
  });

  it('FR-4.1: an error in the syntax of a command shows its own line and text, as a shell of the client would', async () => {
    const file = join('/tmp', `claude-${process.pid}-syntax-cwd`);
    const said = "bash: eval: line 3: syntax error near unexpected token `a'\nbash: eval: line 3: `echo (a'\n";
    const text = 'true\n\necho (a';
    expect(await run(['-c', text], { env: OPENCODE })).toMatchObject({ code: 2, stdout: said, stderr: '' });
    const wrappedText = wrapped(text, file);
    expect(await run(['-c', wrappedText], { env: CLAUDE, cwd: join(one.project, 'lib') })).toMatchObject({
      code: 2,
      stderr: said,
    });
    const parts = await run(['-c', 'cd lib\nsleep 0 &\n\nno-such-program'], { env: CLAUDE });
    expect(parts).toMatchObject({ code: 127, stderr: expect.stringContaining('line 4: no-such-program') });
  });

  it('FR-4.1: nothing of a text runs if a rule denies or asks about a later part of it', async () => {
    const rules = join(one.project, '.claude/settings.local.json');
    const before = readFileSync(rules, 'utf8');
    const permissions = { deny: ['Bash(git push *)'], ask: ['Bash(git tag *)'] };
    writeFileSync(rules, JSON.stringify({ ...JSON.parse(before), permissions }));
    try {
      const env = { ...CLAUDE, CLAUDE_CODE_SESSION_ID: 'whole' };
      for (const [later, rule] of [
        ['git push &', 'Bash(git push *)'],
        ["sleep 1005 & sh -c 'git tag x'", 'a person about this call'],
      ] as const) {
        const refused = await run(['-c', `touch lib/early; ${later}`], { env });
        expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(rule) });
        expect(existsSync(join(one.project, 'lib/early'))).toBe(false);
      }
      expect((await one.run(CTXD, ['ps', '--json'])).stdout).not.toContain('sleep 1005');
      const allowed = await run(['-c', 'touch lib/early; true & ls lib/early'], { env });
      expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('lib/early\n') });
    } finally {
      writeFileSync(rules, before);
      rmSync(join(one.project, 'lib/early'), { force: true });
    }
  });

  it('ends the command when the client ends the shell, shows what there was, and exits as a shell would', async () => {
    const child = spawn(shell, ['-c', 'echo begun; touch lib/began; exec sleep 1000'], {
      cwd: one.project,
      env: { ...one.environment, ...OPENCODE },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await appears(join(one.project, 'lib'), 'began');
    await expect.poll(async () => (await one.run(CTXD, ['ps', '--json'])).stdout).toContain('sleep 1000');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
    expect(['', 'begun\n']).toContain(out);
    await expect.poll(async () => (await one.run(CTXD, ['ps', '--json'])).stdout).not.toContain('sleep 1000');
  });
});
