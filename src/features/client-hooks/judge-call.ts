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
}

/** Why a call of a client's tool is refused because of a path that it names; null if it is not. */
export function refusedPath(
  { paths, does, input }: Pick<HookEvent, 'paths' | 'does' | 'input'>,
  root: string,
  rules: PathRules,
): string | null {
  for (const path of paths)
    for (const place of new Set([path, realPlace(path)])) {
      const why =
        deniedBy(place, root, rules.deny) ?? (does === 'write' ? protectedBy(place, root, input, rules) : null);
      if (why !== null) return why;
    }
  return null;
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
  input: HookEvent['input'],
  { ownDirectories }: PathRules,
): string | null {
  const own = ownDirectories.find((directory) => isWithin(directory, place));
  if (own !== undefined) return `${quoteName(place)} belongs to contextd itself (${quoteName(own)}). ${ASK}`;
  const names = namesBelow(root, place);
  if (names === null) return null;
  for (const [index, name] of names.entries()) {
    const shown = quoteName(names.slice(0, index + 1).join('/'));
    if (name === '.git')
      return `${quoteName(names.join('/'))} is in ${shown}, which is protected: git on the host would run or obey what is in it. ${ASK}`;
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
