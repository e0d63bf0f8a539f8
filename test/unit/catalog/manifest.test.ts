import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createArgumentCompiler } from '#src/catalog/arguments.js';
import { whyNotForOthers } from '#src/catalog/effects.js';
import { parseManifest } from '#src/catalog/manifest.js';

/** Of the lengths of an Ed25519 public key and signature. */
const KEY = Buffer.alloc(32, 7).toString('base64');
const SIGNATURE = Buffer.alloc(64, 7).toString('base64');

describe('tool.json is closed', () => {
  const good = {
    name: 'hello',
    purpose: 'says hello',
    version: '1.0.0',
    grants: ['exec'],
    min_isolation: 'reduced',
  };

  const profile = { runtime: 'node', entry: 'main.js', minIsolation: 'reduced', seccomp: [], limits: {} };

  it('reads the kind of its budget and whether its texts are exact', () => {
    const manifest = parseManifest('tool.json', JSON.stringify({ ...good, budget: 'search', exact: true }));
    expect(manifest).toMatchObject({ budget: 'search', isExact: true });
    for (const wrong of [{ budget: 'huge' }, { budget: 1 }, { exact: 'yes' }])
      expect(() => parseManifest('tool.json', JSON.stringify({ ...good, ...wrong }))).toThrowError(
        expect.objectContaining({ code: 'SCHEMA_INVALID' }),
      );
  });

  it('reads the effects of its calls; what it does not state may be anything', () => {
    const effectsOf = (effects: unknown) => parseManifest('tool.json', JSON.stringify({ ...good, effects })).effects;
    expect(effectsOf({ files: 'none' })).toEqual({ files: 'none', session: 'work' });
    expect(effectsOf({ session: 'look' })).toEqual({ files: 'write', session: 'look' });
    expect(effectsOf({ files: 'read', session: 'edit' })).toEqual({ files: 'read', session: 'edit' });
    const wrong: [unknown, string][] = [
      ['none', '"effects" must be an object'],
      [{ files: 'delete' }, '"effects.files" must be one of none, read, write'],
      [{ files: null }, '"effects.files" must be one of none, read, write'],
      [{ session: 'toString' }, '"effects.session" must be one of work, command, edit, look, record, view,'],
      [{ file: 'none' }, '"effects" has an unknown key "file"'],
    ];
    for (const [effects, fault] of wrong)
      expect(() => effectsOf(effects), fault).toThrowError(
        expect.objectContaining({ code: 'SCHEMA_INVALID', message: expect.stringContaining(fault) }),
      );
  });

  it('reads the names that the tool chose for its answers', () => {
    const namesOf = (names: unknown) =>
      parseManifest('tool.json', JSON.stringify({ ...good, answer_names: names })).answerNames;
    expect(namesOf(['exit_code', 'content_#'])).toEqual(['exit_code', 'content_#']);
    for (const wrong of ['exit_code', [1], ['#'], ['Exit'], ['a-b'], ['content_#x'], ['']])
      expect(() => namesOf(wrong), JSON.stringify(wrong)).toThrowError(
        expect.objectContaining({ code: 'SCHEMA_INVALID', message: expect.stringContaining('"answer_names"') }),
      );
  });

  it('reads a valid manifest', () => {
    expect(parseManifest('tool.json', JSON.stringify(good))).toEqual({
      name: 'hello',
      purpose: 'says hello',
      version: '1.0.0',
      source: null,
      signature: null,
      grants: ['exec'],
      profile,
      effects: { files: 'write', session: 'work' },
      isHost: false,
      answerNames: [],
      budget: 'answer',
      isExact: false,
      text: null,
    });
  });

  it('reads that the daemon answers a tool, which only a core tool may state', () => {
    const manifest = parseManifest('tool.json', JSON.stringify({ ...good, runtime: 'host' }));
    expect(manifest.isHost).toBe(true);
    expect(whyNotForOthers(manifest)).toBe(
      '"runtime" is "host", which is for the core tools alone; use node, plugin, exec',
    );
    expect(whyNotForOthers(parseManifest('tool.json', JSON.stringify(good)))).toBeNull();
  });

  it('takes templates for the text form, with braces only around the name of a fact', () => {
    const lines = ['wrote {path}: {bytes} bytes', '{n_1}', 'plain'];
    expect(parseManifest('tool.json', JSON.stringify({ ...good, text: lines })).text).toEqual(lines);
    expect(parseManifest('tool.json', JSON.stringify({ ...good, text: [] })).text).toEqual([]);
    const wrong = [
      'x',
      {},
      [1],
      [''],
      ['{'],
      ['}'],
      ['{A}'],
      ['{a b}'],
      ['{{a}}'],
      ['a\nb'],
      ['x'.repeat(201)],
      Array(13).fill('x'),
    ];
    for (const text of wrong)
      expect(() => parseManifest('tool.json', JSON.stringify({ ...good, text }))).toThrow(/"text" must be a list/);
  });

  it.each([
    'https://example.com/hello-1.0.0.tgz',
    'git+https://git.example.com/tools/hello#0123456789abcdef',
    'git+ssh://git@git.example.com/tools/hello',
    's3://tools.example.com/hello.tgz',
  ])('takes the source %s', (source) => {
    expect(parseManifest('tool.json', JSON.stringify({ ...good, source })).source).toBe(source);
  });

  it('takes a version with a label, and a signature with the key it was made with', () => {
    const own = { ...good, version: '1.0.0-beta.1', signature: `ed25519:${KEY}:${SIGNATURE}` };
    const { version, signature } = parseManifest('tool.json', JSON.stringify(own));
    expect(version).toBe('1.0.0-beta.1');
    expect(signature?.publicKey.toString('base64')).toBe(KEY);
    expect(signature?.signature.toString('base64')).toBe(SIGNATURE);
  });

  it.each([
    'network:registry.example.com',
    'network:*.example.com',
    'network:git.example.com:22',
    'network:*.git.example.com:8443',
    'network:npm',
    'network:python-packages',
  ])('takes the grant %s', (grant) => {
    expect(parseManifest('tool.json', JSON.stringify({ ...good, grants: [grant] })).grants).toEqual([grant]);
  });

  it.each([
    ['network:', 'a host has a dot in its name'],
    ['network:https://example.com', 'without scheme or path'],
    ['network:example.com/path', 'without scheme or path'],
    ['network:user@example.com', 'without scheme or path'],
    ['network:Example.com', 'in lower case'],
    ['network:exämple.com', 'in lower case and ASCII'],
    ['network:example..com', 'write the host'],
    ['network:example.com.', 'write the host'],
    ['network:-a.example.com', 'write the host'],
    ['network:ex ample.com', 'without scheme or path'],
    ['network:example.com:0', 'the port must be a number'],
    ['network:example.com:65536', 'the port must be a number'],
    ['network:example.com:+443', 'the port must be a number'],
    ['network:*', '"*" may only stand for the first part'],
    ['network:a.*.example.com', '"*" may only stand for the first part'],
    ['network:*.com', 'needs two more parts'],
    ['network:192.0.2.1', 'an address of numbers'],
    ['network:0x7f.1', 'an address of numbers'],
    ['network:[2001:db8::1]', 'an address of numbers'],
  ])('refuses the grant %j with the value and the fix', (grant, fix) => {
    expect(() => parseManifest('tool.json', JSON.stringify({ ...good, grants: [grant] }))).toThrowError(
      expect.objectContaining({
        code: 'SCHEMA_INVALID',
        message: expect.stringContaining(`"grants" has ${JSON.stringify(grant)}: `),
        details: { faults: [expect.stringContaining(fix)] },
      }),
    );
  });

  it('takes the runtime from the name of the entry if none is named', () => {
    const runtimeFor = (own: object): string =>
      parseManifest('tool.json', JSON.stringify({ ...good, ...own })).profile.runtime;
    for (const entry of ['main.js', 'main.mjs', 'src/main.ts', 'main.mts']) expect(runtimeFor({ entry })).toBe('node');
    for (const entry of ['main', 'bin/tool', 'main.sh', 'main.py']) expect(runtimeFor({ entry })).toBe('plugin');
    for (const runtime of ['node', 'plugin', 'exec']) expect(runtimeFor({ runtime, entry: 'main.ts' })).toBe(runtime);
    for (const runtime of ['python', '', 1, null])
      expect(() => runtimeFor({ runtime })).toThrowError(
        expect.objectContaining({ details: { faults: ['"runtime" must be one of node, plugin, exec'] } }),
      );
  });

  it('takes a program of any language, with a profile of its own', () => {
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
    ['a name with a namespace', { ...good, name: 'github:hello' }, '"name"'],
    ['no version', { ...good, version: undefined }, '"version"'],
    ['a version that is not semantic', { ...good, version: '1.0' }, '"version"'],
    ['a version with a leading zero', { ...good, version: '1.02.0' }, '"version"'],
    ['a source that is not a URL', { ...good, source: 'github' }, '"source"'],
    ['a source without encryption', { ...good, source: 'http://example.com/hello.tgz' }, '"source"'],
    ['a source with a password', { ...good, source: 'https://me:pass@example.com/hello' }, '"source"'],
    ['a source with a token as user', { ...good, source: 'https://token@example.com/hello' }, '"source"'],
    ['a source of this machine', { ...good, source: 'file:///home/me/hello' }, '"source"'],
    ['a signature of another kind', { ...good, signature: `rsa:${KEY}:${SIGNATURE}` }, '"signature"'],
    ['a signature without its key', { ...good, signature: `ed25519:${SIGNATURE}` }, '"signature"'],
    ['a signature that is too short', { ...good, signature: `ed25519:${KEY}:${KEY}` }, '"signature"'],
    ['a signature that is not base64', { ...good, signature: `ed25519:${KEY}:${SIGNATURE}!` }, '"signature"'],
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

  it('issue 17 part 8: says of a manifest of a later version that a newer contextd may be needed', () => {
    const later = JSON.stringify({ ...good, sandbox_profile: 'strict', grants: ['quantum'] });
    const refused = { code: 'SCHEMA_INVALID', remedy: expect.stringContaining('newer contextd') };
    expect(() => parseManifest('tool.json', later)).toThrow(expect.objectContaining(refused));
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

const compileArguments = createArgumentCompiler('others');

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
