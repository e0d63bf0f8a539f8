import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './installation.ts';

/** The program of the demo server as one file in a directory, because no sandbox sees the packages of the repository. */
export async function buildDemoServer(directory: string): Promise<string> {
  const outfile = join(directory, 'demo.mjs');
  await build({
    entryPoints: [join(ROOT, 'test/fixtures/mcp-servers/demo.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
  return outfile;
}
