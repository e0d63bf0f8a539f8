import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TOOL_LIMITS } from '#src/catalog/verify-tool/check.js';
import { readPlainFile, readToolDirectory } from '#src/catalog/verify-tool/read-tool.js';
import { verifyTogether } from '#src/catalog/verify-tool/verify-tool.js';
import { checksOf, faultsOf, makeFolder, makeInstalledTool, makeTool, PROXY, TOOL_MD } from './tool-files.ts';

const DOCUMENTS = ['schema.json', 'TOOL.md', 'TOOL_EXTENDED.md', 'tool.json'];

describe('the directory of a tool', () => {
  it('DATA-1 passes both as written and as installed', async () => {
    expect(await faultsOf(await makeTool())).toEqual({});
    const installed = await makeInstalledTool();
    expect(await faultsOf(installed)).toEqual({});
    expect((await checksOf(installed)).map(({ rule }) => rule)).not.toContain('tool.json');
  });

  it('may have another name than the tool, but not in a folder of tools, nor without a valid manifest', async () => {
    const anywhere = await makeTool();
    await rename(anywhere, join(dirname(anywhere), 'Other-Name'));
    expect(await faultsOf(join(dirname(anywhere), 'Other-Name'))).toEqual({});
    const dir = await makeTool({}, 'tools');
    const other = join(dirname(dir), 'other');
    await rename(dir, other);
    expect(await faultsOf(other)).toEqual({
      'tool.json': 'it names the tool good_tool',
      'TOOL.md form': expect.any(String),
    });
    const bad = join(dirname(dir), 'Bad-Tool');
    await rename(other, bad);
    expect(await faultsOf(bad)).toMatchObject({ name: expect.stringContaining('it does not match') });
  });

  it.each([
    ['{"name":"good_tool"}', '"purpose" must be one line'],
    ['[]', 'is not a JSON object'],
    ['{', 'is not JSON'],
  ])('fails with the manifest %s', async (manifest, sentence) => {
    expect(await faultsOf(await makeTool({ 'tool.json': manifest }))).toEqual({
      'tool.json': expect.stringContaining(sentence),
    });
  });

  it('FR-2.5 has an extended document if TOOL.md names it, with every argument', async () => {
    expect(await faultsOf(await makeTool({ 'TOOL_EXTENDED.md': null }))).toEqual({
      'TOOL_EXTENDED.md': 'it is missing, but TOOL.md refers to it',
    });
    expect(await faultsOf(await makeTool({ 'TOOL_EXTENDED.md': 'path' }))).toEqual({
      'TOOL_EXTENDED.md': 'it does not name `path`',
    });
    const unnamed = await makeTool({ 'TOOL_EXTENDED.md': null, 'TOOL.md': TOOL_MD.replace('`TOOL_EXTENDED.md`', '-') });
    expect(Object.keys(await faultsOf(unnamed))).toEqual(['TOOL.md form']);
  });

  it.each(DOCUMENTS)('fails if %s is missing', async (file) => {
    expect(await faultsOf(await makeTool({ [file]: null }))).toMatchObject({
      [file]: expect.stringContaining('it is missing'),
    });
  });

  it.each(DOCUMENTS)('fails if %s is not UTF-8', async (file) => {
    const dir = await makeTool({ [file]: Buffer.from([0x23, 0xff, 0xc3]) });
    expect(await faultsOf(dir)).toMatchObject({ [file]: 'it is not UTF-8' });
  });

  it.each(DOCUMENTS)('never waits for %s if it is a pipe', async (file) => {
    const dir = await makeTool({ [file]: null });
    execFileSync('mkfifo', [join(dir, file)]);
    expect(await faultsOf(dir)).toMatchObject({
      [file]: 'it is not a plain file',
      directory: `${file} is neither a file nor a directory`,
    });
  });

  it.each(DOCUMENTS)('follows no link at %s, even to an endless file', async (file) => {
    const dir = await makeTool({ [file]: null });
    await symlink('/dev/zero', join(dir, file));
    expect(await faultsOf(dir)).toMatchObject({
      [file]: 'it is a symbolic link',
      directory: `${file} is a symbolic link`,
    });
  });

  it.each(DOCUMENTS)('does not read %s if it is huge', async (file) => {
    const dir = await makeTool();
    await truncate(join(dir, file), 50 * 1024 * 1024);
    expect(await faultsOf(dir)).toMatchObject({ [file]: expect.stringContaining('it has 52428800 bytes or more') });
  });

  it('reads no more than the limit of a file that reports no size', async () => {
    const read = await readPlainFile('/proc/self/maps', { most: 100, unit: 'bytes' });
    expect(read).toEqual({ fault: 'has 101 bytes or more, the limit is 100' });
  });

  it('accepts a file of exactly the limit', async () => {
    const file = join(await makeFolder(), 'f');
    await writeFile(file, 'x'.repeat(100));
    expect(await readPlainFile(file, { most: 100, unit: 'bytes' })).toEqual({ text: 'x'.repeat(100), bytes: 100 });
    expect(await readPlainFile(file, { most: 99, unit: 'bytes' })).toHaveProperty('fault');
  });

  it('holds only files and folders, at any depth', async () => {
    const dir = await makeTool();
    await mkdir(join(dir, 'a/b'), { recursive: true });
    await writeFile(join(dir, 'a/b/c'), '');
    expect(await faultsOf(dir)).toEqual({});
    await symlink('../../TOOL.md', join(dir, 'a/b/inside'));
    await symlink('/', join(dir, 'a/root'));
    const server = createServer().listen(join(dir, 'a/socket'));
    onTestFinished(() => void server.close());
    expect(await faultsOf(dir)).toEqual({
      directory: expect.stringMatching(
        /^(?=.*a\/b\/inside is a symbolic link)(?=.*a\/root is a symbolic link)(?=.*a\/socket is neither a file nor a directory)/,
      ),
    });
  });

  it('is searched only up to a limit', async () => {
    const deep = await makeTool();
    await mkdir(join(deep, 'd/'.repeat(40)), { recursive: true });
    expect(await faultsOf(deep)).toEqual({ directory: expect.stringContaining('is nested too deeply') });
    const wide = await makeTool();
    for (let n = 0; n < 8; n++) await symlink('/', join(wide, `l${n}`));
    expect(await faultsOf(wide)).toEqual({
      directory: expect.stringMatching(/^(l\d is a symbolic link; ){5}and 3 more$/),
    });
  });

  it('is listed up to a number of entries', async () => {
    const dir = await makeTool();
    await mkdir(join(dir, 'folder'));
    expect((await readToolDirectory(dir, PROXY, 6)).strays).toEqual([]);
    await writeFile(join(dir, 'folder/more'), '');
    expect((await readToolDirectory(dir, PROXY, 6)).strays).toEqual(['it holds more than 6 entries']);
  });

  it('reports a directory that is a link, and a directory that does not exist', async () => {
    const dir = await makeTool();
    const link = join(await makeFolder(), 'good_tool');
    await symlink(dir, link);
    expect(await faultsOf(link)).toMatchObject({ directory: 'the directory is a symbolic link' });
    await rm(link);
    expect(await faultsOf(link)).toMatchObject({ directory: 'the directory cannot be read (ENOENT)' });
    await writeFile(link, '');
    expect(await faultsOf(link)).toMatchObject({ directory: 'it is not a directory' });
  });

  it('FR-2.2 DATA-1 has the link to the proxy if it is installed, and no other link', async () => {
    expect(await faultsOf(await makeInstalledTool('/bin/sh'))).toEqual({
      directory: `good_tool must be a link to ${PROXY}, but is /bin/sh`,
    });
    const dir = await makeInstalledTool();
    await rm(join(dir, 'good_tool'));
    expect(await faultsOf(dir)).toEqual({ directory: expect.stringContaining('not a link (ENOENT)') });
    await writeFile(join(dir, 'good_tool'), '#!/bin/sh\n');
    expect(await faultsOf(dir)).toEqual({ directory: expect.stringContaining('not a link (EINVAL)') });
    const written = await makeTool();
    await symlink(PROXY, join(written, 'good_tool'));
    expect(await faultsOf(written)).toEqual({ directory: 'good_tool is a symbolic link' });
  });
});

describe('all tools together', () => {
  const reports = (...tokens: (number | null)[]) =>
    tokens.map((schemaTokens) => ({ name: 'a', dir: '/a', schemaTokens, checks: [], isCore: true }));

  it('CE-1.1 cost 1,499 tokens at most', () => {
    expect(verifyTogether(reports(500, 500, 499, null))).toMatchObject({ passed: true, figure: 1_499 });
    expect(verifyTogether(reports(500, 500, 500))).toMatchObject({
      passed: false,
      detail: '1500 of at most 1499 tokens',
      limit: TOOL_LIMITS.allSchemasTokens.most,
    });
  });
});
