import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { PACKAGE_VERSION } from '../src/protocol/versions.ts';

/** The entry points of the package in `dist/src`, and their names in `dist/sdk`. */
const ENTRIES: Readonly<Record<string, string>> = {
  index: 'sdk/index.js',
  test: 'sdk/test-harness.js',
  register: 'sdk/register.js',
  exec: 'runner/exec-tool/main.js',
};

/**
 * Builds `dist/sdk/`, the package `@contextd/sdk` without dependencies: a sandbox mounts it beside the bundle of a tool, and
 * an author can install it for the types. `exec.js` is the adapter of tools with the runtime `exec`; `register.js`
 * makes Node find the package where it is not mounted.
 */
async function buildSdk(root: string): Promise<void> {
  const target = join(root, 'dist', 'sdk');
  await rm(target, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, path]) => [name, join(root, 'dist', 'src', path)]),
    ),
    outdir: target,
    bundle: true,
    // A test and the tool that it imports must have the same class of errors.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: false,
    keepNames: true,
    sourcemap: false,
    legalComments: 'inline',
    logLevel: 'warning',
    // CommonJS packages load Node's modules by `require`, which an ES module does not have.
    banner: {
      js: "import { createRequire as createRequireOfFile } from 'node:module';\nconst require = createRequireOfFile(import.meta.url);",
    },
  });
  await promisify(execFile)('tsc', ['-p', 'tsconfig.sdk.json'], { cwd: root });
  await writeFile(join(target, 'package.json'), `${JSON.stringify(PACKAGE, null, 2)}\n`);
}

const PACKAGE = {
  name: '@contextd/sdk',
  version: PACKAGE_VERSION,
  description: 'Write a tool for contextd.',
  license: 'Apache-2.0',
  type: 'module',
  exports: {
    '.': { types: './types/sdk/index.d.ts', default: './index.js' },
    './test': { types: './types/sdk/test-harness.d.ts', default: './test.js' },
  },
  engines: { node: '>=24' },
};

// This file runs as dist/scripts/build-sdk.js: the package root is two directories up.
await buildSdk(join(import.meta.dirname, '..', '..'));
