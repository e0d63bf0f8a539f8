import { lstatSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { type ArgumentSchema, type CompileArguments, createArgumentCompiler } from './arguments.ts';
import { publishBundle, verifyBundle } from './bundle.ts';
import { parseManifest, type ToolManifest } from './manifest.ts';

/** A tool as the daemon knows it, read from its published bundle and from nowhere else. */
export interface CatalogTool {
  manifest: ToolManifest;
  origin: 'core' | 'installed';
  bundleSha256: string;
  bundleDir: string;
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
  arguments: ArgumentSchema;
}

export interface Catalog {
  /** Publishes the core bundle into `data/tools/<sha256>` and reads its tools. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The tool, or undefined. */
  find(name: string): CatalogTool | undefined;
  list(): readonly CatalogTool[];
  /** Throws INTEGRITY_FAILED unless the tool's files still have the accepted hash (SEC-4.1). */
  verify(tool: CatalogTool): Promise<void>;
}

export function createCatalog(deps: { coreBundleDir: string; toolsDir: string }): Catalog {
  const tools = new Map<string, CatalogTool>();
  const verified = new Map<string, Stamp>();
  return {
    async start() {
      const sha256 = await publishCore(deps.coreBundleDir, deps.toolsDir);
      const bundleDir = join(deps.toolsDir, sha256);
      for (const tool of await readTools(bundleDir, sha256, createArgumentCompiler('when used')))
        tools.set(tool.manifest.name, tool);
      verified.set(bundleDir, await takeStamp(bundleDir));
    },
    async stop() {
      tools.clear();
    },
    find: (name) => tools.get(name),
    list: () => [...tools.values()].sort((a, b) => a.manifest.name.localeCompare(b.manifest.name)),
    async verify(tool) {
      const known = verified.get(tool.bundleDir);
      if (known !== undefined && stampOf(known.paths) === known.text) return;
      verified.delete(tool.bundleDir);
      const now = await takeStamp(tool.bundleDir);
      await verifyBundle(tool.bundleDir, tool.bundleSha256);
      verified.set(tool.bundleDir, now);
    },
  };
}

async function publishCore(coreBundleDir: string, toolsDir: string): Promise<string> {
  try {
    return await publishBundle(coreBundleDir, toolsDir);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
    throw new ContextdError('INTEGRITY_FAILED', `the core tools are not built: ${coreBundleDir} is missing`, {
      remedy: 'Run `npm run build` in the installation, or ./install.sh again.',
      cause: thrown,
    });
  }
}

/**
 * What changes when a file of the bundle is written, replaced, added or removed: inode, size and change time of every
 * file and directory. Hashing a megabyte on each call would cost more than the call; a change of any stamp hashes again.
 */
interface Stamp {
  /** Directories are among them, so what is added shows without a listing. */
  readonly paths: readonly string[];
  readonly text: string;
}

async function takeStamp(bundleDir: string): Promise<Stamp> {
  const entries = await readdir(bundleDir, { recursive: true }).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return [];
    throw thrown;
  });
  const paths = [bundleDir, ...entries.sort().map((entry) => join(bundleDir, entry))];
  return { paths, text: stampOf(paths) };
}

function stampOf(paths: readonly string[]): string {
  return paths.map(stampOfOne).join('\n');
}

function stampOfOne(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? `${path}:gone` : [path, stats.ino, stats.size, stats.ctimeMs, stats.mode].join(':');
}

async function readTools(bundleDir: string, sha256: string, compile: CompileArguments): Promise<CatalogTool[]> {
  const toolsRoot = join(bundleDir, 'tools');
  const names = (await readdir(toolsRoot)).sort();
  return Promise.all(names.map((name) => readTool(join(toolsRoot, name), bundleDir, sha256, compile)));
}

async function readTool(
  dir: string,
  bundleDir: string,
  bundleSha256: string,
  compile: CompileArguments,
): Promise<CatalogTool> {
  const [manifestText, schemaText, toolMd, toolExtendedMd] = await Promise.all(
    ['tool.json', 'schema.json', 'TOOL.md', 'TOOL_EXTENDED.md'].map((file) => readFile(join(dir, file), 'utf8')),
  );
  const manifest = parseManifest(join(dir, 'tool.json'), manifestText ?? '');
  const schemaJson = (schemaText ?? '').trim();
  return {
    manifest,
    origin: 'core',
    bundleSha256,
    bundleDir,
    schemaJson,
    toolMd: toolMd ?? '',
    toolExtendedMd: toolExtendedMd ?? '',
    arguments: compile(manifest.name, parseSchema(manifest.name, schemaJson)),
  };
}

function parseSchema(tool: string, text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value)) return value;
  throw new ContextdError('SCHEMA_INVALID', `schema.json of ${tool} is not a JSON object`, {
    remedy: 'Correct the file.',
  });
}
