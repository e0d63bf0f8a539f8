import { existsSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { ContextdError } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { checkToolPaths } from '../../sandbox/machine/tool-paths.ts';

export interface GrantPlace {
  readonly project: string;
  /** Real path of the home of the person. */
  readonly home: string;
  readonly paths: Paths;
}

/** What to grant so that a path is seen, or why it cannot be granted. */
export type Grant = { readonly path: string } | { readonly why: string };

/** Files at the top of a package, which holds all that its programs load, or of a Python environment. */
const PACKAGE_FILES = [
  ...['package.json', 'deno.json', 'pyproject.toml', 'setup.py', 'requirements.txt', 'pyvenv.cfg'],
  ...['Cargo.toml', 'go.mod', 'Gemfile', 'composer.json', '.git'],
];
const SCRIPT = /^\.(?:[cm]?[jt]sx?|pyz?|rb|(?:ba|z)?sh|pl|php|lua|jar|r|jl|exs?|dll)$/i;

/**
 * The smallest place that is of use, for a real path: for a program or script, or a directory, the package that it is part of; otherwise the
 * directory of a script, because it loads its neighbors; of anything else only itself.
 */
export function grantFor(path: string, place: GrantPlace): Grant {
  if (isWithin(place.project, path)) return { path: place.project };
  const stats = statSync(path);
  const around = [...packageAround(path, stats, place), ...neighborsOf(path, stats)].filter((one) =>
    isNarrow(one, place),
  );
  let why = '';
  for (const one of [...around, path]) {
    try {
      checkToolPaths(
        { toolPaths: [{ path: one, isWritable: false }], workspace: { path: place.project } },
        place.paths,
      );
      return { path: one };
    } catch (thrown) {
      why = ContextdError.from(thrown).message;
    }
  }
  return { why };
}

/** The outermost one, up to the top of its repository: packages of a workspace share what they load. */
function packageAround(path: string, stats: Stats, place: GrantPlace): string[] {
  if (!stats.isDirectory() && !isProgram(path, stats)) return [];
  let found: string[] = [];
  const start = stats.isDirectory() ? path : dirname(path);
  for (let at = start; isNarrow(at, place); at = dirname(at)) {
    if (PACKAGE_FILES.some((name) => existsSync(join(at, name)))) found = [at];
    if (existsSync(join(at, '.git'))) break;
  }
  return found;
}

/** A program in a `bin` has its libraries in the `lib` beside it. */
function neighborsOf(path: string, stats: Stats): string[] {
  if (stats.isDirectory() || !isProgram(path, stats)) return [];
  const directory = dirname(path);
  const prefix = dirname(directory);
  const hasLibraries = basename(directory) === 'bin' && existsSync(join(prefix, 'lib'));
  return [...(hasLibraries && !basename(prefix).startsWith('.') ? [prefix] : []), directory];
}

function isProgram(path: string, { mode }: Stats): boolean {
  return SCRIPT.test(extname(path)) || (mode & 0o111) !== 0;
}

/** Neither a home, nor the project, nor what holds one of them, nor a directory at the top. */
function isNarrow(directory: string, { home, project }: GrantPlace): boolean {
  return dirname(directory) !== '/' && directory !== '/' && !isWithin(directory, home) && !isWithin(directory, project);
}
