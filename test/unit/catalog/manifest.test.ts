import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createArgumentCompiler } from '#src/catalog/arguments.js';
import { parseManifest } from '#src/catalog/manifest.js';

describe('tool.json has a closed schema', () => {
  const good = { name: 'hello', purpose: 'says hello', grants: ['exec'], min_isolation: 'reduced' };

  const profile = { entry: 'main.js', minIsolation: 'reduced', seccomp: [], limits: {} };

  it('accepts the kind of the budget and whether texts are exact', () => {
    const manifest = parseManifest('tool.json', JSON.stringify({ ...good, budget: 'search', exact: true }));
    expect(manifest).toMatchObject({ budget: 'search', isExact: true });
    for (const wrong of [{ budget: 'huge' }, { budget: 1 }, { exact: 'yes' }])
      expect(() => parseManifest('tool.json', JSON.stringify({ ...good, ...wrong }))).toThrowError(
        expect.objectContaining({ code: 'SCHEMA_INVALID' }),
      );
  });

  it('accepts a valid manifest', () => {
    expect(parseManifest('tool.json', JSON.stringify(good))).toEqual({
      name: 'hello',
      purpose: 'says hello',
      grants: ['exec'],
      profile,
      budget: 'answer',
      isExact: false,
    });
  });

  it('accepts a program in any language, with a profile of its own', () => {
    const own = {
      entry: 'bin/hello',
      seccomp: ['no-inet', 'no-unix', 'debugger'],
      limits: { memory_mb: 64, pids: 16, cpus: 0.5, timeout_ms: 1000 },
      grants: ['exec', 'scrub', 'log', 'memory_search', 'memory_store', 'checkpoint_save', 'checkpoint_restore'],
    };
    expect(parseManifest('tool.json', JSON.stringify({ ...good, ...own }))).toMatchObject({
      grants: own.grants,
      profile: {
        entry: 'bin/hello',
        seccomp: own.seccomp,
        limits: { memoryMb: 64, pids: 16, cpus: 0.5, timeoutMs: 1000 },
      },
    });
  });

  it.each([
    ['an unknown key', { ...good, grant: ['exec'] }, 'unknown key "grant"'],
    ['an unknown grant', { ...good, grants: ['network'] }, '"grants"'],
    ['a grant of the core tools', { ...good, grants: ['branch_open'] }, '"grants"'],
    ['a grant twice', { ...good, grants: ['exec', 'exec'] }, '"grants"'],
    ['no grants', { ...good, grants: undefined }, '"grants"'],
    ['a name that is a path', { ...good, name: '../x' }, '"name"'],
    ['no purpose', { ...good, purpose: '' }, '"purpose"'],
    ['no isolation', { ...good, min_isolation: 'none' }, '"min_isolation"'],
    ['an unknown seccomp rule', { ...good, seccomp: ['none'] }, '"seccomp"'],
    ['limits that are a list', { ...good, limits: [] }, '"limits"'],
    ['an unknown limit', { ...good, limits: { memory: 1 } }, '"limits" has an unknown key "memory"'],
    ['too little memory', { ...good, limits: { memory_mb: 63 } }, '"limits.memory_mb"'],
    ['too few processes', { ...good, limits: { pids: 15 } }, '"limits.pids"'],
    ['half a process', { ...good, limits: { pids: 16.5 } }, '"limits.pids"'],
    ['no processor', { ...good, limits: { cpus: 0 } }, '"limits.cpus"'],
    ['no time', { ...good, limits: { timeout_ms: 0 } }, '"limits.timeout_ms"'],
  ])('refuses %s', (_what, manifest, fault) => {
    expect(() => parseManifest('tool.json', JSON.stringify(manifest))).toThrow(fault);
  });

  it.each([
    '',
    '/bin/sh',
    '..',
    '../main.js',
    'a/../../main.js',
    'a/..',
    './main.js',
    'a//b',
    'a/',
    'a\nb',
    'a b',
    '.../x',
    7,
  ])('refuses the entry %j: only a program in the accepted bundle runs', (entry) => {
    expect(() => parseManifest('tool.json', JSON.stringify({ ...good, entry }))).toThrow('"entry"');
  });

  it('lists every fault at once', () => {
    expect(() => parseManifest('tool.json', '{"name":"X","grants":[1],"min_isolation":"full"}')).toThrow(
      /"name".*"purpose".*"grants"/,
    );
  });

  it.each(['', '[]', '{'])('refuses %j', (text) => {
    expect(() => parseManifest('tool.json', text)).toThrow('tool.json');
  });
});

const compileArguments = createArgumentCompiler();

describe('FR-2.3 argument schemas are JSON Schema draft 2020-12', () => {
  const schema = compileArguments('hello', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: {
      path: { type: 'string' },
      content: { type: 'string', 'x-contextd-secret': 'file' },
      mode: { enum: ['a', 'b'] },
    },
  });

  it('names the pointer, the fault and the allowed names', () => {
    expect(() => schema.check({ path: 7, mode: 'c', extra: 1 })).toThrowError(
      expect.objectContaining({
        code: 'ARGS_INVALID',
        message: expect.stringMatching(/\/path must be string.*|unknown property "extra"/),
        remedy: expect.stringContaining('path, content, mode'),
      }),
    );
  });

  it('never repeats the value of an argument: it may be a secret', () => {
    expect(() => schema.check({ path: 'x', mode: 'my-password' })).toThrowError(
      expect.objectContaining({ message: expect.not.stringContaining('my-password') }),
    );
  });

  it.each(['config.schema.json', 'safe_bash', 'safe_read', 'safe_write'])(
    'accepts %s by the schema of schemas',
    (name) => {
      const root = join(import.meta.dirname, '../../..');
      const file = name.endsWith('.json') ? join(root, 'docs', name) : join(root, 'tools', name, 'schema.json');
      const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, keywords: ['x-contextd-secret'] });
      const own = JSON.parse(readFileSync(file, 'utf8'));
      expect(ajv.validateSchema(own)).toBe(true);
      expect(ajv.validateSchema({ ...own, type: 'objekt' })).toBe(false);
    },
  );

  it('knows which inputs opted in to secrets', () => {
    expect(schema.secretInputs).toEqual([{ path: ['content'], purpose: 'file' }]);
  });

  it('refuses a schema that does not compile', () => {
    expect(() => compileArguments('hello', { type: 'objekt' })).toThrowError(
      expect.objectContaining({ code: 'SCHEMA_INVALID' }),
    );
  });
});
