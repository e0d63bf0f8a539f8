import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashBundle, publishBundle, verifyBundle } from '#src/catalog/bundle.js';
import { createCatalog } from '#src/catalog/catalog.js';
import { createCoreSource } from '#src/catalog/core-source.js';
import { bundleDirOf } from '../../helpers/bundle-dir.ts';

let base: string;
let source: string;
let tools: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'bundle-'));
  source = join(base, 'source');
  tools = join(base, 'tools');
  mkdirSync(join(source, 'tools/hello'), { recursive: true });
  writeFileSync(join(source, 'main.js'), 'export {};\n');
  writeFileSync(join(source, 'tools/hello/TOOL.md'), '# hello\n');
  writeFileSync(join(source, 'tools/hello/TOOL_EXTENDED.md'), '# hello\n');
  writeFileSync(
    join(source, 'tools/hello/schema.json'),
    '{"type":"object","additionalProperties":false,"properties":{}}',
  );
  writeFileSync(
    join(source, 'tools/hello/tool.json'),
    '{"name":"hello","purpose":"says hello","version":"1.0.0","grants":[],"min_isolation":"reduced"}',
  );
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('a bundle is identified by its content', () => {
  it('changes its hash with any change of a byte, a name or a place', async () => {
    const before = await hashBundle(source);
    expect(await hashBundle(source)).toBe(before);
    writeFileSync(join(source, 'main.js'), 'export {}; \n');
    const changed = await hashBundle(source);
    writeFileSync(join(source, 'extra.js'), '');
    const extended = await hashBundle(source);
    expect(new Set([before, changed, extended]).size).toBe(3);
  });

  it('names a published copy, which a later change of the source does not change', async () => {
    const sha256 = await publishBundle(source, tools);
    writeFileSync(join(source, 'main.js'), 'changed\n');
    expect(readFileSync(join(tools, sha256, 'main.js'), 'utf8')).toBe('export {};\n');
    expect(await hashBundle(join(tools, sha256))).toBe(sha256);
    expect(statSync(join(tools, sha256, 'main.js')).mode & 0o222).toBe(0o200);
  });

  it('keeps programs executable and makes nothing else executable', async () => {
    mkdirSync(join(source, 'bin'));
    writeFileSync(join(source, 'bin/tool'), '#!/bin/sh\n', { mode: 0o700 });
    const sha256 = await publishBundle(source, tools);
    expect(statSync(join(tools, sha256, 'bin/tool')).mode & 0o777).toBe(0o755);
    expect(statSync(join(tools, sha256, 'main.js')).mode & 0o777).toBe(0o644);
    expect(await hashBundle(join(tools, sha256))).toBe(sha256);
    chmodSync(join(source, 'bin/tool'), 0o600);
    expect(await hashBundle(source)).not.toBe(sha256);
  });

  it('lets a bundle be published again over a damaged copy', async () => {
    const sha256 = await publishBundle(source, tools);
    writeFileSync(join(tools, sha256, 'main.js'), 'damaged\n');
    expect(await publishBundle(source, tools)).toBe(sha256);
    await verifyBundle(join(tools, sha256), sha256, 'Publish it again.');
  });

  it('refuses a link in a bundle: what runs must be what is hashed', async () => {
    symlinkSync('/etc/hostname', join(source, 'link.js'));
    await expect(publishBundle(source, tools)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
  });
});

describe('SEC-4.1 a tool is verified by its hash on load and whenever one of its files changes', () => {
  const tamper: [string, (dir: string) => void][] = [
    ['its program', (dir) => writeFileSync(join(dir, 'main.js'), 'evil\n')],
    ['its schema', (dir) => writeFileSync(join(dir, 'tools/hello/schema.json'), '{"type":"object"}')],
    ['a file made a program', (dir) => chmodSync(join(dir, 'main.js'), 0o755)],
    ['an added file', (dir) => writeFileSync(join(dir, 'tools/hello/rules.toml'), '')],
    ['a removed file', (dir) => rmSync(join(dir, 'tools/hello/TOOL.md'))],
    ['all of it gone', (dir) => rmSync(dir, { recursive: true })],
  ];
  it.each(tamper)('%s', async (_what, change) => {
    const catalog = createCatalog([createCoreSource({ bundleDir: source, toolsDir: tools })]);
    await catalog.start();
    const [tool] = catalog.versions('hello');
    if (tool === undefined) throw new Error('hello is not in the catalog');
    await catalog.verify(tool);
    change(bundleDirOf(tool));
    await expect(catalog.verify(tool)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
    await expect(catalog.verify(tool)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
  });

  it('hashes a touched file with the same bytes again and accepts it', async () => {
    const catalog = createCatalog([createCoreSource({ bundleDir: source, toolsDir: tools })]);
    await catalog.start();
    const [tool] = catalog.list();
    if (tool === undefined) throw new Error('the catalog is empty');
    chmodSync(join(bundleDirOf(tool), 'main.js'), 0o600);
    await catalog.verify(tool);
  });

  it('reports core tools that are not built, with the remedy', async () => {
    const catalog = createCatalog([createCoreSource({ bundleDir: join(base, 'nowhere'), toolsDir: tools })]);
    await expect(catalog.start()).rejects.toMatchObject({
      code: 'INTEGRITY_FAILED',
      remedy: expect.stringContaining('npm run build'),
    });
  });
});
