import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn } from '../../core/directory-entries.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { HomeFile } from '../contract/policy.ts';
import type { Identity } from '../machine/identity.ts';
import { CACHE_DIRECTORIES } from './caches.ts';

/*
 * The storage on the host:
 *
 *   <storage>/<project and uid>/project.json         whose it is; its time is the last use of the caches
 *   <storage>/<project and uid>/caches/<unit>/
 *   <storage>/<project and uid>/sessions/<session>/  its time is the last use of the session
 *                                        home/ tmp/
 *
 * Only `caches`, `home` and `tmp` belong to the user inside and are mounted. Everything above them belongs to the daemon
 * and no sandbox can reach it, so a path down to these three never holds a link.
 */

/** The directories of one session in one project. */
export interface SessionPlace {
  readonly project: string;
  readonly session: string;
  readonly home: string;
  readonly tmp: string;
  readonly caches: string;
  /** Changes if one of the three was removed and made again. */
  readonly state: string;
  /** Those of the three that were made just now. */
  readonly made: readonly string[];
}

export interface PlaceRequest {
  readonly project: string;
  readonly session: string;
  readonly identity: Identity;
  /** Where a command sees the caches; null: at their place on the host. */
  readonly cachesInside: string | null;
  /** Names in HOME and in /tmp over which something else is mounted. */
  readonly coveredInHome: readonly string[];
  readonly coveredInTmp: readonly string[];
  /** What HOME begins with. */
  readonly homeFiles: readonly HomeFile[];
}

/** Increase this if a session's HOME is laid out in another way: sessions that are under way begin a new HOME. */
const LAYOUT = 1;
/** May be searched, but not read, by the user inside: the daemon's own directories above it are closed to everybody. */
const PASSABLE = 0o711;
const PRIVATE = 0o700;
const DRAFT = '.new-';
const GONE = '.gone-';

/** Makes what is missing, and opens what a command has closed. */
export function openPlace(root: string, request: PlaceRequest): SessionPlace {
  const { identity } = request;
  const project = join(root, projectName(request.project, identity));
  if (lstatSync(join(project, 'project.json'), { throwIfNoEntry: false }) === undefined) {
    makeDirectory(join(project, 'sessions'), PASSABLE);
    chmodSync(project, PASSABLE);
    writeFileSync(join(project, 'project.json'), JSON.stringify({ project: request.project }), { mode: 0o600 });
  }
  const caches = join(project, 'caches');
  const session = join(project, 'sessions', sessionName(request));
  const [home, tmp] = [join(session, 'home'), join(session, 'tmp')];
  const made = [caches, home, tmp].filter((path) => identityOf(path) === '');
  makeCaches(caches, identity);
  if (made.includes(home)) makeSession(session, request, request.cachesInside ?? caches);
  const state = [settle(caches, identity, PRIVATE), settle(home, identity, PRIVATE), settle(tmp, identity, PRIVATE)];
  return { project, session, home, tmp, caches, state: state.join(' '), made };
}

/** The state of a place now; '' if part of it is gone. */
export function stateOf({ caches, home, tmp }: SessionPlace): string {
  const states = [caches, home, tmp].map(identityOf);
  return states.includes('') ? '' : states.join(' ');
}

/** Another owner of the project is another user inside, who gets a storage of its own. */
function projectName(project: string, identity: Identity): string {
  return digest([project, identity.kind === 'owner' ? identity.uid : (process.getuid?.() ?? 0)]);
}

/**
 * What is mounted in HOME and /tmp must not meet a link there, so other mounts mean another directory. So do other files:
 * nothing is written into a HOME that a command has seen.
 */
function sessionName({ session, coveredInHome, coveredInTmp, cachesInside, homeFiles }: PlaceRequest): string {
  const files = homeFiles.length === 0 ? [] : [homeFiles];
  const state = digest([LAYOUT, cachesInside, coveredInHome, coveredInTmp, ...files]);
  return `${sessionPrefix(session)}${state.slice(0, 8)}`;
}

function sessionPrefix(session: string): string {
  return `${digest([session])}-`;
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}

/**
 * The user inside may put anything in place of a unit at any time: `mkdir` follows no link, and neither does `lchown`.
 * `chmod` would.
 */
function makeCaches(caches: string, identity: Identity): void {
  const missing = CACHE_DIRECTORIES.filter(
    ({ unit }) => lstatSync(join(caches, unit), { throwIfNoEntry: false }) === undefined,
  );
  if (missing.length === 0) return;
  makeDirectory(caches, PRIVATE);
  giveTo(caches, identity);
  for (const { unit } of missing) {
    makeIfMissing(join(caches, unit), PRIVATE);
    giveTo(join(caches, unit), identity);
  }
}

/** Complete before a command sees it: drawn up beside its place, then renamed. */
function makeSession(session: string, request: PlaceRequest, cachesInside: string): void {
  const draft = join(dirname(session), `${DRAFT}${randomBytes(8).toString('hex')}`);
  const [home, tmp] = [join(draft, 'home'), join(draft, 'tmp')];
  const { identity } = request;
  const make = (path: string): void => {
    mkdirSync(path, { mode: PRIVATE });
    giveTo(path, identity);
  };
  const makeParents = (within: string, path: string): void => {
    const parents = path.split('/').slice(0, -1);
    for (const [i] of parents.entries()) {
      const parent = join(within, ...parents.slice(0, i + 1));
      if (lstatSync(parent, { throwIfNoEntry: false }) === undefined) make(parent);
    }
  };
  mkdirSync(draft, { mode: PRIVATE });
  chmodSync(draft, PASSABLE);
  make(home);
  make(tmp);
  for (const name of request.coveredInTmp) make(join(tmp, name));
  for (const { home: place, unit } of CACHE_DIRECTORIES) {
    makeParents(home, place);
    symlinkSync(join(cachesInside, unit), join(home, place));
    giveTo(join(home, place), identity);
  }
  for (const { path, text } of request.homeFiles) {
    makeParents(home, path);
    writeFileSync(join(home, path), text, { mode: 0o600, flag: 'wx' });
    giveTo(join(home, path), identity);
  }
  for (const name of request.coveredInHome) {
    rmSync(join(home, name), { recursive: true, force: true });
    make(join(home, name));
  }
  try {
    renameSync(draft, session);
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    if (!isErrno(cause, 'ENOTEMPTY', 'EEXIST')) throw cause;
  }
}

/** `path` must lie where no command can put something else. */
function makeDirectory(path: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE });
  if (makeIfMissing(path, mode)) chmodSync(path, mode);
}

function makeIfMissing(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST')) throw cause;
    return false;
  }
}

function giveTo(path: string, identity: Identity): void {
  if (identity.kind === 'owner') lchownSync(path, identity.uid, identity.gid);
}

/** The identity of a directory that the user inside owns; gives it its mode back. */
function settle(path: string, identity: Identity, mode: number): string {
  const stats = lstatSync(path);
  const uid = identity.kind === 'owner' ? identity.uid : (process.getuid?.() ?? stats.uid);
  if (!stats.isDirectory() || stats.uid !== uid) {
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${path} is not a directory of uid ${uid}`, {
      remedy: `Remove ${dirname(path)} and call again.`,
    });
  }
  if ((stats.mode & 0o7777) !== mode) chmodSync(path, mode);
  return identityOf(path);
}

function identityOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

/** The storage of a project, as it is found on the host. */
export interface FoundProject {
  readonly dir: string;
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly usedMs: number;
  readonly sessions: readonly FoundSession[];
}

export interface FoundSession {
  readonly dir: string;
  /** Milliseconds since the epoch. */
  readonly usedMs: number;
}

/** Everything in the storage. Drafts and sessions that are half removed are listed as sessions. */
export function findProjects(root: string): FoundProject[] {
  return namesIn(root).flatMap((name) => {
    if (name.startsWith(GONE)) return [];
    const dir = join(root, name);
    const file = join(dir, 'project.json');
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const project = stats === undefined ? null : readProject(file);
    if (stats === undefined || project === null) return [];
    return [{ dir, project, usedMs: stats.mtimeMs, sessions: findSessions(join(dir, 'sessions')) }];
  });
}

function findSessions(parent: string): FoundSession[] {
  return namesIn(parent).flatMap((name) => {
    const stats = lstatSync(join(parent, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ dir: join(parent, name), usedMs: stats.mtimeMs }];
  });
}

/** True if the directory belongs to this session, whatever was mounted in it. */
export function isOfSession({ dir }: FoundSession, session: string): boolean {
  return dir.startsWith(join(dirname(dir), sessionPrefix(session)));
}

/** True for what is half removed: no command can be using it. */
export function isGone({ dir }: FoundSession): boolean {
  return dir.startsWith(join(dirname(dir), GONE));
}

/** Projects that are half removed. */
export function findGoneProjects(root: string): string[] {
  return namesIn(root).flatMap((name) => (name.startsWith(GONE) ? [join(root, name)] : []));
}

/** Takes a session, or a project without sessions, out of use; returns its new place, from which it is removed. */
export function retire(found: FoundSession): string {
  if (isGone(found)) return found.dir;
  const gone = join(dirname(found.dir), `${GONE}${randomBytes(8).toString('hex')}`);
  renameSync(found.dir, gone);
  return gone;
}

/** True if the project has no sessions now. */
export function hasNoSessions({ dir }: FoundProject): boolean {
  return namesIn(join(dir, 'sessions')).length === 0;
}

/** The user to whom a directory of the storage belongs. */
export function identityFrom(dir: string): Identity {
  const { uid, gid } = lstatSync(dir);
  const own = process.getuid?.() ?? uid;
  if (own !== 0) return { kind: 'self' };
  return uid === 0 ? { kind: 'root' } : { kind: 'owner', uid, gid };
}

/** The directories that are to be emptied before a session or the caches of a project can be removed. */
export function partsOf(dir: string): string[] {
  return ['home', 'tmp', 'caches'].map((name) => join(dir, name)).filter((path) => identityOf(path) !== '');
}

/** Removes a session or project whose parts are empty. */
export function removeEmptied(dir: string): void {
  for (const part of partsOf(dir)) rmdirSync(part);
  removeIfThere(() => rmdirSync(join(dir, 'sessions')));
  removeIfThere(() => unlinkSync(join(dir, 'project.json')));
  rmdirSync(dir);
}

/** Notes that a session and the caches of its project were used now. */
export function noteUse({ project, session }: SessionPlace, nowMs: number): void {
  for (const path of [session, join(project, 'project.json')])
    removeIfThere(() => utimesSync(path, nowMs / 1000, nowMs / 1000));
}

function removeIfThere(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!isErrno(cause, 'ENOENT')) throw cause;
  }
}

function readProject(file: string): string | null {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isJsonObject(content) && typeof content.project === 'string' ? content.project : null;
  } catch (cause) {
    if (cause instanceof SyntaxError || isErrno(cause)) return null;
    throw cause;
  }
}
