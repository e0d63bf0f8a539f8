import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createArgumentCompiler } from '#src/catalog/arguments.js';
import type { CatalogTool } from '#src/catalog/catalog.js';
import { readTool } from '#src/catalog/read-bundle.js';

const TOOLS = join(import.meta.dirname, '..', '..', '..', '..', 'tools');

/** The core tools of the sources, as of one bundle. */
export function readCoreTools(): Promise<CatalogTool[]> {
  const folders = readdirSync(TOOLS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const bundle = { dir: TOOLS, sha256: 'ab'.repeat(32), origin: 'core' as const };
  const compiler = createArgumentCompiler('core');
  return Promise.all(folders.map(({ name }) => readTool(join(TOOLS, name), bundle, compiler)));
}
