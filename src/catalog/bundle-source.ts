import { lstatSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { type CompileArguments, createArgumentCompiler } from './arguments.ts';
import { publishBundle, verifyBundle } from './bundle.ts';
import type { CatalogTool, ToolSource } from './catalog.ts';
import { parseManifest } from './manifest.ts';

/**
 * The tools of one bundle on disk: `<bundleDir>/tools/<name>/`. Starting publishes the bundle to
 * `<toolsDir>/<sha256>`, the only place tools run from.
 */
export function createBundleSource(deps: {
  bundleDir: string;
  toolsDir: string;
  origin: CatalogTool['origin'];
}): ToolSource {
  let tools: readonly CatalogTool[] = [];
  let verified: Stamp | null = null;
  return {
    async start() {
      const sha256 = await publish(deps);
      const dir = join(deps.toolsDir, sha256);
      tools = await readTools({ dir, sha256, origin: deps.origin });
      verified = await takeStamp(dir);
    },
    async stop() {
      tools = [];
      verified = null;
    },
    list: () => tools,
    async verify(tool) {
      if (verified !== null && stampOf(verified.paths) === verified.text) return;
      verified = null;
      const now = await takeStamp(tool.bundleDir);
      await verifyBundle(tool.bundleDir, tool.bundleSha256);
      verified = now;
    },
  };
}

async function publish({ bundleDir, toolsDir, origin }: Parameters<typeof createBundleSource>[0]): Promise<string> {
  try {
    return await publishBundle(bundleDir, toolsDir);
  } catch (thrown) {
    if (origin !== 'core' || !isErrno(thrown, 'ENOENT')) throw thrown;
    throw new ContextdError('INTEGRITY_FAILED', `the core tools are not built: ${bundleDir} is missing`, {
      remedy: 'Run `npm run build` in the installation, or run ./install.sh again.',
      cause: thrown,
    });
  }
}

interface Bundle {
  dir: string;
  sha256: string;
  origin: CatalogTool['origin'];
}

async function readTools(bundle: Bundle): Promise<CatalogTool[]> {
  const toolsRoot = join(bundle.dir, 'tools');
  const names = (await readdir(toolsRoot)).sort();
  // The schemas of core tools are known to compile: a start compiles none, and a call only that of its own tool.
  const compile = createArgumentCompiler(bundle.origin === 'core' ? 'when used' : 'now');
  return Promise.all(names.map((name) => readTool(name, join(toolsRoot, name), bundle, compile)));
}

async function readTool(name: string, dir: string, bundle: Bundle, compile: CompileArguments): Promise<CatalogTool> {
  const [manifestText = '', schemaText = '', toolMd = '', toolExtendedMd = ''] = await Promise.all(
    ['tool.json', 'schema.json', 'TOOL.md', 'TOOL_EXTENDED.md'].map((file) => readFile(join(dir, file), 'utf8')),
  );
  const manifest = parseManifest(join(dir, 'tool.json'), manifestText);
  if (manifest.name !== name) {
    throw new ContextdError('SCHEMA_INVALID', `${join(dir, 'tool.json')} names the tool ${manifest.name}`, {
      remedy: 'Give the directory the name of the tool.',
    });
  }
  const schemaJson = schemaText.trim();
  return {
    manifest,
    origin: bundle.origin,
    bundleSha256: bundle.sha256,
    bundleDir: bundle.dir,
    schemaJson,
    toolMd,
    toolExtendedMd,
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

/**
 * Inode, size, mode and change time of every file and directory of a bundle: at least one changes when a file is
 * written, replaced, added or removed. Hashing a megabyte for each call would cost more than the call, so the bundle is
 * hashed again only if its stamp has changed.
 */
interface Stamp {
  /** Includes directories, so that an added file shows without a listing. */
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
