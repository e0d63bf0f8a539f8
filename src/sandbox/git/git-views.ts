import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Denial } from '../../core/envelope.ts';
import type { Logger } from '../../core/log.ts';
import { toRaw } from '../../fs/raw-path.ts';
import { removeTree, removeTreeInBackground, setAsideOrRemove } from '../../fs/remove-tree.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import { type Identity, idsOutside } from '../machine/identity.ts';
import { switchesOff } from './config-text.ts';
import { type Collected, Copies, type GitRequest, nameFor, RERERE } from './copies.ts';
import { exceeds } from './directory-size.ts';
import { writeDriver } from './drivers.ts';
import { IndexOwners } from './index-owners.ts';
import { LinkRoom } from './link-room.ts';
import { Registrations } from './registrations.ts';

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
  /** Writes the copies and remembers the worktrees; call it right before the command. */
  seed(): void;
  /** Call it when the command is dead: carries over what may be, and registers a person's worktrees again. */
  collect(): Promise<Collected>;
  /** Whether the command has filled the directory of the copies. */
  isTooLarge(): boolean;
  remove(): void;
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
    const gitDirs = [...new Set(wanted.map(dirname))];
    const registrations = new Registrations(gitDirs);
    const restore = async () => {
      const denied = registrations.restore();
      for (const dir of gitDirs) await this.#owners.correct(toRaw(dir), identity);
      return denied;
    };
    const covered = wanted.length === 0 ? null : await this.#room.cover(wanted, targetOf);
    if (covered === null || covered.covered.length === 0) return withoutCopies(mounts, registrations, restore);
    const dir = join(this.#copiesDir, randomBytes(4).toString('hex'));
    makeOwned(dir, identity);
    for (const config of covered.covered) makeOwned(join(dir, nameFor(config)), identity);
    const isTooLarge = () => exceeds(dir, COPIES_MAX_BYTES, COPIES_MAX_ENTRIES);
    const copies = new Copies(dir, { ...request, configs: covered.covered }, this.#reported);
    return {
      mounts: [...mounts, { kind: 'bind', source: dir, dest: COPIES_DIR }],
      enter: covered.enter,
      links: covered.covered,
      seed: () => {
        registrations.remember();
        copies.seed();
      },
      collect: async () => {
        const lost = await restore();
        const { denied, notices } = await copies.collect();
        return { denied: [...lost, ...denied], notices };
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

function withoutCopies(
  mounts: readonly Mount[],
  registrations: Registrations,
  restore: () => Promise<Denial[]>,
): GitView {
  return {
    mounts,
    enter: [],
    links: [],
    seed: () => registrations.remember(),
    collect: async () => ({ denied: await restore(), notices: [] }),
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

function targetOf(config: string): { name: string; text: string } {
  const name = nameFor(config);
  return { name, text: join(COPIES_DIR, name, 'config') };
}

function makeOwned(dir: string, identity: Identity): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (identity.kind === 'owner') chownSync(dir, identity.uid, identity.gid);
}
