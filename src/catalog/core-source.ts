import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { type CompileArguments, createArgumentCompiler } from './arguments.ts';
import { publishBundle } from './bundle.ts';
import { BundleSeal } from './bundle-seal.ts';
import type { CatalogTool, ToolSource } from './catalog.ts';
import { type Bundle, readTool } from './read-bundle.ts';

const REMEDY = 'Run `ctxd server restart` to publish the core tools again, or reinstall contextd.';

/**
 * The core tools: `<bundleDir>/tools/<name>/` of the installation. Starting publishes the bundle to `<toolsDir>/<sha256>`,
 * the only place tools run from.
 */
export function createCoreSource(deps: { bundleDir: string; toolsDir: string }): ToolSource {
  let tools: readonly CatalogTool[] = [];
  let seal: BundleSeal | null = null;
  return {
    async start() {
      const sha256 = await publish(deps);
      const dir = join(deps.toolsDir, sha256);
      tools = await readTools({ dir, sha256, origin: 'core' });
      seal = new BundleSeal(dir, sha256, REMEDY);
      await seal.close();
    },
    async stop() {
      tools = [];
      seal = null;
    },
    list: () => tools,
    async verify() {
      await seal?.check();
    },
  };
}

async function publish({ bundleDir, toolsDir }: Parameters<typeof createCoreSource>[0]): Promise<string> {
  try {
    return await publishBundle(bundleDir, toolsDir);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
    throw new ContextdError('INTEGRITY_FAILED', `the core tools are not built: ${bundleDir} is missing`, {
      remedy: 'Run `npm run build` in the installation, or run ./install.sh again.',
      cause: thrown,
    });
  }
}

async function readTools(bundle: Bundle): Promise<CatalogTool[]> {
  const toolsRoot = join(bundle.dir, 'tools');
  const names = (await readdir(toolsRoot)).sort();
  const compile = createArgumentCompiler('core');
  return Promise.all(names.map((name) => readCoreTool(name, join(toolsRoot, name), bundle, compile)));
}

async function readCoreTool(
  name: string,
  dir: string,
  bundle: Bundle,
  compile: CompileArguments,
): Promise<CatalogTool> {
  const tool = await readTool(dir, bundle, compile);
  if (tool.manifest.name === name) return tool;
  throw new ContextdError('SCHEMA_INVALID', `${join(dir, 'tool.json')} names the tool ${tool.manifest.name}`, {
    remedy: 'Give the directory the name of the tool.',
  });
}
