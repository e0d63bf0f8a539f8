import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '#src/config/load.js';
import { CONFIG_SCHEMA } from '#src/config/schema.js';

let home = '';
let configFile = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'contextd-config-'));
  configFile = join(home, 'config.json');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const load = async (text: string) => {
  await writeFile(configFile, text);
  return loadConfig({ configFile });
};

describe('the configuration', () => {
  it('NFR-2.2: fills in the same defaults for an empty file as the compiled schema does beside a setting', async () => {
    const absent = await loadConfig({ configFile });
    expect(await load('{"$schema":"x"}')).toEqual(absent);
    expect(await load('{}')).toEqual(absent);
    expect(Object.keys(absent).length).toBeGreaterThan(8);
  });

  it('NFR-2.2 is the defaults if there is no file: 30 s a call, 300 s at most', async () => {
    const config = await loadConfig({ configFile });
    expect(config.timeout).toEqual({ default_ms: 30_000, max_ms: 300_000, tools: {} });
    expect(config.budget).toEqual({
      default_tokens: 2000,
      max_tokens: 20_000,
      tools: {},
      doors: {},
      shell_whole_tokens: 7_000,
      shell_cut_tokens: 850,
      telemetry: false,
    });
    expect(Object.values(config.densify)).toEqual([true, true, true, true, true]);
    expect(config.output.max_bytes).toBe(64 * 1024 * 1024);
    expect(config.server).toEqual({
      drain_ms: 5000,
      max_concurrent_calls: 64,
      max_caller_calls: 56,
      max_session_calls: 48,
    });
    expect(config.sandbox.cpus).toBeNull();
  });

  it("NFR-2.2 prefers the file's settings to the defaults, up to a day", async () => {
    const config = await load('\uFEFF{"$schema":"x","timeout":{"default_ms":1000}}');
    expect(config.timeout).toEqual({ default_ms: 1000, max_ms: 300_000, tools: {} });
    expect(config).not.toHaveProperty('$schema');
    await expect(load('{"timeout":{"max_ms":86400001}}')).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  });

  it('lists every fault with its path and the likely key', async () => {
    const text = JSON.stringify({
      budget: { defaultTokens: 3, max_tokens: 'many' },
      log: { level: 'loud' },
      sandbx: {},
      sandbox: { ro_paths: ['/opt/ok', 'relative', '/'] },
    });
    const error = await load(text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'SCHEMA_INVALID', remedy: expect.stringContaining('docs/config.schema.json') });
    const faults = expect.objectContaining({ faults: expect.any(Array) });
    expect(error).toMatchObject({ details: faults });
    const message = error instanceof Error ? error.message : '';
    expect(message).toContain(`${configFile} is invalid: `);
    expect(message).toContain('/budget/defaultTokens is not a setting; did you mean default_tokens?');
    expect(message).toContain('/budget/max_tokens must be integer, but is "many"');
    expect(message).toContain(
      '/log/level must be equal to one of the allowed values: debug, info, warn, error, but is "loud"',
    );
    expect(message).toContain('/sandbx is not a setting; the settings are budget, ');
    expect(message).toContain('/sandbox/ro_paths/1 ');
    expect(message).toContain('/sandbox/ro_paths/2 ');
    expect(message).not.toContain('/sandbox/ro_paths/0');
  });

  it('refuses a setting of a missing feature like any other unknown key', async () => {
    const faults = async (text: string) => load(text).catch((thrown: unknown) => String(thrown));
    for (const key of ['search_tokens', 'checkpoint_tokens', 'warm_start_tokens'])
      expect(await faults(`{"budget":{"${key}":500}}`)).toContain(
        `/budget/${key} is not a setting; the settings are default_tokens, `,
      );
    for (const door of ['websocket'])
      expect(await faults(`{"budget":{"doors":{"${door}":{"max_tokens":500}}}}`)).toContain(
        `/budget/doors/${door} is not a setting; the settings are grpc, http, mcp`,
      );
    expect(await faults('{"qdrant":{"url":null}}')).toContain('/qdrant is not a setting; the settings are budget, ');
  });

  it('refuses a default above its own maximum', async () => {
    await expect(load('{"budget":{"max_tokens":300}}')).rejects.toMatchObject({
      message: expect.stringContaining(
        '/budget/default_tokens must be at most /budget/max_tokens, which is 300, but is 2000',
      ),
    });
  });

  it.each([
    ['not JSON', '{"budget":', 'the file is not JSON: '],
    ['a list', '[]', 'the file must be a JSON object'],
  ])('refuses a file that is %s', async (_, text, message) => {
    await expect(load(text)).rejects.toMatchObject({
      code: 'SCHEMA_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it('refuses a directory in the place of the file', async () => {
    await mkdir(configFile);
    await expect(loadConfig({ configFile })).rejects.toMatchObject({
      code: 'SCHEMA_INVALID',
      message: `cannot read ${configFile} (EISDIR)`,
    });
  });

  it('has its schema published in docs/config.schema.json, which `vitest -u` writes', async () => {
    const published = join(import.meta.dirname, '..', '..', '..', 'docs', 'config.schema.json');
    await expect(`${JSON.stringify(CONFIG_SCHEMA, null, 2)}\n`).toMatchFileSnapshot(published);
  });
});
