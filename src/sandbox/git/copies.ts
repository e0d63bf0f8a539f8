import { createHash } from 'node:crypto';
import { closeSync, constants, fchmodSync, fchownSync, lstatSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Denial } from '../../core/envelope.ts';
import { quoteName } from '../../core/own-line.ts';
import { isWithin } from '../../core/paths.ts';
import { fdPath, openPlace, readSmallFile } from '../../fs/file-access.ts';
import { type RawPath, toRaw } from '../../fs/raw-path.ts';
import type { GitEntry } from '../../guard/git/config.ts';
import { SPARSE_KEYS } from '../../guard/git/config-keys.ts';
import { hasOnlySparseKeys } from '../../guard/git/judgement.ts';
import { isRepositoryInside } from '../../guard/git/leads.ts';
import { hookScriptIn, howToInstallHooks } from '../denials/install-hooks.ts';
import { pasted } from '../denials/rules.ts';
import type { Identity } from '../machine/identity.ts';
import { branchesOf } from './branches.ts';
import { keysSwitchedOn, switchOff } from './config-text.ts';
import { type HasProgram, withDrivers } from './drivers.ts';
import { withoutDoubles } from './edit-config.ts';
import { CONFIG_MAX_BYTES, type Merged, mergeIntoHost, NOTHING } from './host-config.ts';
import type { PersonSettings } from './person-settings.ts';
import { readIncluded } from './read-config.ts';
import { worktreeDirs } from './registrations.ts';

/** What a command's changes of configurations came to. */
export interface Collected {
  readonly denied: readonly Denial[];
  /** What reached the host, one line for each repository. */
  readonly notices: readonly string[];
}

/** Which git settings a sandbox gets. */
export interface GitRequest {
  readonly identity: Identity;
  readonly person: PersonSettings;
  /** The configurations of the project's repositories. */
  readonly configs: readonly string[];
  /** The trees that commands may write: the project first, then what a person allowed. */
  readonly writable: readonly string[];
  /** Whether commands have a program that git runs. */
  readonly hasProgram: HasProgram;
}

/** The directory of a configuration's copy. */
export function nameFor(config: string): string {
  return createHash('sha256').update(config).digest('hex').slice(0, 16);
}

/** What a command was given of one repository. */
interface Given {
  readonly text: string;
  /** Whether the host's file has a key of a sparse checkout twice, with which `git sparse-checkout` fails. */
  readonly hasDoubles: boolean;
  /** Whether the person signs commits in it. */
  readonly signs: boolean;
  /** Tells whether the command made a commit. */
  readonly lastMessage: string;
  readonly hadBranch: (name: string) => boolean;
}

/** The copies of one sandbox. */
export class Copies {
  readonly #dir: string;
  readonly #request: GitRequest;
  readonly #reported: Set<string>;
  readonly #given = new Map<string, Given>();
  readonly #kept = new Map<string, string | null>();

  constructor(dir: string, request: GitRequest, reported: Set<string>) {
    this.#dir = dir;
    this.#request = request;
    this.#reported = reported;
  }

  seed(): void {
    const { configs, identity, person, hasProgram } = this.#request;
    for (const config of configs) {
      const original = readSmallFile(toRaw(config), CONFIG_MAX_BYTES) ?? '';
      const host = withoutDoubles(original, SPARSE_KEYS);
      const [signing, rerere] = [keysSwitchedOn(host, SIGNING), keysSwitchedOn(host, RERERE)];
      const isMain = basename(config) === 'config';
      const own = isMain ? withDrivers(host, includedBy(config, this.#request), person.drivers, hasProgram) : host;
      const text = switchOff(own, [...signing, ...rerere]);
      writeCopy(this.#copyOf(config), text, identity);
      this.#given.set(config, {
        text,
        signs: isMain && (person.signs || signing.length > 0),
        hasDoubles: host !== original,
        ...stateOf(config),
      });
    }
  }

  /** Remembers what the command left: the copies may be removed before they are collected. */
  keep(): void {
    for (const config of this.#given.keys()) this.#kept.set(config, this.#read(config));
  }

  async collect(): Promise<Collected> {
    const denied: Denial[] = [];
    const notices: string[] = [];
    for (const [config, given] of this.#given) {
      const merged = await this.#carryOver(config, given);
      const { carried } = merged;
      if (carried.length > 0) notices.push(`kept in ${quoteName(config)}: ${shorten(carried)}`);
      const outside = merged.outside.filter((path) => !this.#isInProject(path));
      denied.push(...notCarried(config, { ...merged, outside }));
      const hasUnsigned = given.signs && lastMessageOf(config) !== given.lastMessage;
      if (hasUnsigned && !this.#reported.has(config)) denied.push(notSigned(config));
      if (hasUnsigned) this.#reported.add(config);
    }
    return { denied, notices };
  }

  async #carryOver(config: string, { text: given, hasDoubles, hadBranch }: Given): Promise<Merged> {
    const kept = this.#kept.get(config);
    const left = kept === undefined ? this.#read(config) : kept;
    if (left === given && !hasDoubles) return NOTHING;
    if (left === null) {
      return { ...NOTHING, refused: ['everything (the file is gone, or larger than 1 MiB)'] };
    }
    const { person, writable } = this.#request;
    const gitDir = toRaw(dirname(config));
    const roots = writable.map(toRaw).filter((root, place) => place > 0 && !isCheckedOutIn(root, gitDir));
    return mergeIntoHost({
      config,
      given,
      left,
      hadBranch,
      hasIdentity: person.hasIdentity,
      mayBeRepository: (path) => isRepositoryInside(path, gitDir, { roots, companions: [] }),
      areWorktreesPlain: areWorktreesPlain(dirname(config)),
      isOfWorktree: basename(config) !== 'config',
    });
  }

  #isInProject(path: string): boolean {
    return isWithin(this.#request.writable[0] ?? '/', path);
  }

  /** Null if the file is gone or too large. */
  #read(config: string): string | null {
    return readSmallFile(toRaw(this.#copyOf(config)), CONFIG_MAX_BYTES);
  }

  #copyOf(config: string): string {
    return join(this.#dir, nameFor(config), 'config');
  }
}

const SIGNING = ['commit.gpgsign', 'tag.gpgsign', 'tag.forcesignannotated', 'push.gpgsign'] as const;

/** Reads and writes files that `.git/MERGE_RR` names, without a check, so a command must have no reason to write it. */
export const RERERE = ['rerere.enabled'] as const;

/** The user inside owns the directory, and can put a link in place of it or of the copy at any moment. */
function writeCopy(path: string, text: string, identity: Identity): void {
  const place = openPlace(toRaw(dirname(path)));
  if (place === null) throw new Error(`${dirname(path)} was replaced`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const copy = openSync(`${fdPath(place)}/${basename(path)}`, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
    try {
      writeFileSync(copy, text, { encoding: 'latin1' });
      fchmodSync(copy, 0o644);
      if (identity.kind === 'owner') fchownSync(copy, identity.uid, identity.gid);
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(place);
  }
}

/** The entries of the files that a repository's configuration includes. */
function includedBy(config: string, { person, identity }: GitRequest): GitEntry[] {
  return readIncluded({ person: person.person, identity, gitDir: toRaw(dirname(config)) }, toRaw(config));
}

function stateOf(config: string): Pick<Given, 'lastMessage' | 'hadBranch'> {
  return { lastMessage: lastMessageOf(config), hadBranch: branchesOf(dirname(config)) };
}

/** git writes the message of each commit into this file. */
function lastMessageOf(config: string): string {
  const stats = lstatSync(join(dirname(config), 'COMMIT_EDITMSG'), { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino}:${stats.ctimeMs}`;
}

function notSigned(config: string): Denial {
  return {
    kind: 'git_config',
    path: config,
    rule: 'commits of tools are not signed, because no key of yours is inside',
    how_to_allow: 'A person can sign them on the host: git rebase --exec "git commit --amend --no-edit -S" BASE',
  };
}

/** Names shown of one configuration. */
const NAMED_MAX = 6;

/** One denial for each remedy. */
function notCarried(config: string, { refused, outside, leading, renamed }: Merged): Denial[] {
  const denied = (rule: string, how_to_allow: string): Denial => ({
    kind: 'git_config',
    path: config,
    rule,
    how_to_allow,
  });
  const others = outside.length === 0 ? refused : refused.filter((name) => !leading.includes(name));
  return [
    ...renamed.map(({ from, to }) =>
      denied('commands cannot rename a remote', `A person can rename it on the host: git remote rename ${from} ${to}`),
    ),
    ...[...new Set(outside)].map((path) =>
      denied(
        `commands cannot reach the repository ${quoteName(path)}, so a remote that leads there ends with the command`,
        `A person can allow it, then add the remote again: ctxd allow path ${pasted(path)}`,
      ),
    ),
    ...(others.length === 0
      ? []
      : [
          denied(
            'of what a command changes here, only new remotes and branches with plain URLs stay',
            howToChange(config, others),
          ),
        ]),
  ];
}

function howToChange(config: string, refused: readonly string[]): string {
  // Setting the key by hand does not install the hooks that it names.
  const script = refused.includes('core.hookspath') ? hookScriptIn([dirname(dirname(config))]) : null;
  const others = refused.filter((name) => script === null || name !== 'core.hookspath');
  const byConfig = `A person can change ${shorten(others)} with git config on the host.`;
  return [...(script === null ? [] : [howToInstallHooks(script)]), ...(others.length > 0 ? [byConfig] : [])].join(' ');
}

/** Whether every `config.worktree` of the repository says only which files a sparse checkout has. */
function areWorktreesPlain(gitDir: string): boolean {
  return [gitDir, ...worktreeDirs(gitDir)].every((dir) => {
    const file = join(dir, 'config.worktree');
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return true;
    const text = readSmallFile(toRaw(file), CONFIG_MAX_BYTES);
    return text !== null && hasOnlySparseKeys(text);
  });
}

/** Whether the repository, or a checkout of it, is in a tree: what is committed could be written there. */
function isCheckedOutIn(root: RawPath, gitDir: RawPath): boolean {
  const checkouts = worktreeDirs(gitDir).map((dir) => readSmallFile(toRaw(join(dir, 'gitdir')), 4096)?.trim() ?? root);
  return [gitDir, ...checkouts].some((path) => isWithin(root, path));
}

function shorten(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${names.slice(0, NAMED_MAX).join(', ')}${more}`;
}
