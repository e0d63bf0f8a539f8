import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, CTXD, type Finished, type Installation, install, OTHER_UID } from '../helpers/installation.ts';

interface Check {
  name: string;
  status: string;
  detail: string;
  remedy: string;
}

let at: Installation;
beforeAll(async () => {
  at = await install();
});
afterAll(() => at.remove());

const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words);
async function doctor(cwd: string): Promise<Check[]> {
  const { stdout } = await at.run(CTXD, ['doctor', '--json'], { cwd });
  return JSON.parse(stdout).checks;
}

describe('ctxd config set', () => {
  const configFile = (): string => join(at.home, 'config/config.json');

  it.each([
    [
      'timeout.default_ms',
      'abc',
      'cannot set timeout.default_ms to "abc": it must be a whole number from 1 to 86400000.',
    ],
    ['timeout.default_ms', '0', 'cannot set timeout.default_ms to 0: it must be a whole number from 1 to 86400000.'],
    ['log.level', 'loud', 'cannot set log.level to "loud": it must be one of debug, info, warn, error.'],
    ['budget.telemetry', '1', 'cannot set budget.telemetry to 1: it must be true or false.'],
    ['sandbox.deny', '["a","/b"]', 'cannot set sandbox.deny to ["a","/b"]: it must be a JSON list of different texts'],
    [
      'timeout.max_ms',
      '5',
      'cannot set timeout.max_ms to 5: timeout.default_ms must be at most timeout.max_ms, which is 5, but is 30000.',
    ],
  ])('FR-9.6 names the setting, the value and what is allowed: %s %s', async (key, value, message) => {
    const { code, stderr } = await ctxd('config', 'set', key, value);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('remove it');
    expect(code).toBe(2);
    expect(statSync(configFile(), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('FR-9.6 says what the setting is for, and which setting to change first', async () => {
    expect((await ctxd('config', 'set', 'timeout.default_ms', 'abc')).stderr).toContain(
      'Milliseconds if the call asks for no timeout. A tool may have more. The default is 30000.',
    );
    expect((await ctxd('config', 'set', 'timeout.max_ms', '5')).stderr).toContain('Change timeout.default_ms first.');
  });

  it('FR-9.6 reports a fault of the file as such, and can correct the faulty setting', async () => {
    writeFileSync(configFile(), '{"log":{"level":"loud"}}');
    const other = await ctxd('config', 'set', 'timeout.default_ms', '1000');
    expect(other.stderr).toContain(`${configFile()} is invalid: /log/level`);
    expect((await ctxd('config', 'set', 'log.level', 'info')).code).toBe(0);
    rmSync(configFile());
  });
});

describe('ctxd doctor', () => {
  it('FR-9.1 reports gitleaks once, and no stores that are not configured', async () => {
    const checks = await doctor(at.project);
    expect(checks.filter(({ name }) => name === 'qdrant')).toEqual([]);
    const gitleaks = checks.filter(({ name }) => name.startsWith('gitleaks') && name !== 'gitleaks rules');
    expect(gitleaks.map(({ name }) => name)).toEqual(['gitleaks']);
    const [{ status, remedy } = { status: '', remedy: '' }] = gitleaks;
    expect(status === 'ok').toBe(remedy === '');
  });

  it('SEC-2.1 reports the isolation and the user of the calls in the project', async () => {
    const owners = process.getuid?.() === 0 ? [0, OTHER_UID] : [process.getuid?.() ?? 0];
    for (const owner of owners) {
      const project = mkdtempSync(join(tmpdir(), `of-${owner}-`));
      onTestFinished(() => rmSync(project, { recursive: true, force: true }));
      chownSync(project, owner, owner);
      expect((await at.run(CTXD, ['init'], { cwd: project })).code).toBe(0);
      const { stdout } = await at.run(join(project, '.claude/bin/safe_bash'), ['{"command":"true"}'], { cwd: project });
      const answer = JSON.parse(stdout) as Answer & { meta: { isolation?: { level: string; missing: string[] } } };
      expect(answer.success, stdout).toBe(true);
      const isolation = (await doctor(project)).find(({ name }) => name === 'isolation');
      const { level, missing } = answer.meta.isolation ?? { level: 'full', missing: [] };
      expect(isolation?.detail).toContain(`: ${level} in ${project}, where commands run as `);
      for (const one of missing) expect(isolation?.detail).toContain(one);
      expect(isolation?.status).toBe(level === 'full' ? 'ok' : 'warn');
      if (owner === 0) expect(isolation?.detail).toContain('because root owns it');
      if (owner === OTHER_UID) expect(isolation?.detail).toContain(`as its owner (uid ${OTHER_UID})`);
    }
  });

  it.each([
    ['a link that leads elsewhere', (path: string) => symlinkSync('/bin/sh', path)],
    ['nothing', () => {}],
    ['a script of somebody else', (path: string) => writeFileSync(path, '#!/bin/sh\n')],
  ])('SEC-4.2 its remedy works if a tool is %s', async (_what, put) => {
    const link = join(at.project, '.claude/bin/safe_read');
    rmSync(link);
    put(link);
    const links = (await doctor(at.project)).find(({ name }) => name === 'links');
    expect(links).toMatchObject({ status: 'fail', detail: expect.stringContaining('.claude/bin/safe_read') });
    const said = /^(?:Move away or delete (\S+): .* Then run|Run) `ctxd init (\S+)`\.$/.exec(links?.remedy ?? '');
    expect(said, links?.remedy).not.toBeNull();
    const [, inTheWay, root = ''] = said ?? [];
    if (inTheWay !== undefined) rmSync(inTheWay);
    const done = await ctxd('init', root);
    expect(done.code, done.stderr).toBe(0);
    expect((await doctor(at.project)).find(({ name }) => name === 'links')?.status).toBe('ok');
  });

  it("names a program that somebody put before the others on an agent's PATH", async () => {
    const program = join(at.project, '.claude/bin/ls');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const failures = (await doctor(at.project)).filter(({ name, status }) => name === 'programs' && status === 'fail');
    expect(failures).toEqual([
      expect.objectContaining({ detail: expect.stringContaining('contextd did not create .claude/bin/ls,') }),
    ]);
    rmSync(program);
  });
});

it('FR-9.1 advises to enter the directory again if it was deleted and created again', async () => {
  const dir = join(at.project, 'removed');
  mkdirSync(dir);
  const script = `cd ${dir}; rmdir ${dir}; mkdir ${dir}; ${CTXD} doctor; cd "$PWD"; exec ${CTXD} config get log.level`;
  const { code, stdout, stderr } = await at.run('/bin/bash', ['-c', script]);
  expect(stderr).toContain('the current directory was removed, or another took its place. Enter it again (cd "$PWD")');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'info\n' });
});

describe('SEC-4.2 links of tools', () => {
  it('SEC-4.2 the start of the daemon names a link that leads elsewhere, until `ctxd init` has repaired it', {
    timeout: 120_000,
  }, async () => {
    const link = join(at.project, '.claude/tools/safe_bash/safe_bash');
    rmSync(link);
    symlinkSync('/bin/cat', link);
    const started = await at.run(CTXD, ['server', 'restart']);
    expect(started.stdout).toContain(`${link}: "a link to /bin/cat"`);
    expect(started.stdout).toContain('Run `ctxd init` in the project');
    expect((await at.run(CTXD, ['server', 'start'])).stdout).toContain(link);
    // A line is written when its text has been masked.
    await expect
      .poll(async () => (await at.run(CTXD, ['server', 'logs', '--lines', '100'])).stdout, { timeout: 60_000 })
      .toContain('project.bad_link');
    expect((await at.run(CTXD, ['init', '--yes'])).code).toBe(0);
    expect((await at.run(CTXD, ['server', 'start'])).stdout).not.toContain(link);
  });
});

describe('NFR-2.3 a running call', () => {
  /** Resolves once the command of a call has made the file. */
  const begun = (file: string): Promise<void> =>
    new Promise((resolve) => {
      const watcher = watch(at.project, () => isThere());
      const isThere = (): void => {
        if (statSync(file, { throwIfNoEntry: false }) === undefined) return;
        watcher.close();
        resolve();
      };
      isThere();
    });

  beforeAll(async () => {
    expect((await ctxd('config', 'set', 'server.drain_ms', '200')).code).toBe(0);
    await ctxd('server', 'restart');
  });

  it('reports when and by whom it was ended: ctxd server stop', async () => {
    const file = join(at.project, 'begun-stop');
    const call = at.ask('safe_bash', { command: `echo so far; touch ${file}; sleep 50`, timeout_ms: 60_000 });
    await begun(file);
    const ended = await ctxd('server', 'stop');
    expect(ended.stdout).toContain('it waited for 1 call and ended 1 that took longer than server.drain_ms');
    const { success, data, error } = await call;
    expect({ success, code: data.error_code, stdout: data.stdout }).toEqual({
      success: false,
      code: 'INTERRUPTED',
      stdout: 'so far\n',
    });
    expect(error).toContain('contextd was stopped by a person (`ctxd server stop`) while safe_bash ran');
    expect(data.remediation).toContain('Check what the call has done before calling again');
    expect(readFileSync(join(at.home, 'state/daemon.log'), 'utf8')).toContain('"calls_waited":1,"calls_ended":1');
  });

  it('goes on over a restart, which reports how many calls go on', async () => {
    await ctxd('server', 'stop');
    expect((await ctxd('config', 'set', 'server.drain_ms', '60000')).code).toBe(0);
    const [file, go] = [join(at.project, 'waiting'), join(at.project, 'go')];
    const call = at.ask('safe_bash', { command: `touch ${file}; until [ -e ${go} ]; do sleep 0.05; done; echo done` });
    await begun(file);
    const restart = ctxd('server', 'restart', '--json');
    writeFileSync(go, '');
    expect(JSON.parse((await restart).stdout)).toMatchObject({
      carried_calls: expect.toBeOneOf([0, 1]),
      previous_active_calls: expect.toBeOneOf([0, 1]),
      previous_ended_calls: 0,
    });
    expect((await call).data.stdout).toBe('done\n');
  });
});
