import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isWithin } from '../../core/paths.ts';
import type { Toolchain__Output as Toolchain } from '../../protocol/generated/management.ts';
import { findProjectRoot } from '../project-root.ts';
import { exists, isDirectory, realOrNull, stepsTo } from './links.ts';
import { HOME_VARIABLES, MANAGERS, type Manager } from './managers.ts';

/** Where a person's programs are looked for. */
export interface Search {
  /** The person's PATH. */
  readonly path: string;
  readonly home: string;
  /** The variables that lead to toolchains. */
  readonly variables: Readonly<Record<string, string>>;
  /** The project, whose virtual environments lead to interpreters; null outside a project. */
  readonly project: string | null;
  readonly installRoot: string;
}

export interface Found {
  /** Sorted by name. */
  readonly toolchains: readonly Toolchain[];
  /** The person's PATH, for commands: real paths, without directories of projects. */
  readonly path: readonly string[];
}

/** What every sandbox has. Programs of snaps and of Windows cannot run in one. */
const MOUNTED = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/System'];
const FOREIGN = /^\/(?:snap|proc|sys|dev|run\/user|mnt\/[a-z])(?:\/|$)/;

/** Programs of one directory whose links are followed. */
const PROGRAMS_MAX = 5_000;

/**
 * Finds the toolchains outside /usr that a person uses: the directories on PATH, what the programs in them lead to, and
 * what the variables name. Of a known manager only its binaries and toolchains are taken (managers.ts), of any other
 * directory the directory itself, or the folder of programs around it without its settings.
 */
export async function findToolchains(search: Search): Promise<Found> {
  const finder = new Finder({ ...search, home: realOrNull(search.home) ?? search.home });
  const path: string[] = [];
  for (const entry of search.path.split(':')) path.push(...(await finder.addEntry(entry)));
  finder.addVariables();
  finder.addEnvironments();
  return { toolchains: finder.toolchains(), path: [...new Set(path)] };
}

/** A manager's directory, as it is named and with links resolved. */
interface Located {
  readonly manager: Manager;
  readonly named: string;
  readonly root: string;
}

class Finder {
  readonly #search: Search;
  readonly #managers: readonly Located[];
  readonly #found = new Map<string, { mounts: Set<string>; variables: Record<string, string> }>();

  constructor(search: Search) {
    this.#search = search;
    this.#managers = MANAGERS.flatMap((manager) => locate(manager, search)).sort(
      (a, b) => b.root.length - a.root.length,
    );
  }

  toolchains(): Toolchain[] {
    const all = [...this.#found].map(([name, { mounts, variables }]) => {
      const outermost = [...mounts].filter(
        (one) => ![...mounts].some((other) => other !== one && isWithin(other, one)),
      );
      return { name, mounts: outermost.sort(), variables };
    });
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A directory on PATH. Returns what takes its place on the PATH of commands. */
  async addEntry(entry: string): Promise<string[]> {
    const real = entry.startsWith('/') ? realOrNull(entry) : null;
    if (real === null || !isDirectory(real) || (await this.#isLeftOut(real))) return [];
    if (isMounted(real)) return [entry];
    const located = this.#managers.find(({ named, root }) => isWithin(named, entry) || isWithin(root, real));
    const programs = programsIn(real);
    if (programs.length > 0 && programs.every((one) => this.#isOurs(one))) return [];
    this.#cover(real);
    for (const program of programs) for (const step of stepsTo(program)) this.#cover(step);
    if (located === undefined) return [real];
    const { manager, named, root } = located;
    const kept = isWithin(named, entry) ? root + entry.slice(named.length) : real;
    return manager.instead !== undefined && kept === join(root, manager.instead.of)
      ? [kept, ...expand(root, manager.instead.use)]
      : [kept];
  }

  /** Directories that a variable names, whether their programs are on PATH or not. */
  addVariables(): void {
    for (const name of HOME_VARIABLES) {
      const value = this.#search.variables[name] ?? '';
      const real = value.startsWith('/') ? realOrNull(value) : null;
      if (real === null || !isDirectory(real) || FOREIGN.test(real)) continue;
      if (!isMounted(real)) this.#cover(exists(join(real, 'bin')) ? join(real, 'bin') : real);
      this.#add(name, [], { [name]: real });
    }
    for (const located of this.#managers) {
      if (this.#search.variables[located.manager.variable ?? ''] !== undefined) this.#addManager(located);
    }
  }

  /**
   * The interpreters of the project's virtual environments. A repository can contain any link, so only directories of
   * known managers count.
   */
  addEnvironments(): void {
    const { project } = this.#search;
    for (const name of project === null ? [] : readdirSync(project)) {
      const environment = join(project ?? '', name);
      if (!exists(join(environment, 'pyvenv.cfg'))) continue;
      for (const step of stepsTo(join(environment, 'bin', 'python'))) {
        const located = this.#managers.find(({ root }) => isWithin(root, step));
        if (located !== undefined && !isMounted(step)) this.#addManager(located);
      }
    }
  }

  /** Directories of projects are not toolchains: commands could write there. */
  async #isLeftOut(real: string): Promise<boolean> {
    const { home, installRoot, project } = this.#search;
    if (FOREIGN.test(real) || isWithin(real, home) || isWithin(installRoot, real)) return true;
    if (project !== null && isWithin(project, real)) return true;
    return (await findProjectRoot(real)) !== undefined || real.includes('/node_modules/');
  }

  /** Makes sure that the real path `real` is mounted. */
  #cover(real: string): void {
    if (isMounted(real) || FOREIGN.test(real) || isWithin(real, this.#search.home) || this.#isCovered(real)) return;
    const located = this.#managers.find(({ root }) => isWithin(root, real));
    if (located !== undefined) this.#addManager(located);
    if (this.#isCovered(real) || this.#isInProject(real)) return;
    const directory = isDirectory(real) ? real : dirname(real);
    const { name, mounts } = describe(directory, this.#search.home);
    this.#add(name, mounts, {});
  }

  /** True for the links that the installer makes. */
  #isOurs(program: string): boolean {
    const real = realOrNull(program);
    return real !== null && isWithin(this.#search.installRoot, real);
  }

  #isInProject(real: string): boolean {
    const { project, installRoot } = this.#search;
    return isWithin(installRoot, real) || (project !== null && isWithin(project, real));
  }

  #isCovered(real: string): boolean {
    return [...this.#found.values()].some(({ mounts }) => [...mounts].some((mount) => isWithin(mount, real)));
  }

  #addManager({ manager, root }: Located): void {
    if (this.#found.has(manager.name)) return;
    const mounts = manager.mounts.flatMap((one) => realOrNull(join(root, one)) ?? []);
    const { exportsNeed } = manager;
    const hasExports = exportsNeed === undefined || exists(join(root, exportsNeed));
    const variables = Object.entries(manager.exports).flatMap(([name, value]) => {
      const path = join(root, value);
      return hasExports && exists(path) ? [[name, path] as const] : [];
    });
    this.#add(manager.name, mounts, Object.fromEntries(variables));
    const implied = this.#managers.find((one) => one.manager.name === manager.implies);
    if (implied !== undefined) this.#addManager(implied);
  }

  #add(name: string, mounts: readonly string[], variables: Readonly<Record<string, string>>): void {
    const known = this.#found.get(name) ?? { mounts: new Set(), variables: {} };
    for (const mount of mounts) if (!isMounted(mount) && !isWithin(mount, this.#search.home)) known.mounts.add(mount);
    Object.assign(known.variables, variables);
    this.#found.set(name, known);
  }
}

function locate(manager: Manager, { home, variables }: Search): Located[] {
  const given = manager.variable === null ? undefined : variables[manager.variable];
  const places =
    given === undefined ? manager.places.map((place) => join(place.startsWith('/') ? '/' : home, place)) : [given];
  return places.flatMap((named) => {
    const root = named.startsWith('/') ? realOrNull(named) : null;
    return root === null || isMounted(root) || isWithin(root, home) ? [] : [{ manager, named, root }];
  });
}

function isMounted(path: string): boolean {
  return MOUNTED.some((place) => isWithin(place, path));
}

/** The names of directories of programs, below the folder that belongs to them. */
const PROGRAM_DIRS = ['bin', 'sbin', 'libexec', 'condabin', 'scripts', 'shims'];
/** Folders that belong to no single program. */
const SHARED = ['/', '/opt', '/srv', '/home', '/var', '/var/lib', '/root', '/usr/local'];
/** What a folder of programs holds besides its settings and data. */
const PARTS = [
  'bin',
  'sbin',
  'libexec',
  'lib',
  'lib32',
  'lib64',
  'include',
  'share',
  'src',
  'pkg',
  'jre',
  'jmods',
  'conf',
  'legal',
  'tools',
  'versions',
  'node_modules',
  'site-packages',
  'boot',
  'media',
  'plugins',
  'misc',
  'api',
  'dist',
  'init.d',
  'pyvenv.cfg',
  'release',
  'VERSION',
  'go.env',
  'package.json',
];
/** Of a hidden folder in the home directory, which also holds settings. */
const LIBRARIES = ['lib', 'lib64', 'libexec', 'include'];

/** What to mount for a directory of programs that belongs to no known manager. */
function describe(directory: string, home: string): { name: string; mounts: string[] } {
  const parent = dirname(directory);
  const isAlone = !PROGRAM_DIRS.includes(basename(directory)) || SHARED.includes(parent) || isWithin(parent, home);
  if (isAlone) return { name: directory, mounts: [directory] };
  const isHidden = dirname(parent) === home && basename(parent).startsWith('.');
  const parts = (isHidden ? LIBRARIES : PARTS).map((part) => join(parent, part)).filter(exists);
  return { name: parent, mounts: [...new Set([directory, ...parts])] };
}

/** Files and links in a directory that may be programs. */
function programsIn(directory: string): string[] {
  return readdirSync(directory)
    .slice(0, PROGRAMS_MAX)
    .map((name) => join(directory, name))
    .filter((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats?.isFile() === true && (stats.mode & 0o111) !== 0;
    });
}

/** The directories that match `pattern` below `root`; `*` is any name. */
function expand(root: string, pattern: string): string[] {
  let found = [root];
  for (const part of pattern.split('/')) {
    found = found.flatMap((at) => (part === '*' ? namesIn(at).map((name) => join(at, name)) : [join(at, part)]));
  }
  return found.filter(isDirectory);
}

function namesIn(directory: string): string[] {
  return isDirectory(directory) ? readdirSync(directory).sort() : [];
}
