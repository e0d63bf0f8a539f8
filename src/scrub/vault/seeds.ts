import { constants, type Dirent, type Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Guard } from './guard.ts';
import { CREDENTIAL_FILES, readDotenv } from './seeds/credential-files.ts';
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
    const set = ofProjects.get(root) ?? setOf(root, () => readProject(root));
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
    files.map(({ path, rule, read }) => readOne(path, rule, null, (text) => seedValues(read(text), true))),
  );
  return united([{ seeds: fromVariables, skipped: [], watched: files.map(({ path }) => path) }, ...readings]);
}

async function readProject(root: string): Promise<SeedReading> {
  const real = await realpath(root).catch(() => null);
  if (real === null) return { seeds: [], skipped: [], watched: [root] };
  const { files, directories } = await findEnvFiles(real);
  const readings = await Promise.all(
    files.map((path) => readOne(path, ENV_FILE_RULE, real, (text) => seedValues(readDotenv(text)))),
  );
  return united([{ seeds: [], skipped: [], watched: [...directories, ...files] }, ...readings]);
}

async function readOne(
  path: string,
  rule: string,
  inside: string | null,
  valuesOf: (text: string) => string[],
): Promise<SeedReading> {
  const read = await readSeedFile(path, inside);
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
/** Entries of one directory. */
const MAX_ENTRIES = 2_000;

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
}

/** Finds the `.env*` files of a project: in its root and a little below, breadth first, not following links. */
async function findEnvFiles(root: string): Promise<EnvFiles> {
  const files: string[] = [];
  const directories: string[] = [];
  let level = [root];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: string[] = [];
    for (const dir of level.slice(0, MAX_DIRECTORIES - directories.length)) {
      directories.push(dir);
      for (const entry of await entriesOf(dir)) {
        if (entry.isDirectory() && !NOT_LOOKED_INTO.test(entry.name)) below.push(join(dir, entry.name));
        else if (ENV_FILE.test(entry.name) && !TEMPLATE.test(entry.name)) files.push(join(dir, entry.name));
      }
    }
    level = below;
  }
  return { files: files.slice(0, MAX_FILES), directories };
}

async function entriesOf(dir: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_ENTRIES);
  } catch (thrown) {
    if (isErrno(thrown)) return [];
    throw thrown;
  }
}

/** Bytes; larger files are not credentials. */
const MAX_BYTES = 1024 * 1024;

/** The text; null if there is no such file; otherwise why it was not read. */
type SeedText = { text: string } | { skipped: string } | null;

/**
 * Reads a credentials file if it is a regular file of at most 1 MiB. Never waits for anything else, so a named pipe
 * does not delay a call. `inside`: the file must be below this real path, without links.
 */
async function readSeedFile(path: string, inside: string | null): Promise<SeedText> {
  try {
    // Opening a device may do something; a pipe would wait without O_NONBLOCK.
    const unfit = faultOf(await stat(path));
    if (unfit !== null) return { skipped: unfit };
    if (inside !== null && !(await isBelow(path, inside))) return { skipped: 'a link' };
    return await readOpened(path, inside === null ? 0 : constants.O_NOFOLLOW);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return null;
    if (isErrno(thrown)) return { skipped: thrown.code ?? 'unreadable' };
    throw thrown;
  }
}

async function readOpened(path: string, flags: number): Promise<SeedText> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | flags);
  try {
    const unfit = faultOf(await file.stat());
    if (unfit !== null) return { skipped: unfit };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return { text: buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '') };
  } finally {
    await file.close();
  }
}

function faultOf(stats: Stats): string | null {
  if (!stats.isFile()) return 'not a regular file';
  return stats.size > MAX_BYTES ? `larger than ${MAX_BYTES} bytes` : null;
}

async function isBelow(path: string, inside: string): Promise<boolean> {
  const dir = await realpath(dirname(path));
  return dir === dirname(path) && (dir === inside || dir.startsWith(`${inside}/`));
}
