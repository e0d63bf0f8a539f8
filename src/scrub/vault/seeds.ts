import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { Guard } from './guard.ts';
import { findEnvFiles } from './seeds/env-files.ts';
import { readDotenv } from './seeds/formats.ts';
import { readSeedFile } from './seeds/read-seed-file.ts';
import { type SeedReading, SeedSet } from './seeds/seed-set.ts';
import { type NamedValue, seedValues } from './seeds/seed-value.ts';
import { CREDENTIAL_FILES } from './seeds/user-files.ts';

/** Guards of what the machine already knows is secret: it is masked from the start, and numbered once it was seen. */
export interface Seeds {
  start(): Promise<void>;
  /** The guards that hold for a session. Waits until the files of its project, and those that changed, are read. */
  guardsFor(sessionKey: string): Promise<readonly Guard[]>;
  /** All there are, as they are now. */
  guards(): readonly Guard[];
  /** Files that could not be read, and why; nothing of what they hold. */
  skipped(): readonly SkippedFile[];
}

export interface SkippedFile {
  file: string;
  /** A system error's code, or what the file is instead of a plain one. */
  why: string;
}

export interface SeedDeps {
  /** Where credential files are. */
  home: string;
  /** Variables of the daemon's own environment whose names say that they are secret. */
  variables: readonly NamedValue[];
  /** Root of the registered project that a session belongs to; null when there is none: then no file is read for it. */
  projectOf(sessionKey: string): Promise<string | null>;
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
    async guardsFor(sessionKey) {
      const root = await deps.projectOf(sessionKey);
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
