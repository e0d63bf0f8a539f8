import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { readRuleSources } from '../src/scrub/rule-sources.ts';
import { builtinModules } from './builtin-modules.ts';

/** The files of a tool that are copied into the bundle. */
const TOOL_FILES = ['TOOL.md', 'TOOL_EXTENDED.md', 'tool.json'];

/** Read by the engine beside `main.js`. */
const CERTIFICATES = 'certified-patterns.txt';

/**
 * Builds `dist/core-bundle/`, what the core tools run from: `main.js` (one file, from the compiled program), `rules.json`
 * (one file, because every call checks each file), the certified patterns and `tools/<name>/`. The same sources give the
 * same bytes: projects accept the bundle by its hash.
 */
async function buildCoreBundle(root: string): Promise<void> {
  const target = join(root, 'dist', 'core-bundle');
  await rm(target, { recursive: true, force: true });
  await bundleProgram(root, join(target, 'main.js'));
  await writeFile(join(target, 'rules.json'), JSON.stringify(readRuleSources()));
  await copyFile(join(root, 'src', 'scrub', 'exact', CERTIFICATES), join(target, CERTIFICATES));
  await copyTools(join(root, 'tools'), join(target, 'tools'));
}

async function bundleProgram(root: string, outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'dist', 'src', 'runner', 'core-bundle', 'main.js')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: false,
    sourcemap: false,
    legalComments: 'inline',
    logLevel: 'warning',
    plugins: [builtinModules],
    // CommonJS packages load Node's modules by `require`, which an ES module does not have.
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
}

async function copyTools(source: string, target: string): Promise<void> {
  const entries = await readdir(source, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  for (const name of names.sort()) await copyTool(join(source, name), join(target, name));
}

/** Removes white space from schema.json: an agent pays for every token. */
async function copyTool(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const file of TOOL_FILES) await copyFile(join(source, file), join(target, file));
  const schema: unknown = JSON.parse(await readFile(join(source, 'schema.json'), 'utf8'));
  await writeFile(join(target, 'schema.json'), `${JSON.stringify(schema)}\n`);
}

// This file runs as dist/scripts/build-core-bundle.js: the package root is two directories up.
await buildCoreBundle(join(import.meta.dirname, '..', '..'));
