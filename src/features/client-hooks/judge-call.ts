import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { quoteName } from '../../core/own-line.ts';
import { isBelow, isWithin } from '../../core/paths.ts';
import { compileGlobs } from '../../fs/glob.ts';
import { toRaw } from '../../fs/raw-path.ts';
import { isHarmlessContent } from '../../guard/content/content.ts';
import { dangerAs, meaningOf } from '../../guard/table/protected-names.ts';
import type { HookEvent } from './hook-event.ts';

export interface PathRules {
  /** `sandbox.deny`: globs relative to a project. */
  readonly deny: readonly string[];
  /** Absolute directories of contextd itself. */
  readonly ownDirectories: readonly string[];
  /** The person's HOME, which clients put in place of `~`. */
  readonly home: string;
  /** Absolute directories and files from which clients take a person's settings. */
  readonly clientPlaces: readonly string[];
}

/** Why a call of a client's tool is refused because of a path that it names; null if it is not. */
export function refusedPath(event: NamedPaths, root: string, rules: PathRules): string | null {
  for (const path of event.paths.flatMap((path) => withHome(path, rules.home)))
    for (const place of new Set([path, realPlace(path)])) {
      const why =
        deniedBy(place, root, rules.deny) ?? (event.does === 'write' ? protectedBy(place, root, event, rules) : null);
      if (why !== null) return why;
    }
  return null;
}

type NamedPaths = Pick<HookEvent, 'paths' | 'does' | 'input' | 'clientDirectory'>;

/** The path, and what it is if the client puts HOME in place of `~`. */
function withHome(path: string, home: string): string[] {
  const tilde = path.indexOf('/~/');
  return tilde === -1 ? [path] : [path, join(home, path.slice(tilde + 3))];
}

/** Where Claude Code puts its worktrees: a worktree is judged like the project. */
const WORKTREE = /^\.claude\/worktrees\/[^/]+\//;

/** The names of a path in the project or in one of its worktrees; null for every other path. */
function namesBelow(root: string, place: string): string[] | null {
  if (!isBelow(root, place)) return null;
  return place
    .slice(root.length + 1)
    .replace(WORKTREE, '')
    .split('/');
}

/** A person hides these files from agents; so does every sandbox. */
function deniedBy(place: string, root: string, deny: readonly string[]): string | null {
  const names = namesBelow(root, place);
  if (names === null) return null;
  for (const glob of deny) {
    const set = compileGlobs([glob]);
    const hides = (depth: number): boolean => {
      const path = names.slice(0, depth).join('/');
      return set.match(path, depth < names.length || isDirectory(place)) !== null;
    };
    if (names.some((_, index) => hides(index + 1)))
      return `${quoteName(names.join('/'))} is hidden from agents by the person's rule ${quoteName(glob)} (sandbox.deny). Work without it, or ask the person.`;
  }
  return null;
}

function protectedBy(
  place: string,
  root: string,
  { input, clientDirectory }: NamedPaths,
  { ownDirectories, clientPlaces }: PathRules,
): string | null {
  const holding = (places: readonly string[]): string | undefined =>
    places.flatMap((one) => [one, realPlace(one)]).find((one) => isWithin(one, place));
  const own = holding(ownDirectories);
  if (own !== undefined) return `${quoteName(place)} belongs to contextd itself (${quoteName(own)}). ${ASK}`;
  const names = namesBelow(root, place);
  if (names !== null) return protectedName('', names, input);
  const clients = holding(clientDirectory === null ? clientPlaces : [...clientPlaces, clientDirectory]);
  if (clients !== undefined)
    return NOTEBOOK.test(place.slice(clients.length))
      ? null
      : `${quoteName(place)} belongs to the settings of a client (${quoteName(clients)}). ${ASK}`;
  return protectedOutside(place, root, input);
}

/** What Claude Code writes itself with its tools: plans, and its memory of a project. */
const NOTEBOOK = /^\/(?:plans|projects\/[^/]+\/memory)\/[^/]+\.md$/;

/** Programs read the same names elsewhere. The directories around the project have the names that the person gave them. */
function protectedOutside(place: string, root: string, input: HookEvent['input']): string | null {
  const names = place.split('/').slice(1);
  const around = root.split('/').slice(1);
  const shared = names.findIndex((name, index) => name !== around[index]);
  return shared === -1 ? null : protectedName(`/${names.slice(0, shared).join('/')}`, names.slice(shared), input);
}

/** `above`: the directory of the names, '' for the root of the project. */
function protectedName(above: string, names: readonly string[], input: HookEvent['input']): string | null {
  for (const [index, name] of names.entries()) {
    const shown = quoteName(join(above, ...names.slice(0, index + 1)));
    if (name === '.git')
      return `${quoteName(join(above, ...names))} is in ${shown}, which is protected: git on the host would run or obey what is in it. ${ASK}`;
    const named = meaningOf(toRaw(names.slice(0, index).join('/')), toRaw(name));
    const danger = dangerAs(named);
    if (named?.row === undefined || named.row === null || danger === null) continue;
    const { program, trigger } = named.row;
    if (danger === 'name') return `${shown} is protected: ${program} would run or trust it when ${trigger}. ${ASK}`;
    if (named.content === null || isHarmlessFile(input, named.content)) continue;
    return `${shown} is protected unless what it holds is harmless: ${program} would obey it when ${trigger}. Write it with safe_write, which judges the whole file.`;
  }
  return null;
}

const ASK = 'Only a person changes it: tell the person what for, and ask.';

/** True if the input is the whole file, and harmless. */
function isHarmlessFile(input: HookEvent['input'], rule: Parameters<typeof isHarmlessContent>[0]): boolean {
  return isJsonObject(input) && typeof input.content === 'string' && isHarmlessContent(rule, input.content);
}

/** The links of a path that are followed one by one, as the kernel does. */
const LINKS_MAX = 40;

/** The path with all links resolved, also where it does not exist: a write through a link makes the file that it names. */
export function realPlace(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    const above = dirname(path);
    if (above === path || links > LINKS_MAX) return path;
    const place = join(realPlace(above, links), basename(path));
    const target = linkAt(place);
    return target === null ? place : realPlace(resolve(dirname(place), target), links + 1);
  }
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isErrno(error)) return null;
    throw error;
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
