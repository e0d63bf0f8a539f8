import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API, GIT, PACKAGES, type PrivateHosts, startPrivateHosts } from '../fixtures/private-host.ts';
import { createAuthority } from '../helpers/authority.ts';
import { type Answer, CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

const MAIN = `import { serveTool } from '@contextd/sdk';

serveTool({
  name: 'fetcher',
  async execute({ host, workspace }, { url, way }) {
    if (way === 'command') {
      const { stdout, stderr, exit_code } = await host.exec({ command: 'curl -sS -w "%{http_code}" -o /dev/null ' + url, cwd: workspace, env: {}, stdin: null });
      return { data: { said: stdout + stderr, exit_code } };
    }
    const said = await fetch(url).then(({ status }) => String(status), (failed) => String(failed.cause?.message ?? failed));
    return { data: { said } };
  },
});
`;
interface Denied {
  host?: string;
  port?: number;
  rule: string;
  how_to_allow: string;
}

/** The hosts: what a person granted to the tool, what they granted and then denied, and what they allowed to commands only. */
const GRANTED = API;
const DENIED = GIT;
const ALLOWED = PACKAGES;
const NEITHER = 'evil.example.com';
const NOT_DECLARED = 'the tool does not declare this host and port in its tool.json';

describe('a tool with grants for the network', () => {
  let at: Installation;
  let hosts: PrivateHosts;
  let outside: string;

  const ctxd = (words: readonly string[], env: Record<string, string> = {}): Promise<Finished> =>
    at.run(CTXD, words, { env });
  const ask = (host: string, way: 'process' | 'command', port = 443): Promise<Answer> =>
    at.ask('fetcher', { url: `https://${host}:${port}/`, way });
  const deniedOf = ({ meta }: Answer): Denied[] => (meta.denied ?? []) as Denied[];

  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'tool-network-'));
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      required: ['url', 'way'],
      properties: {
        url: { type: 'string', maxLength: 200, description: 'What to fetch.' },
        way: { enum: ['process', 'command'], description: 'Who fetches it.' },
      },
    };
    makeTool(join(outside, 'fetcher'), {
      name: 'fetcher',
      manifest: { runtime: 'node', entry: 'main.js', grants: ['exec', `network:${API}`, `network:${GIT}`] },
      files: {
        'main.js': MAIN,
        'schema.json': JSON.stringify(schema),
        'TOOL_EXTENDED.md': '# fetcher\n\n`url`, `way`\n',
      },
    });
    const authority = await createAuthority('Corp CA');
    writeFileSync(join(outside, 'ca.pem'), authority.pem);
    hosts = await startPrivateHosts(await authority.issue(API, GIT, PACKAGES), {
      secret: 'none',
      repositories: outside,
    });
    at = await install({ init: false });
    await ctxd(['config', 'set', 'network.upstream_proxy', hosts.proxyUrl]);
    await ctxd(['config', 'set', 'install.yes_grants', '["exec","network:*"]']);
    await ctxd(['init', '--no-network', '--no-toolchains']);
    expect(await ctxd(['tool', 'install', join(outside, 'fetcher'), '--yes'])).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('ctxd:'),
    });
    await ctxd(['network', 'mirrors', '--yes'], { NODE_EXTRA_CA_CERTS: join(outside, 'ca.pem') });
    await ctxd(['network', 'allow', ALLOWED, '--yes']);
    await ctxd(['network', 'deny', DENIED, '--yes']);
  });
  afterAll(async () => {
    await at?.remove();
    await hosts?.close();
    rmSync(outside, { recursive: true, force: true });
  });

  for (const way of ['process', 'command'] as const) {
    it(`reaches from its ${way} what a person granted to it, with the certificates of the person`, async () => {
      const answer = await ask(GRANTED, way);
      expect(answer.data.said).toBe('200');
      expect(deniedOf(answer)).toEqual([]);
    });

    it(`is refused from its ${way} what a person denied, whatever they granted`, async () => {
      const answer = await ask(DENIED, way);
      expect(answer.data.said).not.toContain('200');
      expect(deniedOf(answer)).toMatchObject([{ host: DENIED, rule: expect.stringContaining(DENIED) }]);
    });

    const never: readonly [what: string, host: string, port: number][] = [
      ['a person allowed to commands of the project', ALLOWED, 443],
      ['nobody names', NEITHER, 443],
      ['it declares for other ports', GRANTED, 8443],
    ];
    for (const [what, host, port] of never)
      it(`is refused from its ${way} what ${what}, and the answer says that it does not declare it`, async () => {
        const answer = await ask(host, way, port);
        expect(answer.data.said).not.toContain('200');
        expect(JSON.stringify(answer)).not.toContain('ctxd network allow');
        expect(deniedOf(answer)).toMatchObject([
          { host, rule: NOT_DECLARED, how_to_allow: 'No permission changes this.' },
        ]);
      });
  }

  it('gets the same words from the proxy itself', async () => {
    const answer = await at.ask('fetcher', { url: `http://${ALLOWED}/`, way: 'command' });
    expect(answer.data.said).toContain('403');
    const body = await at.ask('fetcher', { url: `-D - http://${NEITHER}/`, way: 'command' });
    expect(body.data.said).toContain(`contextd refused ${NEITHER}:80: ${NOT_DECLARED}`);
    expect(body.data.said).not.toContain('ctxd network');
  });

  it('is listed with what it may reach', async () => {
    const { stdout } = await ctxd(['network', 'list']);
    expect(stdout).toContain(`The tool fetcher asks for ${API}, ${GIT}: may reach ${API}.`);
  });

  it('does not change what commands of the project reach', async () => {
    const { data } = await at.ask('safe_bash', {
      command: `curl -sS -o /dev/null -w '%{http_code}' https://${ALLOWED}/`,
    });
    expect(data.stdout).toBe('401');
  });
});
