import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, OTHER_UID, ROOT } from '../helpers/installation.ts';

const isInstalled = process.env.CONTEXTD_INSTALLED === '1';
const isRoot = process.getuid?.() === 0;
if (!isInstalled) process.stdout.write('the installed daemon: not run, .ci/run runs this after ./install.sh\n');

/** The installation that ./install.sh made, used as a person uses it: installed commands, default directories. */
describe.runIf(isInstalled)('contextd, installed by ./install.sh,', () => {
  const ctxd = join(homedir(), '.local/bin/ctxd');
  let project = '';
  const env = { PATH: process.env.PATH ?? '', HOME: homedir() };
  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: project, env, encoding: 'utf8' });
  const ask = (tool: string, input: object): Answer =>
    JSON.parse(run(`.claude/tools/${tool}/${tool}`, JSON.stringify(input)));

  beforeAll(() => {
    project = realpathSync(mkdtempSync(join(tmpdir(), 'installed-')));
    if (isRoot) chownSync(project, OTHER_UID, OTHER_UID);
    run(ctxd, 'init');
  });
  afterAll(() => {
    run(ctxd, 'init', '--uninstall');
    rmSync(project, { recursive: true, force: true });
  });

  it('FR-9.1 has a running daemon from this checkout', () => {
    expect(realpathSync(ctxd)).toBe(join(ROOT, 'bin/ctxd'));
    const { pid } = JSON.parse(run(ctxd, 'server', 'status', '--json'));
    expect(execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })).toContain(ROOT);
  });

  it('FR-4.1 FR-4.3 SEC-2.3 runs tools and writes files as the owner of the project, even if root started it', () => {
    const owner = statSync(project).uid;
    expect(ask('safe_write', { path: 'made', content: 'by a tool\n' }).success).toBe(true);
    expect(ask('safe_bash', { command: 'cat made' }).data).toMatchObject({ exit_code: 0, stdout: 'by a tool\n' });
    expect(statSync(join(project, 'made')).uid).toBe(owner);
  });

  it('FR-9.1 has no fault that ctxd doctor finds', () => {
    const { status, stdout } = spawnSync(ctxd, ['doctor', '--json'], { cwd: project, env, encoding: 'utf8' });
    const { checks } = JSON.parse(stdout) as { checks: { status: string }[] };
    expect(checks.filter((check) => check.status === 'fail')).toEqual([]);
    expect(status).toBe(0);
  });

  it.runIf(isRoot)('SEC-2.1 has the documented modes on directories that all users pass through', () => {
    const modes = ['', 'd0', 'f0'].map((name) => statSync(join('/run/contextd-sandbox', name)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o755, 0o644]);
  });
});
