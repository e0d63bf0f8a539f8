import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createArgumentCompiler } from '#src/catalog/arguments.js';
import { type Catalog, type CatalogTool, createCatalog, type ToolSource } from '#src/catalog/catalog.js';
import { createCoreSource } from '#src/catalog/core-source.js';
import { parseManifest } from '#src/catalog/manifest.js';
import { acceptance } from '#src/features/projects/registered-projects.js';
import { bundleDirOf } from '../../helpers/bundle-dir.ts';

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'catalog-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A bundle on disk with one tool that takes the argument `argument`. */
function bundleSource(
  folder: string,
  argument: string,
  own: { manifest?: object; directory?: string } = {},
): ToolSource {
  const bundleDir = join(base, folder);
  const dir = join(bundleDir, 'tools', own.directory ?? 'hello');
  mkdirSync(dir, { recursive: true });
  const schema = { type: 'object', additionalProperties: false, properties: { [argument]: { type: 'string' } } };
  writeFileSync(join(dir, 'schema.json'), JSON.stringify(schema));
  writeFileSync(join(dir, 'tool.json'), JSON.stringify({ ...MANIFEST, ...own.manifest }));
  writeFileSync(join(dir, 'TOOL.md'), '# hello\n');
  writeFileSync(join(dir, 'TOOL_EXTENDED.md'), '# hello\n');
  return createCoreSource({ bundleDir, toolsDir: join(base, 'published') });
}

const MANIFEST = { name: 'hello', purpose: 'says hello', version: '1.0.0', grants: [], min_isolation: 'reduced' };

/** A source without files, as a gateway to another server is one. */
function serverSource(name: string): ToolSource {
  const schema = { type: 'object', additionalProperties: false, properties: { title: { type: 'string' } } };
  const { profile, ...manifest } = parseManifest('tool.json', JSON.stringify(MANIFEST));
  const tool: CatalogTool = {
    manifest: { ...manifest, name },
    origin: 'installed',
    sha256: 'ab'.repeat(32),
    program: { kind: 'plugin', bundleDir: '', profile },
    schemaJson: JSON.stringify(schema),
    toolMd: '',
    toolExtendedMd: '',
    arguments: createArgumentCompiler('others')(name, schema),
  };
  return { start: async () => {}, stop: async () => {}, list: () => [tool], verify: async () => {} };
}

async function started(...sources: ToolSource[]): Promise<Catalog> {
  const catalog = createCatalog(sources);
  await catalog.start();
  return catalog;
}

/** A project that accepted these tools. */
function accepting(...tools: CatalogTool[]) {
  return { tools: tools.map(acceptance) };
}

describe('the catalog', () => {
  it('finds the version of a tool that each project accepted', async () => {
    const catalog = await started(bundleSource('one', 'first'), bundleSource('two', 'second'));
    const [one, two] = catalog.versions('hello');
    if (one === undefined || two === undefined) throw new Error('a version is missing');
    expect(one.sha256).not.toBe(two.sha256);
    const [early, late] = [accepting(one), accepting(two)];
    expect(catalog.find(early, 'hello')?.arguments.names).toEqual(['first']);
    expect(catalog.find(late, 'hello')?.arguments.names).toEqual(['second']);
    expect(() => catalog.find(late, 'hello')?.arguments.check({ first: 'x' })).toThrow('unknown property "first"');
    for (const version of [one, two]) await catalog.verify(version);
  });

  it('finds no other version in place of the accepted one', async () => {
    const catalog = await started(bundleSource('one', 'first'));
    const accepted = { tools: [{ name: 'hello', bundleSha256: 'cd'.repeat(32) }] };
    expect(catalog.find(accepted, 'hello')).toBeUndefined();
    expect(catalog.find({ tools: [] }, 'hello')).toBeUndefined();
    expect(catalog.versions('hello')).toHaveLength(1);
  });

  it('SEC-4.1 refuses the changed version of a tool and still runs the other one', async () => {
    const catalog = await started(bundleSource('one', 'first'), bundleSource('two', 'second'));
    const [one, two] = catalog.versions('hello');
    if (one === undefined || two === undefined) throw new Error('a version is missing');
    writeFileSync(join(bundleDirOf(one), 'tools/hello/TOOL.md'), 'changed\n');
    await expect(catalog.verify(one)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
    await catalog.verify(two);
  });

  it('takes tools of a source without files, under the name that a caller writes', async () => {
    const catalog = await started(bundleSource('one', 'first'), serverSource('github:create_issue'));
    const [tool] = catalog.versions('github:create_issue');
    if (tool === undefined) throw new Error('the tool is missing');
    const project = accepting(tool);
    for (const name of ['github:create_issue', 'github.create_issue', 'github/create_issue'])
      expect(catalog.find(project, name)).toBe(tool);
    expect(() => tool.arguments.check({ title: 7 })).toThrow('/title must be string');
    for (const name of ['create_issue', 'gitlab:create_issue', '../github:create_issue'])
      expect(catalog.versions(name)).toEqual([]);
    expect(catalog.list().map(({ manifest }) => manifest.name)).toEqual(['github:create_issue', 'hello']);
  });

  it('verifies no tool that it does not have', async () => {
    const catalog = await started(bundleSource('one', 'first'));
    const [tool] = catalog.versions('hello');
    if (tool === undefined) throw new Error('the tool is missing');
    await catalog.stop();
    expect(catalog.list()).toEqual([]);
    await expect(catalog.verify(tool)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
  });

  it('refuses a tool in a directory of another name', async () => {
    const source = bundleSource('one', 'first', { directory: 'goodbye' });
    await expect(createCatalog([source]).start()).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  });
});

describe('a tool that asks for a network', () => {
  it('is accepted with its grants', async () => {
    const grants = ['exec', 'network:registry.example.com'];
    const catalog = await started(bundleSource('one', 'first', { manifest: { grants } }));
    const [tool] = catalog.versions('hello');
    if (tool === undefined) throw new Error('the tool is missing');
    expect(acceptance(tool).grants).toEqual(grants);
  });
});
