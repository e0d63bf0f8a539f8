import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WARNING_CODES } from '#src/core/envelope.js';
import { openEmbeddingServer } from '../helpers/embedding-server.ts';
import { type Answer, CTXD, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

interface Warning {
  code: string;
  severity: string;
  message: string;
}

type Warned = Answer & { meta: { warning_details?: Warning[]; rate_limit?: Record<string, number> } };

let at: Installation;
const seen = new Set<string>();
beforeAll(async () => {
  // Each secret that a test opens is opened at most twice.
  at = await install({ settings: { 'secrets.max_uses_per_hour': '2' } });
});
afterAll(() => at.remove());

async function ask(tool: string, input: object): Promise<Warned> {
  const answer: Warned = await at.ask(tool, input);
  for (const { code } of answer.meta.warning_details ?? []) seen.add(code);
  return answer;
}

async function configure(settings: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(settings))
    expect(await at.run(CTXD, ['config', 'set', key, value])).toMatchObject({ code: 0, stderr: '' });
  expect(await at.run(CTXD, ['server', 'restart'])).toMatchObject({ code: 0 });
}

describe('issue 30.1.4 the standard warning codes, where they apply', () => {
  it('CONTENT_TRUNCATED: an output is cut', async () => {
    const { meta } = await ask('safe_bash', { command: 'seq 30000' });
    expect(meta.warning_details).toMatchObject([{ code: 'CONTENT_TRUNCATED', severity: 'info' }]);
  });

  it('PARTIAL_FAILURE: some of several files can be read', async () => {
    writeFileSync(join(at.project, 'a.txt'), 'one\n');
    const { success, meta } = await ask('safe_read', { paths: ['a.txt', 'gone.txt'] });
    expect(success).toBe(true);
    expect(meta.warning_details).toEqual([
      { code: 'PARTIAL_FAILURE', severity: 'warning', message: '1 of 2 files could not be read' },
    ]);
    expect(meta.warnings).toBeUndefined();
    const words = await at.run('.claude/tools/safe_read/safe_read', ['--paths', '["a.txt","gone.txt"]']);
    expect(words.stderr).toContain('[contextd 1 of 2 files could not be read]');
    expect((await ask('safe_read', { paths: ['a.txt'] })).meta.warning_details).toBeUndefined();
  });

  it('FALLBACK_USED: a view that cannot be made', async () => {
    const { meta } = await ask('safe_bash', { command: 'echo no JSON', view: { json_path: '$.a' } });
    expect(meta.warning_details).toMatchObject([{ code: 'FALLBACK_USED', severity: 'info' }]);
  });

  it('DEPRECATED_FIELD: a call uses an argument that the author of the tool has marked', async () => {
    const property = { type: 'string', maxLength: 9 };
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      properties: { city: property, town: { ...property, deprecated: true } },
    };
    makeTool(join(at.project, 'weather'), {
      script: `#!/bin/sh\nprintf '{"ok":true}'\n`,
      files: { 'schema.json': JSON.stringify(schema), 'TOOL_EXTENDED.md': '# weather\n\n`city`, `town`: the city.\n' },
    });
    const done = await at.run(CTXD, ['tool', 'install', './weather', '--yes']);
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect((await ask('weather', { city: 'x' })).meta.warning_details).toBeUndefined();
    expect((await ask('weather', { town: 'x' })).meta.warning_details).toEqual([
      { code: 'DEPRECATED_FIELD', severity: 'info', message: "deprecated by the tool's author: town" },
    ]);
  });

  it('RATE_LIMIT_APPROACHING: a secret was used nearly as often as allowed, and rate_limit says how often it can be', async () => {
    const value = `${Buffer.from(`${Math.random()}${Date.now()}`).toString('hex')}aB3`;
    writeFileSync(join(at.project, '.env'), `API_TOKEN=${value}\n`);
    const token = /\[SECRET_\d+\]/.exec((await ask('safe_bash', { command: 'cat .env' })).data.stdout ?? '')?.[0];
    const write = (path: string) => ask('safe_write', { path, content: `${token}`, mode: 'create' });
    expect((await write('first')).meta.rate_limit).toBeUndefined();
    const second = await write('second');
    expect(second.success).toBe(true);
    expect(second.meta.warning_details).toMatchObject([{ code: 'RATE_LIMIT_APPROACHING', severity: 'warning' }]);
    expect(second.meta.rate_limit).toEqual({ limit: 2, remaining: 0, retry_after_ms: expect.any(Number) });
    const third = await write('third');
    expect(third).toMatchObject({ success: false, data: { error_code: 'RATE_LIMITED' } });
    expect(third.meta.rate_limit).toMatchObject({ limit: 2, remaining: 0 });
  });

  it('STALE_CACHE and FALLBACK_USED: the shared store and the model of a memory search do not answer', async () => {
    await ask('memory_store', { title: 'Pears are ripe', content: 'Pick them in autumn.', outcome: 'success' });
    await configure({
      'memory.embedding.url': 'http://127.0.0.1:9/v1',
      'memory.embedding.model': 'none',
      'memory.embedding.provider': 'http',
      'memory.qdrant.project_ids': JSON.stringify({ [at.project]: 'shop' }),
      'memory.qdrant.url': 'http://127.0.0.1:9',
    });
    const { data, meta } = await ask('memory_search', { query: 'pears' });
    expect(data).not.toHaveProperty('degraded');
    const codes = (meta.warning_details ?? []).map(({ code }) => code);
    expect(codes).toEqual(['STALE_CACHE', 'FALLBACK_USED']);
    const words = await at.run('.claude/tools/memory_search/memory_search', ['pears']);
    expect(words.stderr).toContain('[contextd searched by words only:');
  });

  it('are all of them, and no other code is published', () => {
    expect([...seen].sort()).toEqual([...WARNING_CODES].sort());
  });
});

it('issue 33.4 a tool that shares no word with a query is found by the model that a person lets see tools', async () => {
  const server = await openEmbeddingServer();
  server.vectorOf = (text) => (/^safe bash|zebra/.test(text) ? [1, 0.1] : [0.1, 1]);
  await configure({ 'memory.embedding.url': server.url, 'memory.embedding.tools': 'true' });
  const { data } = await ask('tool_browse', { query: 'zebra' });
  expect(data.cards).toEqual([]);
  const first = async () => (await ask('tool_browse', { query: 'zebra', top_k: 1 })).data.cards;
  await expect.poll(first).toEqual([expect.objectContaining({ id: 'contextd:safe_bash@1.0.0' })]);
});

describe('issue 30.1.4 a digest of a text', () => {
  const view = { digest: { query: 'pump' } };

  it('names pages, and is shown as it is when it is digested again', async () => {
    const command = `printf 'One\\n\\fTwo says:\\nthe pump leaks at the seal\\n\\fThree\\n' | tee pages.txt`;
    const first = await ask('safe_bash', { command, view });
    const payload = JSON.parse(first.data.stdout ?? '');
    expect(payload.evidence_snippets).toMatchObject([{ locator: 'page:2:char:10-36' }]);
    writeFileSync(join(at.project, 'digest.json'), first.data.stdout ?? '');
    const again = await ask('safe_bash', { command: 'cat digest.json', view });
    expect(again.data.stdout).toBe(first.data.stdout);
    expect(again.meta).toMatchObject({ view: { content_type: 'digest/v1' } });
    expect(again.meta).not.toHaveProperty('content_fidelity');
  });
});
