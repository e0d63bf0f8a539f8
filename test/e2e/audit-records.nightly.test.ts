import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: false });
});
afterAll(() => at.remove());

const ctxd = (...args: string[]) => at.run(CTXD, args);

interface Check {
  name: string;
  status: string;
  detail: string;
  remedy: string;
}

interface CallRecord {
  tool: string;
  began?: boolean;
  policy_sha256?: string;
  artifacts_sha256?: string[];
  isolation?: string;
  secrets_opened?: { token: string }[];
  request_id: string;
}

/** The ends of calls, oldest first. */
async function records(...filter: string[]): Promise<CallRecord[]> {
  const { stdout } = await ctxd('audit', 'export', ...filter);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line): CallRecord => JSON.parse(line))
    .filter(({ began }) => began === true);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the record of a call', () => {
  it('SEC-5.2 SEC-5.3 has the hash of its policy, the isolation, what it stored, and the numbers of the secrets that it used', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', seededRandom(7));
    const long = `seq 1 4000; echo ${secret}`;
    const shown = await at.ask('safe_bash', { command: long });
    const token = /\[SECRET_\d+\]/.exec(shown.data.stdout ?? '')?.[0] ?? '';
    await at.ask('safe_write', { path: 'out.txt', content: `${token}\n` });
    const policies = async () => (await records('--tool', 'safe_bash')).map(({ policy_sha256 }) => policy_sha256);
    await at.ask('safe_bash', { command: 'true' }, { env: { CONTEXTD_SESSION_ID: 'another' } });
    expect((await ctxd('network', 'allow', 'pkg.example.com', '--yes')).code).toBe(0);
    await at.ask('safe_bash', { command: 'true' });

    const [first, second, allowed] = await policies();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
    expect(allowed).not.toBe(first);

    const [bash] = await records('--tool', 'safe_bash');
    const numbers = Array.from({ length: 4000 }, (_, index) => `${index + 1}\n`).join('');
    expect(bash).toMatchObject({ artifacts_sha256: [sha256(`${numbers}${token}\n`)] });
    const [write] = await records('--tool', 'safe_write');
    expect(write).toMatchObject({ secrets_opened: [{ token, use: 'file' }] });
    const missing = (shown.meta.isolation as { missing?: string[] } | undefined)?.missing ?? [];
    expect(bash).toMatchObject({ isolation: missing.length === 0 ? 'full' : 'reduced' });
    expect((await ctxd('audit', 'verify')).code).toBe(0);
  });
});

describe('an audit log of which a part cannot be read', () => {
  const newest = () => {
    const dir = join(at.home, 'state/audit');
    const [name = ''] = readdirSync(dir).sort().slice(-1);
    return join(dir, name);
  };
  const chainCheck = async () => {
    const { checks } = JSON.parse((await ctxd('doctor', '--json')).stdout) as { checks: Check[] };
    return checks.find(({ name }) => name === 'audit chain');
  };

  it('SEC-5.4 says how many lines, and the remedy of ctxd doctor goes on after them', async () => {
    await at.ask('safe_bash', { command: 'true' });
    expect((await ctxd('audit', 'tail')).stderr).toBe('');
    expect(await chainCheck()).toMatchObject({ status: 'ok' });
    await ctxd('server', 'stop');
    appendFileSync(newest(), '{"time":"20\u0000\nnot a record\n');

    const said = 'ctxd: 2 lines of the audit log could not be read: `ctxd audit verify` names the place\n';
    expect(await ctxd('audit', 'search', 'true', '--json')).toMatchObject({ code: 0, stderr: said });
    expect(await ctxd('audit', 'export')).toMatchObject({ code: 0, stderr: said });
    const found = await chainCheck();
    expect(found).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^audit-.*\.jsonl:\d+ is a line that the log did not write$/),
      remedy: expect.stringContaining('`ctxd server restart`'),
    });
    expect((await ctxd('audit', 'verify')).stdout).toContain(found?.detail);

    expect((await ctxd('server', 'restart')).code).toBe(0);
    await at.ask('safe_bash', { command: 'true' });
    expect(await ctxd('audit', 'tail', '-n', '1000')).toMatchObject({ code: 0, stderr: said });
    expect(await ctxd('audit', 'tail', '-n', '1000', '--project')).toMatchObject({ stderr: said });
    expect(await chainCheck()).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('begins a segment because'),
    });
  });
});
