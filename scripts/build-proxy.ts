import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

/**
 * Builds `bin/contextd-proxy`: one file compiled with Bun or, without Bun, a launcher for a Node program with the same
 * sources and behaviour, which starts more slowly.
 * `--out DIR`: installs elsewhere (default: this package). `--stand-in`: builds for Node even if there is Bun.
 * `--package`: builds for Node, and for wherever the package will be installed.
 */
async function buildProxy(root: string, target: string, kind: 'compiled' | 'stand-in' | 'package'): Promise<void> {
  mkdirSync(join(target, 'bin'), { recursive: true });
  const parts = partsOf(root, realpathSync(target));
  const bun = join(root, 'node_modules', '.bin', 'bun');
  if (kind === 'compiled' && existsSync(bun) && compile(bun, parts)) return;
  if (kind === 'package') await buildForNode({ ...parts, define: {} }, PACKAGE_LAUNCHER);
  else await buildForNode(parts, launcherText(parts));
}

interface Parts {
  entry: string;
  proxy: string;
  /** The program that runs on Node. */
  program: string;
  node: string;
  define: Record<string, string>;
}

function partsOf(root: string, target: string): Parts {
  const proxy = join(target, 'bin', 'contextd-proxy');
  const rankFile = join(root, 'dist', 'src', 'tokens', 'cl100k_base.ranks');
  return {
    entry: join(root, 'dist', 'src', 'proxy', 'main.js'),
    proxy,
    program: join(target, 'dist', 'proxy', 'main.js'),
    node: realpathSync(join(root, 'node_modules', '.bin', 'node')),
    define: { CONTEXTD_PROXY_PATH: JSON.stringify(proxy), CONTEXTD_RANK_FILE: JSON.stringify(rankFile) },
  };
}

/** The two --no-compile-autoload options keep the program from loading a bunfig.toml or .env of the current directory. */
function compile(bun: string, parts: Parts): boolean {
  const fresh = `${parts.proxy}.new`;
  const defines = Object.entries(parts.define).map(([name, value]) => `--define=${name}=${value}`);
  const safe = ['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'];
  // The process runs for a few milliseconds: no code runs often enough to be worth compiling, and the heap stays small.
  const brief = ['--compile-jit-policy=100', '--compile-exec-argv=--smol'];
  const args = [
    'build',
    '--compile',
    '--minify',
    '--bytecode',
    // Most calls need a fifth of the code: what is imported on demand stays apart from it.
    '--format=esm',
    '--splitting',
    ...brief,
    ...safe,
    ...defines,
    parts.entry,
    '--outfile',
    fresh,
  ];
  try {
    execFileSync(bun, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  } catch (error) {
    console.error(`contextd: Bun cannot compile the proxy, a slower one for Node stands in: ${error}`);
    return false;
  }
  renameSync(fresh, parts.proxy);
  return true;
}

async function buildForNode(parts: Parts, launcher: string): Promise<void> {
  await build({
    entryPoints: [parts.entry],
    outfile: parts.program,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    define: parts.define,
    logLevel: 'warning',
  });
  const fresh = `${parts.proxy}.new`;
  writeFileSync(fresh, launcher);
  chmodSync(fresh, 0o755);
  renameSync(fresh, parts.proxy);
}

/** The kernel sets `$0` to the path by which the script was found, which is that of the link. */
function launcherText(parts: Parts): string {
  return `#!/bin/sh
# Stands in for the compiled contextd-proxy where Bun is missing.
unset NODE_OPTIONS
CONTEXTD_PROXY_ARGV0=$0 exec ${shellQuoted(parts.node)} ${shellQuoted(parts.program)} "$@"
`;
}

/** Finds its package as bin/ctxd does: npm links the commands of a package, and contextd links its tools. */
const PACKAGE_LAUNCHER = `#!/bin/sh
# contextd-proxy of an installed package, on the Node that comes with it.
unset NODE_OPTIONS
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=$(dirname "$self")/$target ;;
  esac
done
root=$(CDPATH='' cd -P "$(dirname "$self")/.." && pwd -P)
CONTEXTD_PROXY_ARGV0=$0 CONTEXTD_PROXY_ROOT=$root exec "$root/node_modules/.bin/node" "$root/dist/proxy/main.js" "$@"
`;

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    'stand-in': { type: 'boolean', default: false },
    package: { type: 'boolean', default: false },
  },
});
// This file runs as dist/scripts/build-proxy.js: the package root is two directories up.
const packageRoot = join(import.meta.dirname, '..', '..');
const kind = values.package ? 'package' : values['stand-in'] ? 'stand-in' : 'compiled';
await buildProxy(packageRoot, values.out ?? packageRoot, kind);
