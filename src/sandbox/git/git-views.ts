import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Denial } from '../../core/envelope.ts';
import type { Logger } from '../../core/log.ts';
import { quoteName } from '../../core/own-line.ts';
import { readSmallFile } from '../../fs/file-access.ts';
import { toRaw } from '../../fs/raw-path.ts';
import { removeTree, removeTreeInBackground, setAsideOrRemove } from '../../fs/remove-tree.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { GitEntry } from '../../guard/git/config.ts';
import { type Identity, idsOutside } from '../machine/identity.ts';
import { branchesOf } from './branches.ts';
import { keysSwitchedOn, switchesOff, switchOff } from './config-text.ts';
import { exceeds } from './directory-size.ts';
import { type HasProgram, withDrivers, writeDriver } from './drivers.ts';
import { CONFIG_MAX_BYTES, type Merged, mergeIntoHost } from './host-config.ts';
import { IndexOwners } from './index-owners.ts';
import { LinkRoom } from './link-room.ts';
import type { PersonSettings } from './person-settings.ts';
import { readIncluded } from './read-config.ts';

/** Where a command's git finds its own copies of the repositories' configurations. */
const COPIES_DIR = '/run/contextd-git';
/** Where every git finds the person's harmless settings. */
const SYSTEM_CONFIG = '/etc/gitconfig';
const IGNORED = '/etc/gitignore';
const ATTRIBUTES = '/etc/gitattributes';
/** Repositories of one project whose configuration a command may change; those of others are read-only. */
const REPOSITORIES_MAX = 16;
/** Room for all copies of one sandbox, with the files that git makes beside them. */
const COPIES_MAX_BYTES = 64 * 1024 * 1024;
const COPIES_MAX_ENTRIES = 2_000;
const PERSON_FILE = /^gitconfig-[0-9a-f]{16}$/;

/** What a sandbox needs so that git works in it. */
export interface GitView {
  readonly mounts: readonly Mount[];
  /** Command line that starts a program where the links are; empty without links. */
  readonly enter: readonly string[];
  /** Configurations that are covered by links to copies. */
  readonly links: readonly string[];
  /** Writes the copies; call it right before the command. */
  seed(): void;
  /** Call it when the command is dead: carries over what may be. */
  collect(): Promise<Collected>;
  /** Whether the command has filled the directory of the copies. */
  isTooLarge(): boolean;
  remove(): void;
}

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
  /** Whether commands have a program that git runs. */
  readonly hasProgram: HasProgram;
}

/** Where the files for git are kept. */
interface GitPlace {
  readonly sandboxDir: string;
  /** The user inside can reach it. */
  readonly skeletonDir: string;
  /** False once the spawner of a later daemon has taken the directories over. */
  readonly isOwn: () => boolean;
}

/** Prepares what git needs in sandboxes. */
export class GitViews {
  readonly #room: LinkRoom;
  readonly #copiesDir: string;
  readonly #place: GitPlace;
  readonly #owners = new IndexOwners();
  /** Configurations of repositories for which a person was told about signing. */
  readonly #reported = new Set<string>();

  /** Removes the files of earlier daemons. Its namespace inherits what is mounted when it is first used. */
  constructor(place: GitPlace, logger: Logger) {
    this.#place = place;
    this.#room = new LinkRoom(join(place.sandboxDir, 'links'), logger);
    this.#copiesDir = join(place.sandboxDir, 'git');
    setAsideOrRemove(this.#copiesDir);
    mkdirSync(this.#copiesDir, { recursive: true, mode: 0o700 });
    removePersonFiles(place.skeletonDir);
  }

  async prepare(request: GitRequest): Promise<GitView> {
    const { identity, person, configs, hasProgram } = request;
    const drivers = person.drivers.map((driver) => writeDriver(driver, hasProgram));
    const settings = [
      `[core]\n\texcludesFile = ${IGNORED}\n\tattributesFile = ${ATTRIBUTES}\n${person.text}`,
      ownersDiffer(configs, identity) ? '[core]\n\tcheckStat = minimal\n' : '',
      ...drivers,
      switchesOff(RERERE),
    ].join('');
    const mounts: Mount[] = [
      { kind: 'ro-bind', source: this.#personFile(settings, identity), dest: SYSTEM_CONFIG },
      { kind: 'ro-bind', source: this.#personFile(person.ignored, identity), dest: IGNORED },
      { kind: 'ro-bind', source: this.#personFile(person.attributes, identity), dest: ATTRIBUTES },
    ];
    const wanted = configs.slice(0, REPOSITORIES_MAX);
    const correctOwners = async () => {
      for (const config of wanted) await this.#owners.correct(toRaw(dirname(config)), identity);
    };
    const covered = wanted.length === 0 ? null : await this.#room.cover(wanted, targetOf);
    if (covered === null || covered.covered.length === 0) return withoutCopies(mounts, correctOwners);
    const dir = join(this.#copiesDir, randomBytes(4).toString('hex'));
    makeOwned(dir, identity);
    for (const config of covered.covered) makeOwned(join(dir, nameFor(config)), identity);
    const isTooLarge = () => exceeds(dir, COPIES_MAX_BYTES, COPIES_MAX_ENTRIES);
    const copies = new Copies(dir, { ...request, configs: covered.covered }, this.#reported);
    return {
      mounts: [...mounts, { kind: 'bind', source: dir, dest: COPIES_DIR }],
      enter: covered.enter,
      links: covered.covered,
      seed: () => copies.seed(),
      collect: async () => {
        await correctOwners();
        return copies.collect();
      },
      isTooLarge,
      remove: () => {
        copies.keep();
        if (isTooLarge()) void removeTreeInBackground(dir);
        else removeTree(dir);
      },
    };
  }

  /** The command line that enters the namespaces in which all sandboxes with links start; otherwise empty. */
  enter(): Promise<readonly string[]> {
    return this.#room.enter();
  }

  /** Call it when no sandbox is left. */
  async stop(): Promise<void> {
    await this.#room.stop();
    if (this.#place.isOwn()) removePersonFiles(this.#place.skeletonDir);
  }

  /** The file is named after its content, so that a sandbox that started earlier keeps its own. Only its reader may read it. */
  #personFile(text: string, identity: Identity): string {
    const name = personFileName(text);
    const suffix = identity.kind === 'owner' ? `-${identity.uid}` : '';
    const file = join(this.#place.skeletonDir, `${name}${suffix}`);
    if (existsSync(file)) return file;
    const draft = `${file}.${randomBytes(4).toString('hex')}`;
    writeFileSync(draft, text, { encoding: 'latin1', mode: 0o400 });
    if (identity.kind === 'owner') chownSync(draft, identity.uid, identity.gid);
    renameSync(draft, file);
    return file;
  }
}

/** Whether git inside sees other owners than the host: always for root, and in a repository that belongs to another group. */
function ownersDiffer(configs: readonly string[], identity: Identity): boolean {
  if (identity.kind === 'root') return true;
  const { gid } = idsOutside(identity);
  return configs.some((config) => {
    const stats = lstatSync(dirname(config), { throwIfNoEntry: false });
    return stats !== undefined && stats.gid !== gid;
  });
}

function withoutCopies(mounts: readonly Mount[], correctOwners: () => Promise<void>): GitView {
  return {
    mounts,
    enter: [],
    links: [],
    seed: () => {},
    collect: async () => {
      await correctOwners();
      return { denied: [], notices: [] };
    },
    isTooLarge: () => false,
    remove: () => {},
  };
}

/** Changes with the settings. */
export function personFileName(text: string): string {
  return `gitconfig-${createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 16)}`;
}

/** Call it only while no sandbox runs. */
function removePersonFiles(publicDir: string): void {
  for (const name of readdirSync(publicDir)) {
    if (PERSON_FILE.test(name.replace(/-\d+$/, ''))) rmSync(join(publicDir, name), { force: true });
  }
}

function nameFor(config: string): string {
  return createHash('sha256').update(config).digest('hex').slice(0, 16);
}

function targetOf(config: string): { name: string; text: string } {
  const name = nameFor(config);
  return { name, text: join(COPIES_DIR, name, 'config') };
}

function makeOwned(dir: string, identity: Identity): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (identity.kind === 'owner') chownSync(dir, identity.uid, identity.gid);
}

/** What a command was given of one repository. */
interface Given {
  readonly text: string;
  /** Whether the person signs commits in it. */
  readonly signs: boolean;
  /** Tells whether the command made a commit. */
  readonly lastMessage: string;
  readonly hadBranch: (name: string) => boolean;
}

/** The copies of one sandbox. */
class Copies {
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
      const host = readSmallFile(toRaw(config), CONFIG_MAX_BYTES) ?? '';
      const [signing, rerere] = [keysSwitchedOn(host, SIGNING), keysSwitchedOn(host, RERERE)];
      const own = withDrivers(host, includedBy(config, this.#request), person.drivers, hasProgram);
      const text = switchOff(own, [...signing, ...rerere]);
      const copy = this.#copyOf(config);
      writeFileSync(copy, text, { encoding: 'latin1', mode: 0o644, flag: 'wx' });
      chmodSync(copy, 0o644);
      if (identity.kind === 'owner') chownSync(copy, identity.uid, identity.gid);
      this.#given.set(config, { text, signs: person.signs || signing.length > 0, ...stateOf(config) });
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
      const { carried, refused } = await this.#carryOver(config, given);
      if (carried.length > 0) notices.push(`kept in ${quoteName(config)}: ${shorten(carried)}`);
      if (refused.length > 0) denied.push(notCarried(config, refused));
      const hasUnsigned = given.signs && lastMessageOf(config) !== given.lastMessage;
      if (hasUnsigned && !this.#reported.has(config)) denied.push(notSigned(config));
      if (hasUnsigned) this.#reported.add(config);
    }
    return { denied, notices };
  }

  async #carryOver(config: string, { text: given, hadBranch }: Given): Promise<Merged> {
    const kept = this.#kept.get(config);
    const left = kept === undefined ? this.#read(config) : kept;
    if (left === given) return { carried: [], refused: [] };
    if (left === null) return { carried: [], refused: ['everything (the file is gone, or larger than 1 MiB)'] };
    return mergeIntoHost({ config, given, left, hadBranch, hasIdentity: this.#request.person.hasIdentity });
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
const RERERE = ['rerere.enabled'] as const;

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

function notCarried(config: string, refused: readonly string[]): Denial {
  return {
    kind: 'git_config',
    path: config,
    rule: 'of what a command changes here, only new remotes and branches with plain URLs stay',
    how_to_allow: `A person can change ${shorten(refused)} with git config on the host.`,
  };
}

function shorten(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${names.slice(0, NAMED_MAX).join(', ')}${more}`;
}
