import { readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { builtinModules } from './builtin-modules.ts';

/** The entry points of ctxd and of the daemon's processes and threads in `dist/src`, and their names in `dist/program`. */
const PROGRAMS: Readonly<Record<string, string>> = {
  contextd: 'daemon/main.js',
  ctxd: 'cli/main.js',
  fetch: 'install/child/main.js',
  spawner: 'sandbox/spawner/main.js',
  'guard-worker': 'guard/engine/main.js',
  'judge-thread': 'features/rules/thread/main.js',
  'local-thread': 'features/memory/dense/local-thread/main.js',
  'memory-thread': 'features/memory/thread/main.js',
  'scan-worker': 'scrub/scan/worker/main.js',
  'sqlite-worker': 'stores/sqlite-thread/main.js',
  'terminal-thread': 'sandbox/client/terminal-thread/main.js',
  'view-thread': 'dispatch/view/thread/main.js',
};

/** Runs where no package can be loaded, so its file holds all of them. */
const EGRESS: Readonly<Record<string, string>> = { egress: 'egress/main.js' };

/** Each runs alone in a sandbox, as one file. */
const SNAPSHOTS: Readonly<Record<string, string>> = { snapshots: 'sandbox/snapshots/inside/main.js' };
const MERGE: Readonly<Record<string, string>> = { merge: 'sandbox/merge/inside/main.js' };

/**
 * Builds `dist/program/`: the compiled program with its packages in a few files instead of 700. Node loads them in a third
 * of the time and with 20 MB less memory (docs/decisions/0019-one-file.md). Source maps are beside them.
 */
async function buildDaemon(root: string): Promise<void> {
  const target = join(root, 'dist', 'program');
  await rm(target, { recursive: true, force: true });
  // Needed once in years. The namespace of a CommonJS package that is imported late would lack its names besides.
  // Large, and needed by few installations of a tool only: loaded from their own files.
  const seldom = [
    '@aws-sdk/client-s3',
    '@opentelemetry/*',
    '@sigstore/bundle',
    '@sigstore/protobuf-specs',
    '@sigstore/verify',
  ];
  const loaded = await bundle(root, PROGRAMS, { external: ['@peculiar/x509', 'reflect-metadata', ...seldom] });
  // For `install.sh --prune`.
  await writeFile(join(target, 'packages.json'), `${JSON.stringify(loaded, null, 2)}\n`);
  await bundle(root, EGRESS, { mainFields: ['module', 'main'] });
  await bundle(root, SNAPSHOTS, {});
  await bundle(root, MERGE, {});
}

/** Returns the packages that the programs load from their own files. */
async function bundle(
  root: string,
  programs: Readonly<Record<string, string>>,
  more: Pick<BuildOptions, 'external' | 'mainFields'>,
): Promise<string[]> {
  const source = join(root, 'dist', 'src');
  const target = join(root, 'dist', 'program');
  const { metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(source, path)])),
    outdir: target,
    bundle: true,
    // Code that is imported on demand stays out of the file that is always loaded.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: false,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    ...more,
    // Its main file loads its parts by names that a bundler does not see.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    plugins: [ownPlaces(source, target), builtinModules],
    // CommonJS packages load Node's modules by `require`, which an ES module does not have.
    banner: {
      js: "import { createRequire as createRequireOfFile } from 'node:module';\nconst require = createRequireOfFile(import.meta.url);",
    },
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const packages = imports
    .filter(({ path, external }) => external === true && !isBuiltin(path))
    .map(({ path }) => path);
  return [...new Set(packages)].sort();
}

/** A file beside a module is found from where that module was before; a program, in its bundled form. */
function ownPlaces(source: string, target: string): Plugin {
  const bundled = new Map(
    Object.entries({ ...PROGRAMS, ...EGRESS, ...SNAPSHOTS, ...MERGE }).map(([name, path]) => [
      join(source, path),
      `./${name}.js`,
    ]),
  );
  const urlOf = (path: string): string => `new URL('${relative(target, path) || './'}', import.meta.url)`;
  return {
    name: 'own-places',
    setup(building) {
      building.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        if (!path.startsWith(`${source}/`)) return undefined;
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta')) return undefined;
        const contents = text.replaceAll(
          /new URL\('([^']+)', import\.meta\.url\)|import\.meta\.url/g,
          (_match, beside?: string) => {
            if (beside === undefined) return `${urlOf(path)}.href`;
            const file = join(dirname(path), beside);
            const program = bundled.get(file);
            return program === undefined ? urlOf(file) : `new URL('${program}', import.meta.url)`;
          },
        );
        return { contents, loader: 'js', resolveDir: dirname(path) };
      });
    },
  };
}

// This file runs as dist/scripts/build-daemon.js: the package root is two directories up.
await buildDaemon(join(import.meta.dirname, '..', '..'));
