import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { isWithin } from '../../core/paths.ts';
import type { Guard } from './guard.ts';
import { CREDENTIAL_FILES } from './seeds/credential-files.ts';
import { type SeedReading, SeedSet } from './seeds/seed-set.ts';
import { type NamedValue, seedValues } from './seeds/seed-value.ts';

/** Guards of what the machine already knows is secret: masked from the start, and numbered once it has appeared. */
export interface Seeds {
  start(): Promise<void>;
  /** The guards that hold for a session. Waits until the files of its project, and those that changed, are read. */
  guardsFor(session: SessionRef): Promise<readonly Guard[]>;
  /** All there are, as they are now. */
  guards(): readonly Guard[];
  /** Files that could not be read, and why; nothing of what they hold. */
  skipped(): readonly SkippedFile[];
}

interface SkippedFile {
  file: string;
  /** A system error's code, or what the file is instead of a regular file. */
  why: string;
}

interface SeedDeps {
  /** Where credential files are. */
  home: string;
  /** Variables of the daemon's own environment whose names say that they are secret. */
  variables: readonly NamedValue[];
  /** Root of the registered project of a session; null without one, so that no project file is read. */
  projectOf(session: SessionRef): Promise<string | null>;
  /**
   * The values worth masking in the texts of a project's `.env` files. Commands write these files, so they are read away
   * from the main thread and within a deadline. Rejects if that fails: then the calls of this project fail.
   */
  envValues(texts: readonly string[]): Promise<readonly (readonly string[])[]>;
  logger: Logger;
  clock: Clock;
}

export function createSeeds(deps: SeedDeps): Seeds {
  const skipped = new Map<string, readonly SkippedFile[]>();
  const setOf = (place: string, read: () => Promise<SeedReading>): SeedSet =>
    new SeedSet(read, {
      clock: deps.clock,
      onSkipped: (files) => {
        if (files.length > 0 && JSON.stringify(files) !== JSON.stringify(skipped.get(place)))
          deps.logger.warn('seeds.skipped', { files: files.map(({ file, why }) => `${file} (${why})`) });
        skipped.set(place, files);
      },
    });
  const ofUser = setOf('', () => readUser(deps));
  const ofProjects = new Map<string, SeedSet>();
  const ofProject = (root: string): SeedSet => {
    const set = ofProjects.get(root) ?? setOf(root, () => readProject(root, deps));
    ofProjects.set(root, set);
    return set;
  };
  return {
    async start() {
      await ofUser.fresh();
    },
    async guardsFor(session) {
      const root = await deps.projectOf(session);
      const sets = root === null ? [ofUser] : [ofUser, ofProject(root)];
      return Promise.all(sets.map((set) => set.fresh()));
    },
    guards: () => [ofUser, ...ofProjects.values()].map(({ guard }) => guard),
    skipped: () => [...skipped.values()].flat(),
  };
}

const ENVIRONMENT_RULE = 'seed-environment-variable';
const ENV_FILE_RULE = 'seed-env-file';

async function readUser({ home, variables }: SeedDeps): Promise<SeedReading> {
  const fromVariables = seedValues(variables).map((value) => ({ value, rule: ENVIRONMENT_RULE }));
  const files = CREDENTIAL_FILES.map((file) => ({ ...file, path: join(home, file.path) }));
  const readings = await Promise.all(
    files.map(({ path, rule, read }) => readOne(path, rule, (text) => seedValues(read(text), true))),
  );
  return united([{ seeds: fromVariables, skipped: [], watched: files.map(({ path }) => path) }, ...readings]);
}

/** All `.env` files of a project, together. */
const PROJECT_MAX_BYTES = 128 * 1024;

/** The smallest files are read first, so that a large file does not keep the others from being read. */
async function readProject(root: string, { envValues }: SeedDeps): Promise<SeedReading> {
  const real = await realpath(root).catch(() => null);
  if (real === null) return { seeds: [], skipped: [], watched: [root] };
  const { files, directories, cut } = await findEnvFiles(real);
  const texts: string[] = [];
  const skipped: SkippedFile[] = cut.slice(0, MAX_NAMED).map((file) => ({ file, why: TOO_MANY }));
  let left = PROJECT_MAX_BYTES;
  for (const file of await bySize(files)) {
    const read = await readSeedFile(file, { inside: real, maxBytes: left, limit: PROJECT_LIMIT });
    if (read === null) continue;
    if ('skipped' in read) skipped.push({ file, why: read.skipped });
    else {
      texts.push(read.text);
      left -= read.bytes;
    }
  }
  const values = new Set(texts.length === 0 ? [] : (await envValues(texts)).flat());
  const seeds = [...values].map((value) => ({ value, rule: ENV_FILE_RULE }));
  return { seeds, skipped, watched: [...directories, ...files] };
}

const TOO_MANY = 'too many entries to look at each of them';
const PROJECT_LIMIT = `over the limit of ${PROJECT_MAX_BYTES} bytes for the .env files of a project`;

async function bySize(files: readonly string[]): Promise<string[]> {
  const sized = await Promise.all(
    files.map(async (file) => ({ file, size: (await lstat(file).catch(() => null))?.size ?? 0 })),
  );
  return sized.toSorted((a, b) => a.size - b.size).map(({ file }) => file);
}

async function readOne(path: string, rule: string, valuesOf: (text: string) => string[]): Promise<SeedReading> {
  const read = await readSeedFile(path, { inside: null, maxBytes: MAX_BYTES, limit: `larger than ${MAX_BYTES} bytes` });
  if (read === null) return { seeds: [], skipped: [], watched: [] };
  if ('skipped' in read) return { seeds: [], skipped: [{ file: path, why: read.skipped }], watched: [] };
  return { seeds: valuesOf(read.text).map((value) => ({ value, rule })), skipped: [], watched: [] };
}

function united(readings: readonly SeedReading[]): SeedReading {
  return {
    seeds: readings.flatMap(({ seeds }) => seeds),
    skipped: readings.flatMap(({ skipped }) => skipped),
    watched: readings.flatMap(({ watched }) => watched),
  };
}

/** Directories below a project's root that are looked into. */
const MAX_DEPTH = 3;
const MAX_DIRECTORIES = 256;
const MAX_FILES = 64;
/** Entries of one directory, and of all together, that are looked at: a command can make any number of them. */
const MAX_ENTRIES = 10_000;
const MAX_ENTRIES_IN_ALL = 50_000;
/** Directories with more entries that are named. */
const MAX_NAMED = 3;

/** Dependencies, build results and other directories without settings. */
const NOT_LOOKED_INTO =
  /^(?:node_modules|bower_components|vendor|target|dist|build|out|coverage|venv|__pycache__|\.(?:git|hg|svn|venv|cache|next|nuxt|tox|gradle|idea|terraform|contextd))$/;
const ENV_FILE = /^\.env(?:rc)?(?:[.-]|$)/;
/** Meant to be copied and filled in. */
const TEMPLATE = /[.-](?:example|sample|template|tmpl|dist|defaults?|schema|d\.ts)$/i;

interface EnvFiles {
  files: readonly string[];
  /** The directories that were searched: one of them changes when a file is added or removed. */
  directories: readonly string[];
  /** Directories with more entries than are looked at. */
  cut: readonly string[];
}

/** Finds the `.env*` files of a project: in its root and a little below, breadth first, not following links. */
async function findEnvFiles(root: string): Promise<EnvFiles> {
  const files: string[] = [];
  const directories: string[] = [];
  const cut: string[] = [];
  let level = [root];
  let left = MAX_ENTRIES_IN_ALL;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: string[] = [];
    for (const dir of level.slice(0, MAX_DIRECTORIES - directories.length)) {
      directories.push(dir);
      const found = await lookInto(dir, Math.min(left, MAX_ENTRIES));
      left -= found.looked;
      if (found.isCut) cut.push(dir);
      below.push(...found.directories.sort());
      files.push(...found.files.sort());
    }
    level = below;
  }
  return { files: files.slice(0, MAX_FILES), directories, cut };
}

interface DirectoryFinds {
  directories: string[];
  files: string[];
  /** Entries that were read. */
  looked: number;
  isCut: boolean;
}

/** Names that are tried in a directory with too many entries. */
const USUAL_NAMES = ['.env', '.env.local', '.env.development', '.env.production', '.env.test', '.envrc'];

async function lookInto(dir: string, maxEntries: number): Promise<DirectoryFinds> {
  const found: DirectoryFinds = { directories: [], files: [], looked: 0, isCut: false };
  try {
    for await (const entry of await opendir(dir, { bufferSize: 256 })) {
      found.isCut = found.looked >= maxEntries;
      if (found.isCut) break;
      found.looked += 1;
      const path = join(dir, entry.name);
      if (entry.isDirectory() && !NOT_LOOKED_INTO.test(entry.name)) found.directories.push(path);
      else if (ENV_FILE.test(entry.name) && !TEMPLATE.test(entry.name)) found.files.push(path);
    }
  } catch (thrown) {
    if (!isErrno(thrown)) throw thrown;
  }
  if (found.isCut) found.files = [...new Set([...found.files, ...USUAL_NAMES.map((name) => join(dir, name))])];
  return found;
}

/** Bytes; larger files are not credentials. */
const MAX_BYTES = 1024 * 1024;

interface ReadLimits {
  /** The file must be below this real path, without links. Null: anywhere. */
  inside: string | null;
  maxBytes: number;
  /** Why a larger file is not read. */
  limit: string;
}

/** The text and its size in the file; null if there is no such file; otherwise why it was not read. */
type SeedText = { text: string; bytes: number } | { skipped: string } | null;

/**
 * Reads a credentials file if it is a regular file and not too large. Never waits for anything else, so a named pipe does
 * not delay a call.
 */
async function readSeedFile(path: string, limits: ReadLimits): Promise<SeedText> {
  try {
    // Opening a device may do something; a pipe would wait without O_NONBLOCK.
    const unfit = faultOf(await stat(path), limits);
    if (unfit !== null) return { skipped: unfit };
    if (limits.inside !== null && !(await isBelow(path, limits.inside))) return { skipped: 'a link' };
    return await readOpened(path, limits);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return null;
    if (isErrno(thrown)) return { skipped: thrown.code ?? 'unreadable' };
    throw thrown;
  }
}

async function readOpened(path: string, limits: ReadLimits): Promise<SeedText> {
  const follow = limits.inside === null ? 0 : constants.O_NOFOLLOW;
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | follow);
  try {
    const stats = await file.stat();
    const unfit = faultOf(stats, limits);
    if (unfit !== null) return { skipped: unfit };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
    return { text: buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, ''), bytes: bytesRead };
  } finally {
    await file.close();
  }
}

function faultOf(stats: Stats, { maxBytes, limit }: ReadLimits): string | null {
  if (!stats.isFile()) return 'not a regular file';
  return stats.size > maxBytes ? limit : null;
}

async function isBelow(path: string, inside: string): Promise<boolean> {
  const dir = await realpath(dirname(path));
  return dir === dirname(path) && isWithin(inside, dir);
}
