import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { SYSTEM_PLACES } from '../../fs/system-places.ts';
import { SANDBOX_HOME } from '../../sandbox/contract/places.ts';
import { baseView, type Toolchains } from '../../sandbox/contract/policy.ts';
import { programsOf } from '../../sandbox/run/toolchains.ts';
import type { ServerSpec, StoredServer } from '../../stores/upstream-servers.ts';
import type { Outside } from '../outside/outside.ts';
import { replaceParts } from './command-parts.ts';
import { type GrantPlace, grantFor } from './grant-place.ts';

export interface UnseenDeps extends Pick<GrantPlace, 'paths'> {
  readonly outside: Pick<Outside, 'partsFor'>;
  readonly config: Pick<Config['sandbox'], 'ro_paths'>;
}

/** What a server is run with and sees. */
type Seeing = Pick<ServerSpec, 'command' | 'paths' | 'project'>;

/** What the command of a server names, and what its sandbox does not see. */
export interface UnseenPaths {
  /** As the command names them. Never empty. */
  readonly names: readonly string[];
  /** What shows all of them to the server; null if one of them cannot be granted. */
  readonly seeing: Seeing | null;
  /** Why one of them cannot be granted; '' if all can. */
  readonly why: string;
}

/** Places that every sandbox has of its own: those of the host cannot be granted. */
const OWN_PLACES = ['/dev', '/proc', '/sys', '/etc', SANDBOX_HOME];

/** The paths of its command that exist on the host, and that its sandbox does not have under these names; null if it has no such path. */
export function unseenPaths(
  { project, spec }: Pick<StoredServer, 'project' | 'spec'>,
  deps: UnseenDeps,
): UnseenPaths | null {
  const [program, ...args] = spec.command;
  if (program === undefined) return null;
  const reader = new CommandReader(project, spec, deps);
  const command = [reader.program(program), ...args.map((word) => reader.argument(word))];
  if (reader.names.size === 0) return null;
  const grants = [...reader.needed].map((path) => grantFor(path, reader.place));
  const [why = ''] = grants.flatMap((grant) => ('why' in grant ? grant.why : []));
  const granted = grants.flatMap((grant) => ('path' in grant ? grant.path : []));
  return { names: [...reader.names], why, seeing: why === '' ? { command, ...widened(project, spec, granted) } : null };
}

/** What it sees with these directories and files too. */
function widened(project: string, spec: ServerSpec, granted: readonly string[]): Omit<Seeing, 'command'> {
  const others = [...new Set(granted)].filter((path) => path !== project);
  const isCovered = (path: string, by: readonly string[]): boolean =>
    by.some((one) => one !== path && isWithin(one, path));
  const kept = spec.paths.filter(({ path, isWritable }) => isWritable || !isCovered(path, others));
  const added = others.filter((path) => !isCovered(path, others)).map((path) => ({ path, isWritable: false }));
  const isShown = spec.project === 'none' && granted.includes(project);
  return { paths: [...kept, ...added], project: isShown ? 'read' : spec.project };
}

/** Reads the words of a command, and collects what the sandbox does not see. */
class CommandReader {
  readonly names = new Set<string>();
  /** Absolute; a link or a real path. */
  readonly needed = new Set<string>();
  readonly place: GrantPlace;
  readonly #spec: ServerSpec;
  readonly #toolchains: Toolchains;
  readonly #roPaths: readonly string[];
  readonly #seen: readonly string[];

  constructor(project: string, spec: ServerSpec, { outside, config, paths }: UnseenDeps) {
    this.place = { project, home: existsSync(paths.userHome) ? realpathSync(paths.userHome) : paths.userHome, paths };
    this.#spec = spec;
    this.#toolchains = outside.partsFor(project).toolchains;
    this.#roPaths = config.ro_paths;
    const granted = spec.paths.map(({ path }) => path);
    const ofHost = [...SYSTEM_PLACES, ...this.#roPaths, ...this.#toolchains.mounts, ...granted];
    this.#seen = [...OWN_PLACES, ...ofHost, ...(spec.project === 'none' ? [] : [project])];
  }

  /** The word that names the program inside. One without a slash is looked up on the PATH. */
  program(word: string): string {
    if (word.includes('/') || this.#has(word)) return this.argument(word);
    const found = this.#toolchains.hostPath.map((entry) => join(entry, word)).find(isProgram);
    return found === undefined ? word : this.argument(found);
  }

  #has(program: string): boolean {
    const [toolchains, roPaths] = [this.#toolchains, this.#roPaths];
    return programsOf({ roPaths, toolchains, workspace: baseView(this.place.project) })(program);
  }

  argument(word: string): string {
    return replaceParts(word, (part) => {
      const isWhole = part === word || word.endsWith(`=${part}`);
      const path = this.#pathOf(part, isWhole);
      return path === null ? null : this.#inside(part, path);
    });
  }

  /** Where a path of the host is, from where the person or the client starts the command; null for other text. */
  #pathOf(part: string, isWhole: boolean): string | null {
    const { project, home } = this.place;
    const isOfHome = part === '~' || part.startsWith('~/');
    const path = isOfHome ? join(home, part.slice(1)) : resolve(this.#spec.directory ?? project, part);
    const isBare = !isOfHome && !part.includes('/') && !/^\.{1,2}$/.test(part);
    if (part === '' || (!isWhole && path === '/')) return null;
    const stats = statsOrNull(path);
    return stats === null || (isBare && !(isWhole && stats.isFile())) ? null : path;
  }

  /** The name under which the server reaches the path, with what is granted or needed. */
  #inside(name: string, path: string): string {
    const places = placesOf(path);
    const [own = path] = places;
    const real = places.at(-1) ?? path;
    const unseen = places.filter((place) => !this.#isSeen(place));
    const isKept = name.startsWith('/') ? own === path || this.#isSeen(path) : this.#isOfProject(name, own);
    if (isKept && unseen.length === 0) return name;
    this.names.add(name);
    // A link is granted with its directory only.
    const isLost = unseen.some((place) => place !== real && 'why' in grantFor(place, this.place));
    for (const place of isLost ? [real] : unseen) if (!this.#isSeen(place)) this.needed.add(place);
    if (isLost) return real;
    return isKept ? name : own;
  }

  /** A relative path means the same inside if the server runs in the project, from where it was named. */
  #isOfProject(name: string, own: string): boolean {
    const { project } = this.place;
    return !name.startsWith('~') && (this.#spec.directory ?? project) === project && isWithin(project, own);
  }

  #isSeen(path: string): boolean {
    // An empty directory is mounted over a hidden project, whatever holds it.
    if (this.#spec.project === 'none' && isWithin(this.place.project, path)) return false;
    return this.#seen.some((place) => isWithin(place, path));
  }
}

/** The real path of what a path names, and if that is a link, also of what it leads to, link by link. */
function placesOf(path: string): string[] {
  const places: string[] = [];
  for (let at = path; ; ) {
    const own = at === '/' ? at : join(realpathSync(dirname(at)), basename(at));
    places.push(own);
    if (!lstatSync(own).isSymbolicLink()) return places;
    at = resolve(dirname(own), readlinkSync(own));
  }
}

function isProgram(path: string): boolean {
  const stats = statsOrNull(path);
  return stats?.isFile() === true && (stats.mode & 0o111) !== 0;
}

/** Null for a path that does not exist, or that this process cannot see. */
function statsOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (cause) {
    // A word may be longer than a path can be, or hold a NUL.
    if (isErrno(cause) || cause instanceof TypeError) return null;
    throw cause;
  }
}
