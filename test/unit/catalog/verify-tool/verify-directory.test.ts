import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createArgumentCompiler } from '#src/catalog/arguments.js';
import { readTool } from '#src/catalog/read-bundle.js';
import { faultOfName } from '#src/catalog/reserved-names.js';
import { verifyDirectory } from '#src/catalog/verify-tool/verify-directory.js';
import { countTokens, faultsOf, MANIFEST, makeFolder, makeTool, PROXY, SCHEMA, TOOL_MD } from './tool-files.ts';

describe('issue 17 part 2: the name of a tool', () => {
  it.each([
    'git',
    'npm',
    'node',
    'python3',
    'docker',
    'ssh',
    'curl',
    'ls',
    'cat',
    'make',
    'go',
    'cargo',
    'psql',
    'test',
    'echo',
    'safe_read',
    'memory_x',
    'jobs',
    'ctxd',
  ])('%s is refused on a machine that has no such program', async (name) => {
    expect(await faultOfName(name, '/no/such/directory')).not.toBeNull();
    const dir = await makeTool({
      'tool.json': JSON.stringify({ ...MANIFEST, name }),
      'TOOL.md': TOOL_MD.replace('good_tool', name),
    });
    const { report } = await verifyDirectory(dir, { countTokens, searchPath: '', proxyBinary: PROXY });
    // The manifest itself refuses a name by which a shell finds a tool.
    const failed = report.checks.filter(({ passed }) => !passed).map(({ rule }) => rule);
    expect(failed).toContain(name === 'safe_jobs' ? 'tool.json' : 'free name');
  });

  it('is refused if a program on PATH has it, and is free otherwise', async () => {
    const bin = await makeFolder();
    await writeFile(join(bin, 'weather'), '', { mode: 0o755 });
    expect(await faultOfName('weather', `relative:/none:${bin}`)).toBe(`is the program ${join(bin, 'weather')}`);
    await chmod(join(bin, 'weather'), 0o644);
    expect(await faultOfName('weather', bin)).toBeNull();
    const own = join(bin, '.claude/bin');
    await mkdir(own, { recursive: true });
    await writeFile(join(own, 'weather'), '', { mode: 0o755 });
    expect(await faultOfName('weather', own)).toBeNull();
  });
});

describe('issue 17 part 2: the entry of a tool', () => {
  const exec = { 'tool.json': JSON.stringify({ ...MANIFEST, runtime: 'exec', entry: 'main.sh' }) };
  const withEntry = async (content: string | Buffer, mode: number): Promise<Record<string, string>> => {
    const dir = await makeTool({ ...exec, 'main.sh': content });
    await chmod(join(dir, 'main.sh'), mode);
    return faultsOf(dir);
  };

  it('must be there, be executable and be something that a system starts', async () => {
    expect(await withEntry('#!/bin/sh\n', 0o755)).toEqual({});
    expect(await withEntry(Buffer.from('7f454c46', 'hex'), 0o755)).toEqual({});
    expect(await withEntry('#!/bin/sh\n', 0o644)).toEqual({ entry: 'main.sh is not executable' });
    const noProgram = { entry: 'main.sh is neither a program nor a script that begins with #!' };
    for (const content of ['echo hi\n', '', '#', '\n#!/bin/sh\n'])
      expect(await withEntry(content, 0o755)).toEqual(noProgram);
    expect(await faultsOf(await makeTool(exec))).toEqual({ entry: 'main.sh is missing' });
  });

  it('of the runtime node need not be executable, but be a file', async () => {
    const dir = await makeTool();
    expect(await faultsOf(dir)).toEqual({});
    await rm(join(dir, 'main.js'));
    expect(await faultsOf(dir)).toEqual({ entry: 'main.js is missing' });
    await mkdir(join(dir, 'main.js'));
    expect(await faultsOf(dir)).toEqual({ entry: 'main.js is not a file' });
  });

  it('and the name are not asked of a tool of contextd, which is built elsewhere', async () => {
    const dir = await makeTool({ 'main.js': null });
    const { report } = await verifyDirectory(dir, { countTokens, searchPath: null, proxyBinary: PROXY });
    expect(report.checks.every(({ passed }) => passed)).toBe(true);
    const bad = join(dirname(dir), 'other');
    await rename(dir, bad);
    expect(await faultsOf(bad)).toHaveProperty('entry');
  });
});

it('refuses names of answers that an installed tool states, because they would not be searched', async () => {
  const dir = await makeTool({ 'tool.json': JSON.stringify({ ...MANIFEST, answer_names: ['stdout'] }) });
  expect(await faultsOf(dir)).toEqual({ effects: '"answer_names" is for the core tools alone' });
});

describe('the effects that a tool states', () => {
  const stating = (effects: object) => makeTool({ 'tool.json': JSON.stringify({ ...MANIFEST, effects }) });

  it('are those of work, which the daemon only records', async () => {
    for (const session of ['work', 'command', 'edit', 'look'])
      expect(await faultsOf(await stating({ files: 'read', session }))).toEqual({});
  });

  it('are not those on which the daemon acts, unless the tool is its own', async () => {
    for (const session of ['record', 'view', 'start', 'return', 'restore', 'memory']) {
      const dir = await stating({ session });
      expect(await faultsOf(dir)).toEqual({ effects: expect.stringContaining(`"${session}"`) });
      const { report } = await verifyDirectory(dir, { countTokens, searchPath: null, proxyBinary: PROXY });
      expect(report.checks.every(({ passed }) => passed)).toBe(true);
      const bundle = { dir, sha256: '', origin: 'installed' as const };
      await expect(readTool(dir, bundle, createArgumentCompiler('others'))).rejects.toMatchObject({
        code: 'SCHEMA_INVALID',
        message: expect.stringContaining(`"${session}"`),
      });
    }
  });
});

describe('issue 17 part 3: what a person and an agent read', () => {
  it.each(['\u202e', '\u200b', '\u{e0041}', '\u001b'])(
    'holds no character that does not print (%j)',
    async (character) => {
      const schema = (text: string): string =>
        JSON.stringify({ ...SCHEMA, properties: { path: { ...SCHEMA.properties.path, description: text } } });
      const fault = { characters: expect.stringContaining('holds U+') };
      expect(
        await faultsOf(await makeTool({ 'TOOL.md': TOOL_MD.replace('one thing', `one${character} thing`) })),
      ).toEqual(fault);
      expect(await faultsOf(await makeTool({ 'TOOL_EXTENDED.md': `Takes \`path\`.${character}\n` }))).toEqual(fault);
      expect(await faultsOf(await makeTool({ 'schema.json': schema(`a${character}b`) }))).toEqual(fault);
      const escaped = [...character]
        .map((_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
        .join('');
      const hidden = schema('a@b').replace('@', escaped);
      expect(await faultsOf(await makeTool({ 'schema.json': hidden }))).toHaveProperty('characters');
      const manifest = { ...MANIFEST, purpose: `Do one ${character}thing.` };
      expect(await faultsOf(await makeTool({ 'tool.json': JSON.stringify(manifest) }))).toMatchObject({
        'tool.json': expect.stringContaining('"purpose" must be one line'),
      });
    },
  );

  it('takes lines, tabs, emoji and letters of any script', async () => {
    const extended = '# good_tool\n\n\t`path` ⚠️ 👩‍👩‍👧 القاهرة\n';
    expect(await faultsOf(await makeTool({ 'TOOL_EXTENDED.md': extended }))).toEqual({});
  });
});
