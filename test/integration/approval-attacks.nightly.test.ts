import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askHttp } from '../helpers/http-door.ts';
import { CTXD, type Installation, install, OTHER_UID, ROOT } from '../helpers/installation.ts';

// What a command tries that wants to answer its own question: by the socket, the HTTP door, `ctxd`, a token, another user.

interface Finished {
  stdout?: string;
  stderr?: string;
}

const isRoot = process.getuid?.() === 0;
const OWNERS = [
  ['the user of the daemon', undefined],
  ...(isRoot ? ([['another user than that of the daemon', OTHER_UID]] as const) : []),
] as const;

describe.each(OWNERS)('issue 32.3 a sandbox of %s', (_who, owner) => {
  let at: Installation;
  let url: string;
  let port: string;
  let token: string;
  let rule: string;

  beforeAll(async () => {
    at = await install({ settings: { 'http.enabled': 'true' }, ...(owner === undefined ? {} : { owner }) });
    url = (await at.run(CTXD, ['http', 'url'])).stdout.trim();
    port = url.split(':').at(-1) ?? '';
    token = (await at.run(CTXD, ['http', 'token', '--name', 'phone', '--allow', 'decide'])).stdout.trim();
    const made = await at.run(CTXD, ['approve', 'rule', 'add', 'safe_bash', '--when', 'guarded', '--json']);
    rule = JSON.parse(made.stdout)[0].id;
  });
  afterAll(() => at.remove());

  const approvals = async (): Promise<{ id: string; calls: number }[]> => {
    const { json } = await askHttp(url, '/v1/approvals', { token });
    return Array.isArray(json.approvals) ? json.approvals : [];
  };

  /** Runs attacks while a guarded call waits, and answers it afterwards with `never`. */
  async function whileOneWaits(attack: (id: string) => Promise<void>): Promise<void> {
    const guarded = at.ask('safe_bash', { command: 'touch guarded' });
    await expect.poll(approvals).toMatchObject([{ calls: 1 }]);
    const [{ id } = { id: '' }] = await approvals();
    await attack(id);
    expect((await approvals()).map((one) => one.id)).toEqual([id]);
    expect((await at.run(CTXD, ['approve', 'list'])).stdout).not.toContain(rule);
    await askHttp(url, `/v1/approvals/${id}/answer`, { token, body: { answer: 'never' } });
    expect((await guarded).data.error_code).toBe('PERMISSION_DENIED');
    expect(existsSync(join(at.project, 'guarded'))).toBe(false);
    const [{ id: kept } = { id: '' }] = JSON.parse((await at.run(CTXD, ['approve', 'list', '--json'])).stdout);
    await at.run(CTXD, ['approve', 'remove', kept]);
  }

  const runInside = async (command: string): Promise<string> => {
    const { data }: { data: Finished } = await at.ask('safe_bash', { command });
    return `${data.stdout ?? ''}${data.stderr ?? ''}`;
  };

  it('reaches the HTTP door neither directly nor through the proxy of its network', { timeout: 120_000 }, async () => {
    const script = join(ROOT, 'test/fixtures/reach-door.sh');
    const reached = await at.runProcess('bash', [script, port], { env: { http_proxy: '' } });
    expect(reached.stdout).toContain('"proof"');
    copyFileSync(script, join(at.project, 'reach-door.sh'));
    const said = await runInside(`bash reach-door.sh ${port}`);
    expect(said).toContain('tried');
    expect(said).toContain('contextd refused');
    expect(said).not.toMatch(/"proof"|response-v2/);
  });

  it('has neither the token files nor ctxd nor the socket, by no path, link or process', async () => {
    await whileOneWaits(async (id) => {
      const file = `${at.home}/config/http/phone.json`;
      const said = await runInside(
        [
          `cat ${file} /proc/*/root${file} /proc/*/cwd/../${file}`,
          `ln -s ${file} stolen; cat stolen; ln ${file} hard; cat hard`,
          `ls ${at.home} ${at.home}/run; exec 3<>${at.home}/run/contextd.sock`,
          `grep -c contextd.sock /proc/net/unix`,
          `ctxd approve ${id} once; ${CTXD} approve ${id} once; CONTEXTD_HOME=${at.home} ${CTXD} approve ${rule} always`,
          'true',
        ].join('\n'),
      );
      expect(said).not.toContain(token);
      expect(said).not.toContain('[SECRET');
      expect(said).not.toMatch(/allowed/i);
      const read = await at.ask('safe_read', { path: 'stolen' });
      expect(read.success).toBe(false);
      expect((await at.ask('safe_read', { path: file })).data.error_code).toBe('PATH_INVALID');
    });
  });

  it('gets the answer that ctxd is for a person, and no way to allow it', async () => {
    const { meta } = await at.ask('safe_bash', { command: `ctxd approve x once; ${CTXD} approve x once` });
    expect(meta.denied).toMatchObject([
      { kind: 'program', how_to_allow: 'A person can run the command on the host.' },
      { kind: 'program', how_to_allow: 'A person can run the command on the host.' },
    ]);
  });

  it('cannot become another user or enter the host to answer', async () => {
    await whileOneWaits(async (id) => {
      const said = await runInside(
        ['setpriv --reuid 0', 'nsenter -t 1 -a', 'unshare -Ur', 'chroot /proc/1/root']
          .map((as) => `${as} env CONTEXTD_HOME=${at.home} ${CTXD} approve ${id} once`)
          .join('; '),
      );
      expect(said).not.toMatch(/waiting call/);
    });
  });

  it('a token that it is given without decide cannot answer, not even for its own call', async () => {
    const agent = (await at.run(CTXD, ['http', 'token', '--name', 'agent'])).stdout.trim();
    await whileOneWaits(async (id) => {
      for (const target of [id, rule]) {
        const body = { answer: 'always', project: at.project };
        expect((await askHttp(url, `/v1/approvals/${target}/answer`, { token: agent, body })).status).toBe(403);
      }
    });
  });

  it('cannot change a rule, an answer or a setting by a file of the project', async () => {
    await whileOneWaits(async (id) => {
      const answers = JSON.stringify({ approvals: { wait_ms: 0, [id]: 'once' }, rules: [] });
      for (const name of ['.contextd.json', '.claude/contextd.json', 'contextd.lock', '.claude/approvals.json'])
        await runInside(`cat > ${name} <<'X'\n${answers}\nX`);
      const { stdout } = await at.run(CTXD, ['approve', 'rule', 'list']);
      expect(stdout).toContain(rule);
    });
  });
});
