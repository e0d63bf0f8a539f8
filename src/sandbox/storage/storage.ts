import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { KeyedLock } from '../../core/lock.ts';
import type { Logger } from '../../core/log.ts';
import { isBelow } from '../../core/paths.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import { SANDBOX_HOME } from '../contract/places.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { ProjectCaches, StorageAction } from '../contract/sandbox.ts';
import type { Identity } from '../machine/identity.ts';
import type { StorageMounts } from '../machine/mount-plan.ts';
import { Area, type FreeSpace, freeIn } from './area.ts';
import { CACHE_DIRECTORIES, LOOSE_CACHES } from './caches.ts';
import { type Keeper, KeeperFailure, type KeeperReply, type KeeperRequest } from './keeper.ts';
import {
  type FoundProject,
  type FoundSession,
  findGoneProjects,
  findProjects,
  hasNoSessions,
  identityFrom,
  isGone,
  isOfSession,
  noteUse,
  openPlace,
  partsOf,
  removeEmptied,
  retire,
  type SessionPlace,
  stateOf,
} from './places.ts';

const MIB = 1024 * 1024;
/** Milliseconds between two looks at the free space while something runs. */
const LOOK_EVERY_MS = 500;
/** Milliseconds after a command until its storage is looked at, and between two notes of a session's use. */
const AFTER_MS = 50;
const NOTE_EVERY_MS = 30_000;
/** Caches may hold this many times their maximum while something runs; then the oldest are dropped. */
const CACHE_RUN_FACTOR = 2;

type StoragePolicy = Pick<SandboxPolicy, 'workspace' | 'storage' | 'hostNetwork'>;
type StorageSweep = StorageAction & { do: 'sweep' };

export interface StorageDeps {
  /** Where the storage is reached. */
  root(): Promise<string>;
  config: Pick<Config['sandbox'], 'cache_max_mb' | 'session_max_mb'>;
  keeper: Keeper;
  /** Where a command sees the caches; null: at their place on the host. */
  cachesInside: string | null;
  logger: Logger;
  clock: Clock;
}

/** The storage of one sandbox. */
export interface StorageLease {
  readonly mounts: StorageMounts;
  /** False if one of the directories was removed since. */
  isCurrent(): boolean;
  /**
   * Call when a command starts in the sandbox: `onExceeded` is called if it must end because its session or its caches
   * have become too large. The use ends when `until` aborts.
   */
  use(onExceeded: () => void, until: AbortSignal): void;
}

/** What commands keep: the caches of each project, and HOME and /tmp of each session (docs/decisions/0028-storage.md). */
export class Storage {
  readonly #deps: StorageDeps;
  /** By directory. */
  readonly #areas = new Map<string, Area>();
  readonly #checking = new Set<Area>();
  /** The last request under way, by directory. */
  readonly #requests = new KeyedLock();
  /** When caches were last trimmed by a sweep, by directory: milliseconds since the epoch. */
  readonly #trimmedMs = new Map<string, number>();
  /** When the use of a session was last noted on disk, by its directory. */
  readonly #notedMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: StorageDeps) {
    this.#deps = deps;
  }

  /** The storage for a sandbox with these mounts; null if its policy has none. */
  async lease(policy: StoragePolicy, identity: Identity, mounts: readonly Mount[]): Promise<StorageLease | null> {
    if (policy.storage === null) return null;
    const root = await this.#deps.root();
    const place = openPlace(root, {
      project: policy.storage.owner ?? policy.workspace.path,
      session: policy.storage.session,
      identity,
      cachesInside: this.#deps.cachesInside,
      coveredInHome: namesBelow(SANDBOX_HOME, mounts),
      coveredInTmp: namesBelow('/tmp', mounts),
      homeFiles: policy.hostNetwork?.homeFiles ?? [],
    });
    const areas = this.#areasOf(place, identity);
    const now = this.#deps.clock.monotonic();
    for (const area of areas)
      if (place.made.some((dir) => area.dirs.includes(dir))) area.note(0, freeAt(root), now, now);
    return {
      mounts: { home: place.home, tmp: place.tmp, caches: place.caches },
      isCurrent: () => stateOf(place) === place.state,
      use: (onExceeded, until) => this.#use(place, areas, onExceeded, until),
    };
  }

  /** Lists, clears and removes. Returns the caches of the projects that it is about. */
  async act(action: StorageAction): Promise<ProjectCaches[]> {
    const root = await this.#deps.root();
    const projects = findProjects(root);
    switch (action.do) {
      case 'list':
        return this.#list(projects);
      case 'clear': {
        const found = projects.filter(({ project }) => action.project === null || project === action.project);
        for (const path of found.flatMap(({ dir }) => partsOf(dir))) await this.#empty(path, CACHE_UNITS);
        return this.#list(found);
      }
      case 'remove': {
        for (const found of projects.filter(({ project }) => project === action.project)) {
          await this.#removeAll(found.sessions);
          await this.#removeProject(found);
        }
        return [];
      }
      case 'end_session': {
        const sessions = projects.flatMap((one) => (one.project === action.project ? one.sessions : []));
        await this.#removeAll(sessions.filter((one) => isOfSession(one, action.session)));
        return [];
      }
      case 'sweep':
        await this.#sweep(projects, action);
        for (const dir of findGoneProjects(root)) await this.#removeDirectory(dir);
        return [];
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#areas.clear();
    this.#notedMs.clear();
  }

  #areasOf({ session, home, tmp, caches }: SessionPlace, identity: Identity): Area[] {
    const { session_max_mb, cache_max_mb } = this.#deps.config;
    const [sessionMax, cacheMax] = [session_max_mb * MIB, cache_max_mb * MIB];
    return [
      this.#area(session, () => new Area([home, tmp], identity, { maxBytes: sessionMax, runMaxBytes: sessionMax })),
      this.#area(
        caches,
        () => new Area([caches], identity, { maxBytes: cacheMax, runMaxBytes: CACHE_RUN_FACTOR * cacheMax }),
      ),
    ];
  }

  #area(dir: string, make: () => Area): Area {
    const area = this.#areas.get(dir) ?? make();
    this.#areas.set(dir, area);
    return area;
  }

  #use(place: SessionPlace, areas: readonly Area[], onExceeded: () => void, until: AbortSignal): void {
    if (until.aborted) return;
    for (const area of areas) area.runs.add(onExceeded);
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    const end = (): void => {
      for (const area of areas) area.runs.delete(onExceeded);
      // After the answer of the command has gone out.
      setTimeout(() => this.#ended(place), AFTER_MS).unref();
    };
    until.addEventListener('abort', end, { once: true });
  }

  #ended(place: SessionPlace): void {
    if (this.#isStopped) return;
    const now = this.#deps.clock.now();
    if (now - (this.#notedMs.get(place.session) ?? 0) > NOTE_EVERY_MS) {
      this.#notedMs.set(place.session, now);
      noteUse(place, now);
    }
    this.#look();
  }

  /** Starts a check of every area that may be over its limit. */
  #look(): void {
    this.#lookOnce().catch((cause: unknown) => this.#deps.logger.error('storage.not_watched', {}, cause));
  }

  async #lookOnce(): Promise<void> {
    const root = await this.#deps.root();
    const free = freeIn(await statfs(root));
    const now = this.#deps.clock.monotonic();
    for (const area of this.#areas.values()) {
      const isDue = area.runs.size > 0 ? area.isSuspect(free, now) : area.mayBeOver(free);
      if (isDue && !this.#checking.has(area)) void this.#check(root, area);
    }
    if ([...this.#areas.values()].some(({ runs }) => runs.size > 0)) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #check(root: string, area: Area): Promise<void> {
    this.#checking.add(area);
    let isOver: boolean;
    try {
      await this.#measure(root, area);
      isOver = area.isOver;
    } catch (cause) {
      // The cause may be ours, such as an update that replaces our files, or the command's.
      const hasBegun = cause instanceof KeeperFailure && cause.hasBegun;
      isOver = area.failed(hasBegun, freeAt(root), this.#deps.clock.monotonic());
      this.#deps.logger.warn('storage.not_measured', { dirs: [...area.dirs], cause: String(cause) });
    } finally {
      this.#checking.delete(area);
    }
    if (isOver) for (const onExceeded of area.runs) onExceeded();
  }

  /** Drops the oldest caches too if nothing uses them. */
  async #measure(root: string, area: Area): Promise<void> {
    const [startedMs, free] = [this.#deps.clock.monotonic(), freeAt(root)];
    const isTrimmed = area.runs.size === 0 && area.dirs.every((dir) => basename(dir) === 'caches');
    let bytes = 0;
    for (const dir of area.dirs) {
      bytes += isTrimmed
        ? await this.#trim(dir, area.identity)
        : (await this.#ask(dir, area.identity, { do: 'measure' })).bytes;
    }
    area.note(bytes, free, startedMs, this.#deps.clock.monotonic());
  }

  /** Returns the bytes that the caches hold then. */
  async #trim(dir: string, identity: Identity): Promise<number> {
    const maxBytes = this.#deps.config.cache_max_mb * MIB;
    const request: KeeperRequest = { do: 'trim', maxBytes, shared: SHARED_UNITS, loose: LOOSE_CACHES };
    const { bytes, dropped } = await this.#ask(dir, identity, request);
    if (dropped.length > 0) this.#deps.logger.info('storage.caches_dropped', { dir, dropped: [...dropped] });
    return bytes;
  }

  async #list(projects: readonly FoundProject[]): Promise<ProjectCaches[]> {
    const maxBytes = this.#deps.config.cache_max_mb * MIB;
    const caches: ProjectCaches[] = [];
    for (const { dir, project, usedMs } of projects.filter((one) => partsOf(one.dir).length > 0)) {
      const path = join(dir, 'caches');
      const { bytes } = await this.#ask(path, identityFrom(path), { do: 'measure' });
      caches.push({ project, bytes, maxBytes, usedMs });
    }
    return caches.sort((a, b) => b.bytes - a.bytes);
  }

  async #empty(dir: string, keep: readonly string[]): Promise<void> {
    await this.#ask(dir, identityFrom(dir), { do: 'empty', keep });
  }

  /** One request at a time for a directory: two that trim would drop twice as much. */
  #ask(dir: string, identity: Identity, request: KeeperRequest): Promise<KeeperReply> {
    return this.#requests.run(dir, () => this.#deps.keeper.ask(dir, identity, request));
  }

  async #sweep(projects: readonly FoundProject[], sweep: StorageSweep): Promise<void> {
    const { live, sessionsBeforeMs, cachesBeforeMs } = sweep;
    for (const found of projects) {
      const { dir, project, usedMs, sessions } = found;
      const names = live.flatMap((one) => (one.project === project ? [one.session] : []));
      const isKept = (one: FoundSession): boolean =>
        one.usedMs >= sessionsBeforeMs || this.#isInUse(one.dir) || names.some((name) => isOfSession(one, name));
      await this.#removeAll(sessions.filter((one) => isGone(one) || !isKept(one)));
      const caches = join(dir, 'caches');
      if (this.#isInUse(caches)) continue;
      if (found.usedMs < cachesBeforeMs && hasNoSessions(found)) await this.#removeProject(found);
      else if (usedMs > (this.#trimmedMs.get(caches) ?? 0)) await this.#trimUnused(caches);
    }
  }

  async #trimUnused(caches: string): Promise<void> {
    this.#trimmedMs.set(caches, this.#deps.clock.now());
    await this.#trim(caches, identityFrom(caches)).catch((cause: unknown) =>
      this.#deps.logger.warn('storage.not_measured', { dirs: [caches], cause: String(cause) }),
    );
  }

  #isInUse(dir: string): boolean {
    return (this.#areas.get(dir)?.runs.size ?? 0) > 0;
  }

  async #removeAll(sessions: readonly FoundSession[]): Promise<void> {
    for (const session of sessions) {
      this.#areas.delete(session.dir);
      this.#notedMs.delete(session.dir);
      await this.#removeDirectory(retire(session));
    }
  }

  async #removeProject(found: FoundProject): Promise<void> {
    this.#areas.delete(join(found.dir, 'caches'));
    await this.#removeDirectory(retire(found));
  }

  /** What cannot be removed now is removed by a later sweep. */
  async #removeDirectory(dir: string): Promise<void> {
    try {
      for (const part of partsOf(dir)) await this.#empty(part, []);
      removeEmptied(dir);
    } catch (cause) {
      this.#deps.logger.warn('storage.not_removed', { dir, cause: String(cause) });
    }
  }
}

const CACHE_UNITS = CACHE_DIRECTORIES.map(({ unit }) => unit);
const SHARED_UNITS = CACHE_DIRECTORIES.flatMap(({ unit, isShared }) => (isShared === true ? [unit] : []));

function freeAt(root: string): FreeSpace {
  return freeIn(statfsSync(root));
}

/** The names in a directory over which or below which something is mounted. */
function namesBelow(place: string, mounts: readonly Mount[]): string[] {
  const names = mounts.flatMap(({ dest }) => {
    const [name] = isBelow(place, dest) ? dest.slice(place.length + 1).split('/') : [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)].sort();
}
