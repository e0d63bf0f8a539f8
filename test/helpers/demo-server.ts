import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './installation.ts';

/** The program of the demo server as one file in a directory, because no sandbox sees the packages of the repository. */
export function buildDemoServer(directory: string): Promise<string> {
  return buildServer(join(ROOT, 'test/fixtures/mcp-servers/demo.ts'), join(directory, 'demo.mjs'));
}

/** A server with resources, a template and prompts, in the same way. */
export function buildLibraryServer(directory: string): Promise<string> {
  return buildServer(join(ROOT, 'test/fixtures/mcp-servers/library.ts'), join(directory, 'library.mjs'));
}

/** The reference server of the protocol, with the SDK of the older era. */
export function buildEverythingServer(directory: string): Promise<string> {
  const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  return buildServer(program, join(directory, 'everything.mjs'));
}

/** The server that the conformance suite is written for, of both eras. */
export function buildConformanceServer(directory: string): Promise<string> {
  return buildServer(join(ROOT, 'test/fixtures/mcp-servers/everything.ts'), join(directory, 'conformance.mjs'));
}

async function buildServer(program: string, outfile: string): Promise<string> {
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
  return outfile;
}
