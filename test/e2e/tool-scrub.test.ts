import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

/** Makes a key, has it scrubbed and answers with what came back. */
const TOOL = `import { randomBytes } from 'node:crypto';
import { ContextdError, serveTool } from '@contextd/sdk';
let earlier = '';
serveTool({ name: 'weather', async execute({ host }, { city }) {
  if (city === 'invents') return { data: { text: 'see [SECRET_1] and [SECRET_7]' } };
  if (city === 'remembers') return { data: { text: earlier } };
  const key = 'ghp_' + randomBytes(64).toString('base64').replace(/[^A-Za-z0-9]/g, '').slice(0, 36);
  const [text = ''] = await host.scrub(['GITHUB_TOKEN=' + key + '\\n# like [SECRET_7]\\n']);
  const [again = ''] = await host.scrub([text]);
  earlier = text;
  if (city === 'fails') throw new ContextdError('NOT_FOUND', 'cannot use ' + text.split('\\n')[0]);
  return { data: { text, again, other: '[SECRET_999]' }, streams: [{ field: 'log', text: 'used ' + text }] };
} });
`;

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
  const dir = join(at.project, 'weather');
  makeTool(dir, {
    grants: ['scrub'],
    files: { 'main.ts': TOOL },
    manifest: { runtime: 'node', entry: 'main.ts' },
  });
  expect(await at.run(CTXD, ['tool', 'install', dir, '--yes'])).toMatchObject({ code: 0 });
});
afterAll(() => at.remove());

describe('SEC-1.2 SEC-1.4 a token that a tool got from ToolHost.Scrub', () => {
  it('is a token in its answer, and another tool can use it', async () => {
    const { data } = await at.ask('weather', { city: 'Oslo' });
    const text = String(data.text);
    expect(text).toMatch(/^GITHUB_TOKEN=\[SECRET_\d+\]\n# like \[SECRET\\_7\]\n$/);
    expect(data.again).toBe(text);
    expect(data.log).toBe(`used ${text}`);
    expect(data.other).toBe('[SECRET\\_999]');
    const written = await at.ask('safe_write', { path: 'settings.env', content: text });
    expect(written.success).toBe(true);
    expect(readFileSync(join(at.project, 'settings.env'), 'utf8')).toMatch(
      /^GITHUB_TOKEN=ghp_[A-Za-z0-9]{36}\n# like \[SECRET_7\]\n$/,
    );
    expect((await at.ask('safe_read', { path: 'settings.env' })).data.content).toBe(text);
  });

  it('is a token in the message of a failure', async () => {
    const { error } = await at.ask('weather', { city: 'fails' });
    expect(JSON.stringify(error)).toMatch(/cannot use GITHUB_TOKEN=\[SECRET_\d+\]/);
  });

  it('is text if the tool invented it, or got it in another call', async () => {
    expect((await at.ask('weather', { city: 'invents' })).data.text).toBe('see [SECRET\\_1] and [SECRET\\_7]');
    await at.ask('weather', { city: 'Oslo' });
    expect((await at.ask('weather', { city: 'remembers' })).data.text).toMatch(/^GITHUB_TOKEN=\[SECRET\\_\d+\]\n/);
  });
});
