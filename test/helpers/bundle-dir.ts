import type { CatalogTool } from '#src/catalog/catalog.js';

/** Where the files are that a tool runs from. */
export function bundleDirOf({ program, manifest }: CatalogTool): string {
  if (program.kind === 'plugin') return program.bundleDir;
  throw new Error(`${manifest.name} runs from no files`);
}
