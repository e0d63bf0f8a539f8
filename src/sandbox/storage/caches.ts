/** A directory of HOME in which programs keep what they can fetch or build again. */
interface CacheDirectory {
  /** Relative to HOME; there it is a link to the unit. */
  readonly home: string;
  /** Its name in the caches of a project. */
  readonly unit: string;
  /** Programs keep their caches beside each other in it, so each entry is dropped by itself. */
  readonly isShared?: true;
  /** The variable by which its program finds it, if it does not work behind a link. */
  readonly variable?: string;
}

/**
 * What persists per project. Everything else in HOME is configuration for all that contextd knows, and ends with its
 * session: a script that a package runs at its installation must not steer later sessions.
 */
export const CACHE_DIRECTORIES: readonly CacheDirectory[] = [
  // pip, uv, yarn, go-build, deno, pre-commit, playwright and everything else that follows the XDG specification.
  { home: '.cache', unit: 'xdg', isShared: true },
  { home: 'go', unit: 'go', isShared: true },
  // npx takes what it installed behind a link for broken, and installs it again at every start.
  { home: '.npm', unit: 'npm', variable: 'npm_config_cache' },
  { home: '.local/share/pnpm/store', unit: 'pnpm' },
  { home: '.yarn/berry/cache', unit: 'yarn' },
  { home: '.bun/install/cache', unit: 'bun' },
  { home: '.cargo/registry', unit: 'cargo-registry' },
  { home: '.cargo/git', unit: 'cargo-git' },
  { home: '.m2/repository', unit: 'maven' },
  { home: '.m2/wrapper', unit: 'maven-wrapper' },
  { home: '.gradle/caches', unit: 'gradle' },
  { home: '.gradle/wrapper', unit: 'gradle-wrapper' },
  { home: '.ivy2/cache', unit: 'ivy' },
  { home: '.nuget/packages', unit: 'nuget' },
  { home: '.composer/cache', unit: 'composer' },
  { home: '.bundle/cache', unit: 'bundler' },
  { home: '.pub-cache', unit: 'dart' },
  { home: '.hex/packages', unit: 'hex' },
  { home: '.cabal/packages', unit: 'cabal' },
  { home: '.conan2/p', unit: 'conan' },
  { home: '.ccache', unit: 'ccache' },
];

/** Caches in which every file stands for itself: the oldest files are dropped, not the whole cache. */
export const LOOSE_CACHES: readonly string[] = ['xdg/go-build', 'xdg/ccache', 'xdg/sccache', 'ccache'];

/** The variables of caches that are mounted at `inside`. */
export function cacheVariables(inside: string): Record<string, string> {
  return Object.fromEntries(
    CACHE_DIRECTORIES.flatMap(({ unit, variable }) =>
      variable === undefined ? [] : [[variable, `${inside}/${unit}`]],
    ),
  );
}
