import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Finished, type Installation, install, ROOT } from '../helpers/installation.ts';

interface Check {
  name: string;
  status: string;
  detail: string;
  remedy: string;
}

let at: Installation;
let place: string;
let moved: string;

beforeAll(async () => {
  at = await install();
  place = realpathSync(mkdtempSync(join(tmpdir(), 'moved-')));
  moved = join(place, 'contextd');
  for (const name of ['bin', 'dist', 'tools', 'proto', 'share', 'package.json'])
    cpSync(join(ROOT, name), join(moved, name), { recursive: true });
  symlinkSync(realpathSync(join(ROOT, 'node_modules')), join(moved, 'node_modules'));
}, 120_000);
afterAll(async () => {
  await ctxd('server', 'stop');
  await at.remove();
  rmSync(place, { recursive: true, force: true });
});

/** That of the installation in its new place. */
const ctxd = (...words: string[]): Promise<Finished> => at.runProcess(join(moved, 'bin/ctxd'), words);

async function proxyCheck(): Promise<Check | undefined> {
  const checks: Check[] = JSON.parse((await ctxd('doctor', '--json')).stdout).checks;
  return checks.find(({ name }) => name === 'proxy');
}

describe('SEC-4.3 an installation that was moved', () => {
  it('is noticed by the doctor and by init, and both say what helps', { timeout: 240_000 }, async () => {
    const found = await proxyCheck();
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringContaining('but was installed at') });
    const refused = await ctxd('init', '--no-network', '--no-toolchains');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('but was installed at') });
    const [, command = ''] = /`([^`]+)`/.exec(found?.remedy ?? '') ?? [];
    expect(refused.stderr).toContain(command);
    execFileSync('/bin/sh', ['-c', command]);
    expect((await proxyCheck())?.status).toBe('ok');
    // It repairs the links, which led to the place of before.
    expect(await ctxd('init', '--no-network', '--no-toolchains')).toMatchObject({ code: 0 });
    const called = await at.runProcess(join(at.project, '.claude/bin/safe_bash'), ['echo it works']);
    expect(called).toMatchObject({ code: 0, stdout: 'it works\n' });
  });
});
