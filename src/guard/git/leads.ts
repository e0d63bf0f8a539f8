/** Where the files of a git directory lead: its configuration to worktrees and repositories, its alternates to objects. */
import { posix } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { readSmallFile, statAt } from '../../fs/file-access.ts';
import { isWithin, parentOf, type RawPath } from '../../fs/raw-path.ts';
import { parseGitConfig } from './config.ts';
import { localAddressesIn } from './config-keys.ts';
import { follow, gitDirNamedBy, type Lead } from './git-dir.ts';

/** Largest configuration or state file that is read. git writes a few hundred bytes, and more for a rebase of thousands of commits. */
export const STATE_MAX_BYTES = 1024 * 1024;

export interface Trees {
  /** The writable trees. Nothing may lead out of them. */
  readonly roots: readonly RawPath[];
  /** Other writable trees, which other guards watch. */
  readonly companions: readonly RawPath[];
}

/** Whether the path, as a configuration in `gitDir` names a repository of this machine, leads to a place in the writable trees. */
export function isRepositoryInside(path: string, gitDir: RawPath, trees: Trees): boolean {
  return repositoriesAt(path, gitDir, trees).every((lead) => isSafePlace(lead, trees));
}

/** Texts that are kept, and their size in characters. */
const PLAIN_MAX = 256;
const PLAIN_MAX_LENGTH = 4096;

/**
 * Where configurations lead: to their `core.worktree` and the repositories on this machine that they name. They are read after
 * every run, and most lead nowhere: the text of such a one is kept and not parsed again.
 */
export class ConfigLeads {
  readonly #trees: Trees;
  readonly #plain = new Map<RawPath, string>();

  constructor(trees: Trees) {
    this.#trees = trees;
  }

  leadsOf(config: RawPath): (Lead | null)[] {
    const text = readSmallFile(config, STATE_MAX_BYTES);
    if (text === null || this.#plain.get(config) === text) return [];
    const leads = leadsIn(text, parentOf(config), this.#trees);
    if (this.#plain.size >= PLAIN_MAX) this.#plain.clear();
    if (leads.length === 0 && text.length <= PLAIN_MAX_LENGTH) this.#plain.set(config, text);
    return leads;
  }
}

function leadsIn(text: string, gitDir: RawPath, trees: Trees): (Lead | null)[] {
  const entries = parseGitConfig(text) ?? [];
  const worktree = entries.findLast(({ key, subsection }) => key === 'core.worktree' && subsection === null);
  return [
    ...(worktree === undefined ? [] : [follow(gitDir, worktree.value ?? '')]),
    ...localAddressesIn(entries).flatMap((path) => repositoriesAt(path, gitDir, trees)),
  ];
}

/**
 * Everything that git tries for the path of a repository (path.c, enter_repo): the path, also with `.git` behind it, and
 * what a file there points to. A relative path starts at the top of a worktree, and the project itself could become one, so
 * it must not lead up (null). `~` is the home of a person, which is not in the project (null).
 */
function repositoriesAt(path: string, gitDir: RawPath, { roots, companions }: Trees): (Lead | null)[] {
  const isRelative = !path.startsWith('/');
  if (path.startsWith('~') || (isRelative && /^\.\.(\/|$)/.test(posix.normalize(path)))) return [null];
  const bases = isRelative ? [gitDir, parentOf(gitDir)] : [''];
  return bases
    .flatMap((base) => {
      const lead = follow(base, path);
      // Nothing that a call makes lies beside a tree.
      const isTree = lead !== null && [...roots, ...companions].includes(lead.target);
      return isTree ? [lead] : [lead, follow(base, `${path.replace(/\/+$/, '')}.git`)];
    })
    .flatMap((lead) => (lead !== null && isFileAt(lead.target) ? [lead, ...pointedAt(lead.target)] : [lead]));
}

function pointedAt(file: RawPath): Lead[] {
  const lead = gitDirNamedBy(file);
  return lead === null ? [] : [lead];
}

function isFileAt(path: RawPath): boolean {
  try {
    return statAt(path)?.isFile() === true;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** In the writable trees, which are searched, whether it exists already or not. */
export function isSafePlace(lead: Lead | null, { roots, companions }: Trees): boolean {
  if (lead === null || lead.links.length > 0) return false;
  return [...roots, ...companions].some((tree) => isWithin(tree, lead.target));
}

/** git follows the alternates of alternates to this depth (object-file.c). */
const ALTERNATES_DEPTH = 5;
/** Alternates that are followed in all. */
const ALTERNATES_MAX = 100;

/** The object directories that an `objects/info/alternates` leads to, and those that they lead to; null if it cannot be read. */
export function alternatesNamedBy(path: RawPath): (Lead | null)[] | null {
  const text = readSmallFile(path, STATE_MAX_BYTES);
  if (text === null) return null;
  const found: (Lead | null)[] = [];
  let open = leadsInAlternates(text, parentOf(parentOf(path)));
  for (let depth = 0; depth < ALTERNATES_DEPTH && open.length > 0; depth++) {
    if (found.push(...open) > ALTERNATES_MAX) return null;
    open = open.flatMap((lead) => {
      const next = lead === null ? null : readSmallFile(`${lead.target}/info/alternates`, STATE_MAX_BYTES);
      return lead === null || next === null ? [] : leadsInAlternates(next, lead.target);
    });
  }
  return found;
}

/** git reads a line that begins with a quotation mark as quoted, which it never writes for an ordinary path. */
function leadsInAlternates(text: string, objects: RawPath): (Lead | null)[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => (line.startsWith('"') ? null : follow(objects, line)));
}
