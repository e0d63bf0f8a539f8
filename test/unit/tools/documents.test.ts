import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { commonOptionsOf } from '#src/catalog/arguments.js';
import { faultOfName } from '#src/catalog/reserved-names.js';
import { ANY, findSecretInputs, refusesTokens } from '#src/catalog/secret-inputs.js';
import { FOR_SERVERS } from '#src/catalog/tool-list.js';
import { readToolDirectory } from '#src/catalog/verify-tool/read-tool.js';
import { verifyTogether, verifyTool } from '#src/catalog/verify-tool/verify-tool.js';
import { rulesText, skillText } from '#src/cli/init/agent-texts.js';
import { shellNameOf } from '#src/core/shell-names.js';
import { cl100k } from '../../helpers/tiktoken.ts';

const TOOLS = join(import.meta.dirname, '..', '..', '..', 'tools');
const names = readdirSync(TOOLS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** NFR-2.2: more than other tools have. */
const SLOW = { timeout_ms: 3_600_000, default_timeout_ms: 120_000 };

/** The keys of a manifest beyond those that all manifests have. */
const MANIFESTS: Readonly<Record<string, object>> = {
  checkpoint_list: { budget: 'search' },
  checkpoint_restore: { grants: ['checkpoint_restore'], budget: 'checkpoint', limits: { default_timeout_ms: 120_000 } },
  checkpoint_save: { grants: ['checkpoint_save'] },
  jobs: { limits: SLOW },
  memory_search: { grants: ['memory_search'], budget: 'search' },
  memory_store: { grants: ['memory_store'] },
  prompt_browse: { runtime: 'host' },
  prompt_get: { runtime: 'host' },
  resource_browse: { runtime: 'host' },
  resource_read: { runtime: 'host' },
  return: { limits: { default_timeout_ms: 120_000 } },
  safe_bash: { grants: ['exec'], limits: SLOW },
  safe_read: { exact: true },
  session_init: { grants: ['exec', 'memory_search'], budget: 'warm_start' },
  tool_browse: { runtime: 'host' },
  tool_execute: { runtime: 'host' },
  tool_hydrate: { runtime: 'host' },
};

/** What the calls of each tool do: safety hangs on it, so it is stated here again. */
const EFFECTS: Readonly<Record<string, object>> = {
  branch: { files: 'none', session: 'record' },
  checkpoint_list: { files: 'none', session: 'record' },
  checkpoint_restore: { files: 'write', session: 'restore' },
  checkpoint_save: { files: 'read', session: 'record' },
  jobs: { files: 'write', session: 'record' },
  memory_feedback: { files: 'none', session: 'memory' },
  memory_get: { files: 'none', session: 'memory' },
  memory_search: { files: 'none', session: 'memory' },
  memory_store: { files: 'none', session: 'memory' },
  prompt_browse: { files: 'none', session: 'record' },
  prompt_get: { files: 'none', session: 'look' },
  resource_browse: { files: 'none', session: 'record' },
  resource_read: { files: 'none', session: 'look' },
  return: { files: 'write', session: 'return' },
  safe_bash: { files: 'write', session: 'command' },
  safe_read: { files: 'read', session: 'look' },
  safe_write: { files: 'write', session: 'edit' },
  session_init: { files: 'write', session: 'start' },
  tool_browse: { files: 'none', session: 'record' },
  tool_execute: { files: 'none', session: 'execute' },
  tool_hydrate: { files: 'none', session: 'record' },
  tool_view: { files: 'none', session: 'view' },
};

function read(name: string, file: string): string {
  return readFileSync(join(TOOLS, name, file), 'utf8');
}

function schemaOf(name: string) {
  return JSON.parse(read(name, 'schema.json'));
}

/** Counts with an encoder other than the one that ctxd uses. */
async function verify(name: string) {
  return verifyTool(await readToolDirectory(join(TOOLS, name), ''), (text) => cl100k.encode(text).length, 'core');
}

describe.each(names)('%s', (name) => {
  it('FR-2.3 FR-2.4 FR-2.5 CE-1.2 DATA-3 passes every check for tools', async () => {
    const { checks } = await verify(name);
    expect(checks.filter((check) => !check.passed)).toEqual([]);
    expect(checks.map((check) => check.rule)).toEqual(
      expect.arrayContaining(['TOOL.md form', 'TOOL.md cost', 'TOOL_EXTENDED.md', 'tool.json', 'schema.json compiles']),
    );
  });

  it('has a name that no tool of others can have', async () => {
    expect(await faultOfName(name, ''), 'see OWN in src/catalog/reserved-names.ts').toBe(
      'is a name that contextd or a shell uses itself',
    );
  });

  it('has a schema of at most 180 tokens', async () => {
    expect((await verify(name)).schemaTokens).toBeLessThanOrEqual(180);
  });

  it('has examples in its extended documents that fit its schema', () => {
    const validate = new Ajv2020({
      allowUnionTypes: true,
      keywords: ['x-contextd-secret', 'x-contextd-primary'],
    }).compile(schemaOf(name));
    const examples = [
      ...read(name, 'TOOL_EXTENDED.md').matchAll(new RegExp(`^ {4}${shellNameOf(name)} '(\\{".+)'$`, 'gm')),
    ];
    expect(examples.length).toBeGreaterThan(2);
    for (const [, example = ''] of examples) {
      const own = Object.entries(JSON.parse(example)).filter(
        ([key]) => !commonOptionsOf(Object.keys(schemaOf(name).properties ?? {})).includes(key),
      );
      expect(validate(Object.fromEntries(own)), example).toBe(true);
    }
  });

  it('has a manifest with the grants it needs and no more', () => {
    expect(JSON.parse(read(name, 'tool.json')), 'MANIFESTS and EFFECTS state it again').toEqual({
      name,
      purpose: expect.any(String),
      version: '1.0.0',
      grants: [],
      effects: EFFECTS[name],
      min_isolation: 'reduced',
      text: expect.any(Array),
      answer_names: expect.any(Array),
      ...MANIFESTS[name],
    });
  });
});

it('SEC-1.4 a secret may become its value in what safe_write writes and in a variable of safe_bash, nowhere else', () => {
  const marked = names.flatMap((name) =>
    findSecretInputs(name, schemaOf(name)).map(({ path, purpose }) => [name, ...path, purpose]),
  );
  expect(marked).toEqual([
    ['safe_bash', 'secrets', ANY, 'env'],
    ['safe_write', 'content', 'file'],
    ['safe_write', 'edits', ANY, 'old', 'file'],
    ['safe_write', 'edits', ANY, 'new', 'file'],
    ['safe_write', 'patch', 'file'],
  ]);
  expect(names.filter((name) => refusesTokens(schemaOf(name)))).toEqual(['jobs', 'safe_bash']);
});

it('CE-1.1 all schemas together are under 1,500 tokens', async () => {
  const together = verifyTogether(
    (await Promise.all(names.map(verify))).map((report) => ({ ...report, isCore: true })),
  );
  expect(together, together.detail).toMatchObject({ passed: true, figure: expect.any(Number) });
  expect(together.figure).toBeLessThan(1_500);
  // Those for what only MCP servers have are not among them.
  expect(together.rule).toBe(`all schemas (${names.length - FOR_SERVERS.size})`);
});

it('CE-3.2 nothing that a conversation loads by itself holds the extended documents', () => {
  const tools = names.map((name) => ({
    name,
    isCore: true,
    schemaTokens: null,
    purpose: JSON.parse(read(name, 'tool.json')).purpose,
    schemaJson: read(name, 'schema.json'),
    toolMd: read(name, 'TOOL.md'),
    toolExtendedMd: read(name, 'TOOL_EXTENDED.md'),
  }));
  const loaded = rulesText(tools) + skillText(tools);
  for (const { toolExtendedMd } of tools)
    for (const line of toolExtendedMd.split('\n').filter((text) => text.length > 40))
      expect(loaded).not.toContain(line);
});
