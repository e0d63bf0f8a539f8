import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';

/**
 * Settings that package managers read from a toolchain's own folder and that may hold a password or token: npm's global
 * settings, pip's for one interpreter, Maven's and Gradle's for one installation, NuGet's.
 */
const SETTINGS = new Set([
  ...['npmrc', '.npmrc', '.yarnrc', '.yarnrc.yml', 'pip.conf', '.condarc', 'condarc', 'settings.xml', 'init.gradle'],
  ...['gradle.properties', 'nuget.config', '.netrc', '.pypirc', '.git-credentials', '.gitconfig', 'auth.json'],
  ...['credentials', 'credentials.toml', 'credentials.json', '.env'],
]);

/** Folders with programs and packages, in which no package manager keeps its settings. */
const NOT_SETTINGS = new Set([
  'bin',
  'lib',
  'lib64',
  'libexec',
  'include',
  'share',
  'src',
  'pkg',
  'node_modules',
  'Cellar',
]);

/** `versions/node/v24/etc/npmrc` is four folders below nvm's directory. */
const DEPTH_MAX = 5;
const DIRECTORIES_MAX = 5_000;

/** Files below the mounts of toolchains that may hold credentials, sorted. Follows no link. */
export async function findSettings(mounts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const queue = mounts.map((path) => ({ path, depth: 0 }));
  for (let i = 0; i < queue.length && i < DIRECTORIES_MAX; i++) {
    const { path, depth } = queue[i] ?? { path: '', depth: DEPTH_MAX };
    for (const entry of await entriesOf(path)) {
      if (entry.isDirectory() && depth < DEPTH_MAX && !NOT_SETTINGS.has(entry.name)) {
        queue.push({ path: join(path, entry.name), depth: depth + 1 });
      }
      if (entry.isFile() && SETTINGS.has(entry.name.toLowerCase())) found.push(join(path, entry.name));
    }
  }
  return found.sort();
}

async function entriesOf(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (cause) {
    if (isErrno(cause)) return [];
    throw cause;
  }
}
