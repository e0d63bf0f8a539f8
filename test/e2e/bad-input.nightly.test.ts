import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install, PROXY } from '../helpers/installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

describe('a call with bad input', () => {
  const cases: [string, string, string, string, number][] = [
    ['not JSON', 'safe_bash', '{"command":', 'ARGS_INVALID', 2],
    ['a wrong type', 'safe_bash', '{"command":7}', 'ARGS_INVALID', 2],
    ['a missing argument', 'safe_bash', '{}', 'ARGS_INVALID', 2],
    ['an unknown field', 'safe_bash', '{"command":"ls","comand":"ls"}', 'ARGS_INVALID', 2],
    ['a timeout over the limit', 'safe_bash', '{"command":"ls","timeout_ms":3600001}', 'ARGS_INVALID', 2],
    ['a budget over the ceiling', 'safe_bash', '{"command":"ls","max_tokens":1000000000}', 'ARGS_INVALID', 2],
    ['an unknown view', 'safe_bash', '{"command":"ls","view":"sideways"}', 'ARGS_INVALID', 2],
    ['a NUL byte in a command', 'safe_bash', '{"command":"echo a\\u0000b"}', 'ARGS_INVALID', 2],
    ['a NUL byte in a path', 'safe_read', '{"path":"a\\u0000b"}', 'PATH_INVALID', 2],
    ['a missing file', 'safe_read', '{"path":"nowhere.txt"}', 'PATH_NOT_FOUND', 1],
    ['a directory instead of a file', 'safe_read', '{"path":"."}', 'PATH_INVALID', 2],
    ['a path outside the project', 'safe_read', '{"path":"/etc/hostname"}', 'PATH_INVALID', 2],
    ['a path that climbs out of the project', 'safe_read', '{"path":"../../../../etc/hostname"}', 'PATH_INVALID', 2],
    [
      'a path outside the project to write',
      'safe_write',
      '{"path":"/var/tmp/x","content":"x","mode":"create"}',
      'PATH_INVALID',
      2,
    ],
    ['a garbled cursor', 'safe_bash', '{"continuation":"AAAA"}', 'CURSOR_INVALID', 2],
    ['a cursor with more arguments', 'safe_bash', '{"continuation":"AAAA","command":"ls"}', 'ARGS_INVALID', 2],
    ['a branch that this session does not have', 'safe_bash', '{"command":"ls","branch":"b1"}', 'NOT_FOUND', 1],
  ];
  it.each(cases)('gets a clear error with a code of the table: %s', async (_what, tool, input, code, exit) => {
    const done = await at.call(tool, input);
    const answer = JSON.parse(done.stdout);
    expect(answer).toMatchObject({ success: false, data: { error_code: code }, error: expect.any(String) });
    expect(done.code).toBe(exit);
    expect(done.stderr.trim().split('\n')).toHaveLength(1);
    expect(done.stdout.trim().split('\n')).toHaveLength(1);
  });

  it('gets an error with the JSON pointer of the fault', async () => {
    const answer = await at.ask('safe_bash', { command: 7, env: { A: 1 } });
    const pointers = (answer.data.details as { faults: { pointer: string }[] }).faults.map(({ pointer }) => pointer);
    expect(pointers).toEqual(expect.arrayContaining(['/command', '/env/A']));
  });

  it('is refused if stdin is not UTF-8', async () => {
    const done = await at.run('.claude/tools/safe_bash/safe_bash', ['-'], {
      input: Buffer.concat([Buffer.from('{"command":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    });
    expect(JSON.parse(done.stdout)).toMatchObject({
      data: { error_code: 'ARGS_INVALID' },
      error: expect.stringContaining('UTF-8'),
    });
  });

  it('is refused if the tool is unknown', async () => {
    mkdirSync(join(at.project, '.claude/tools/safe_dance'), { recursive: true });
    symlinkSync(PROXY, join(at.project, '.claude/tools/safe_dance/safe_dance'));
    const done = await at.call('safe_dance', {});
    expect(JSON.parse(done.stdout).data.error_code).toBe('TOOL_NOT_FOUND');
    expect(JSON.parse(done.stdout).data.remediation).toContain('safe_bash');
  });

  it('is refused in a project that is not registered', async () => {
    const stranger = mkdtempSync(join(tmpdir(), 'stranger-'));
    mkdirSync(join(stranger, '.claude/tools/safe_bash'), { recursive: true });
    symlinkSync(PROXY, join(stranger, '.claude/tools/safe_bash/safe_bash'));
    const done = await at.run('.claude/tools/safe_bash/safe_bash', ['{"command":"true"}'], { cwd: stranger });
    expect(JSON.parse(done.stdout)).toMatchObject({
      data: { error_code: 'PERMISSION_DENIED' },
    });
    expect(JSON.parse(done.stdout).data.remediation).toContain('ctxd init');
    expect(done.code).toBe(3);
    rmSync(stranger, { recursive: true });
  });

  it('is refused with a cursor of another session', async () => {
    const first = await at.ask('safe_bash', { command: 'seq 100000' }, { env: { CONTEXTD_SESSION_ID: 'one' } });
    const cursor = first.meta.pagination?.cursor ?? '';
    const other = await at.ask('safe_bash', { continuation: cursor }, { env: { CONTEXTD_SESSION_ID: 'two' } });
    expect(other.data.error_code).toBe('CURSOR_INVALID');
    const own = await at.ask('safe_bash', { continuation: cursor }, { env: { CONTEXTD_SESSION_ID: 'one' } });
    expect(own.success).toBe(true);
  });

  it('gets a line of 50 MB cut within the line and stored whole', async () => {
    const answer = await at.ask('safe_bash', { command: 'head -c 50000000 /dev/zero | tr "\\0" x' });
    expect(answer).toMatchObject({ success: true, has_more: true, data: { exit_code: 0 } });
    expect(answer.tokens_used).toBeLessThanOrEqual(2000);
    const { length } = String(answer.data.stdout);
    expect(length).toBeGreaterThan(1000);
  });

  it('is refused over the message limit, and served with 10 MB below it', async () => {
    const large = JSON.stringify({ path: 'large.txt', content: 'x'.repeat(10_000_000), mode: 'create' });
    const done = await at.run('.claude/tools/safe_write/safe_write', ['-'], { input: large });
    expect(JSON.parse(done.stdout)).toMatchObject({ success: true });
    const over = await at.run('.claude/tools/safe_write/safe_write', ['-'], {
      input: `{"content":"${'x'.repeat(33_000_000)}"}`,
    });
    expect(JSON.parse(over.stdout)).toMatchObject({ data: { error_code: 'PAYLOAD_TOO_LARGE' } });
    expect(over.code).toBe(2);
  });

  it('SEC-4.3 is refused through a copy of the proxy and through a link whose names differ', async () => {
    const done = await at.run('/bin/cp', [PROXY, join(at.project, 'proxy-copy')]);
    expect(done.code).toBe(0);
    mkdirSync(join(at.project, '.claude/tools/safe_copy'), { recursive: true });
    symlinkSync(join(at.project, 'proxy-copy'), join(at.project, '.claude/tools/safe_copy/safe_copy'));
    symlinkSync(PROXY, join(at.project, '.claude/tools/safe_copy/safe_bash'));
    for (const link of ['.claude/tools/safe_copy/safe_copy', '.claude/tools/safe_copy/safe_bash']) {
      const refused = await at.run(join(at.project, link), ['{"command":"true"}']);
      expect(JSON.parse(refused.stdout).data.error_code).toBe('INTEGRITY_FAILED');
      expect(refused.code).toBe(4);
    }
  });
});

describe('an unusable home gets a clear error', () => {
  it('if the socket path is over the limit', async () => {
    const home = join(tmpdir(), 'x'.repeat(120));
    const done = await at.run(CTXD, ['server', 'start'], { env: { CONTEXTD_HOME: home } });
    expect(done.code).not.toBe(0);
    expect(done.stderr).toMatch(/107/);
    const call = await at.call('safe_bash', { command: 'true' }, { env: { CONTEXTD_HOME: home } });
    expect(JSON.parse(call.stdout)).toMatchObject({ success: false, error: expect.stringContaining('107') });
  });

  it('if a file is in place of the home', async () => {
    const home = join(at.project, 'a-file');
    writeFileSync(home, '');
    const done = await at.run(CTXD, ['server', 'start'], { env: { CONTEXTD_HOME: home } });
    expect(done.code).not.toBe(0);
    expect(done.stderr).toContain(home);
    expect(done.stderr).not.toMatch(/\n\s+at /);
  });

  it('if the configuration is invalid: every fault is listed with its path', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cfg-'));
    mkdirSync(join(home, 'config'), { recursive: true });
    writeFileSync(join(home, 'config/config.json'), '{"timeout":{"default_ms":"soon"},"sandbx":{}}');
    const done = await at.run(CTXD, ['server', 'start'], { env: { CONTEXTD_HOME: home } });
    expect(done.code).not.toBe(0);
    expect(done.stderr).toContain('/timeout/default_ms');
    expect(done.stderr).toContain('sandbx');
    rmSync(home, { recursive: true, force: true });
  });

  it('if another program holds the socket, which is reported and left alone', async () => {
    const home = mkdtempSync(join(tmpdir(), 'fgn-'));
    mkdirSync(join(home, 'run'), { recursive: true, mode: 0o700 });
    const socket = join(home, 'run/contextd.sock');
    const foreign = createServer((connection) => {
      connection.on('error', () => {});
      connection.end('who are you\n');
    });
    await new Promise<void>((resolve) => foreign.listen(socket, resolve));
    const done = await at.run(CTXD, ['server', 'start'], { env: { CONTEXTD_HOME: home } });
    expect(done.code).not.toBe(0);
    expect(done.stderr).toContain(socket);
    expect(foreign.listening).toBe(true);
    await new Promise((resolve) => foreign.close(resolve));
    rmSync(home, { recursive: true, force: true });
  });
});
