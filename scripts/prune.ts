import { lstat, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../src/core/errors.ts';

/** What a package has besides what Node loads; its license stays. */
const NOT_LOADED = /\.(?:map|md|markdown)$|\.d\.[cm]?ts$/;
/** Folders of `dist` that only a build or a test uses. */
const OF_BUILDS = ['bench', 'scripts', 'test', 'test-compile-cache'];

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/**
 * Removes what an installed contextd does not need to run: packages that only a build or a test uses, those that are part of
 * `dist/program`, Node's headers, types and source maps. The next `./install.sh` or `npm test` installs and builds all of it again.
 */
async function prune(root: string): Promise<void> {
  const packages = join(root, 'node_modules');
  for (const dir of [packages, join(root, 'dist')])
    if (!(await isDirectory(dir))) throw new Error(`${dir} is no directory of this installation alone`);
  const loaded: string[] = JSON.parse(await readFile(join(root, 'dist', 'program', 'packages.json'), 'utf8'));
  await sweep(packages, await closureOf(root, ['node', ...loaded]));
  // The program itself was moved out of it.
  await rm(join(packages, 'node', 'node_modules'), { recursive: true, force: true });
  await removeDangling(join(packages, '.bin'));
  await removeFiles(packages, NOT_LOADED);
  for (const name of OF_BUILDS) await rm(join(root, 'dist', name), { recursive: true, force: true });
  await removeFiles(join(root, 'dist', 'src'), NOT_LOADED);
  await removeFiles(join(root, 'dist', 'program'), NOT_LOADED);
  // Show prepare.sh that there is something to build, and the compiler that it has to write all of it.
  for (const name of ['.built', '.tsbuildinfo']) await rm(join(root, 'dist', name), { force: true });
}

/** The folders of packages and of all that they need. A package that is not there, as one for another system, is left out. */
async function closureOf(root: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const queue = names.map((name) => ({ name, from: root }));
  for (const { name, from } of queue) {
    const dir = await findPackage(name, from, root);
    if (dir === null || found.has(dir)) continue;
    found.add(dir);
    const manifest: Manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
    const needed = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies };
    queue.push(...Object.keys(needed).map((one) => ({ name: one, from: dir })));
  }
  return found;
}

/** Where Node finds a package from a folder; null if it does not. */
async function findPackage(name: string, from: string, root: string): Promise<string | null> {
  for (let dir = from; ; dir = dirname(dir)) {
    const candidate = join(dir, 'node_modules', name);
    if (await exists(join(candidate, 'package.json'))) return candidate;
    if (dir === root) return null;
  }
}

/** Removes the packages in a `node_modules` folder that are not kept, and what npm and others keep there. */
async function sweep(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await namesIn(folder)) {
    const dir = join(folder, name);
    if (name === '.bin') continue;
    if (name.startsWith('@') && (await isDirectory(dir))) {
      await sweep(dir, kept);
      if ((await readdir(dir)).length === 0) await rmdir(dir);
    } else if (kept.has(dir)) await sweep(join(dir, 'node_modules'), kept);
    else await rm(dir, { recursive: true });
  }
}

async function removeDangling(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const link = join(folder, name);
    if (!(await exists(link))) await rm(link);
  }
}

async function removeFiles(dir: string, names: RegExp): Promise<void> {
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && names.test(entry.name)) await rm(join(entry.parentPath, entry.name));
  }
}

/** Follows links. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return false;
    throw cause;
  }
}

/** Empty for what is no directory: a link leads to what others use. */
async function namesIn(folder: string): Promise<string[]> {
  return (await isDirectory(folder)) ? readdir(folder) : [];
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return false;
    throw cause;
  }
}

// This file runs as dist/scripts/prune.js: the package root is two directories up.
await prune(join(import.meta.dirname, '..', '..'));
