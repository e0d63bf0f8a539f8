import { TreeSearch } from '../../fs/tree-search.ts';

/**
 * Settings that package managers read from a toolchain's own folder and that may hold a password or token: npm's global
 * settings, pip's for one interpreter, Maven's and Gradle's for one installation, NuGet's.
 */
const SETTINGS = new Set([
  'npmrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  'pip.conf',
  '.condarc',
  'condarc',
  'settings.xml',
  'init.gradle',
  'gradle.properties',
  'nuget.config',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.gitconfig',
  'auth.json',
  'credentials',
  'credentials.toml',
  'credentials.json',
  '.env',
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

/** Finds the files below the mounts of toolchains that may hold credentials. */
export class ToolchainSettings {
  readonly #search = new TreeSearch(
    {
      enters: (_path, name, depth) => depth <= DEPTH_MAX && !NOT_SETTINGS.has(name),
      finds: (_path, name, kind) => kind === 'file' && SETTINGS.has(name.toLowerCase()),
    },
    DIRECTORIES_MAX,
  );

  /** As they are now: an lstat for each directory, and a read of those that have changed. */
  find(mounts: readonly string[]): string[] {
    return this.#search.find(mounts).map(({ path }) => path);
  }
}
