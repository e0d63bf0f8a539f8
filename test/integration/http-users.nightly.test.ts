import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { askHttp } from '../helpers/http-door.ts';
import { CTXD, type Finished, install, OTHER_UID } from '../helpers/installation.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const isRoot = process.getuid?.() === 0;

describe('issue 32.2 two users of one machine', { timeout: 120_000 }, () => {
  it.skipIf(!isRoot)('neither has the token, the socket or the door of the other (needs root to be both)', async () => {
    const ann = await install({ settings: { 'http.enabled': 'true' } });
    cleanUps.push(() => ann.remove());
    const url = (await ann.run(CTXD, ['http', 'url'])).stdout.trim();
    const token = (await ann.run(CTXD, ['http', 'token'])).stdout.trim();
    const home = mkdtempSync(join(tmpdir(), 'bob-'));
    chownSync(home, OTHER_UID, OTHER_UID);
    const bob = (program: string, ...args: string[]): Promise<Finished> =>
      ann.runProcess(
        'setpriv',
        [`--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, '--clear-groups', '--', program, ...args],
        { cwd: '/', env: { HOME: home, CONTEXTD_HOME: join(home, 'home') } },
      );
    cleanUps.push(async () => {
      await bob(CTXD, 'server', 'stop');
      rmSync(home, { recursive: true, force: true });
    });
    for (const place of ['config/http/default.json', 'state/http-port', 'run/contextd.sock', 'state/contextd.db'])
      expect((await bob('cat', join(ann.home, place))).stderr).toContain('Permission denied');
    expect((await bob(CTXD, 'http', 'on')).stderr).toBe('');
    const bobsUrl = (await bob(CTXD, 'http', 'url')).stdout.trim();
    const bobsToken = (await bob(CTXD, 'http', 'token')).stdout.trim();
    expect(bobsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(bobsUrl).not.toBe(url);
    const statuses = [
      [url, bobsToken],
      [bobsUrl, token],
      [url, token],
      [bobsUrl, bobsToken],
    ] as const;
    const results = await Promise.all(
      statuses.map(async ([where, which]) => (await askHttp(where, '/v1/health', { token: which })).status),
    );
    expect(results).toEqual([401, 401, 200, 200]);
    // Nor can one answer a call of the other, or see that one waits.
    const decider = (await bob(CTXD, 'http', 'token', '--name', 'phone', '--allow', 'decide')).stdout.trim();
    const body = { answer: 'always', project: ann.project };
    expect((await askHttp(url, '/v1/approvals', { token: decider })).status).toBe(401);
    expect((await askHttp(url, '/v1/approvals/rule_1/answer', { token: decider, body })).status).toBe(401);
    const asAnn = await bob('env', `CONTEXTD_HOME=${ann.home}`, CTXD, 'approve');
    expect(asAnn).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EACCES') });
    // The documented way to hand curl a token: not in its arguments, which every user sees.
    expect((await bob(CTXD, 'http', 'token', '--header')).stdout).toBe(`Authorization: Bearer ${bobsToken}\n`);
    const documented = `"${CTXD}" http token --header | curl -sS -H @- "${bobsUrl}/v1/health"`;
    expect((await bob('sh', '-c', documented)).stdout).toContain('"healthy":true');
    // The port of one is the other's while the daemon of the first is down: then nobody gets its address.
    await ann.run(CTXD, ['server', 'stop']);
    const port = readFileSync(join(ann.home, 'state/http-port'), 'utf8').trim();
    await bob(CTXD, 'config', 'set', 'http.port', port);
    await bob(CTXD, 'server', 'restart');
    expect((await bob(CTXD, 'http', 'url')).stdout.trim()).toBe(url);
    await ann.run(CTXD, ['server', 'start']);
    expect(await ann.run(CTXD, ['http', 'url'])).toMatchObject({ code: 1, stdout: '' });
  });
});
