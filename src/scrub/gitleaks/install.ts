import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { binaryIn, findOnPath, type GitleaksBinary, type GitleaksPlaces } from './binary.ts';
import type { GoBuild } from './go-build.ts';
import { CONFIG_NAME, findOfficialConfig, type OfficialConfig, readFromProgram } from './official-config.ts';
import { PINNED_VERSION, type Release } from './pinned.ts';
import { DownloadError, downloadProgram } from './release.ts';

export interface InstallDeps {
  places: GitleaksPlaces;
  /** Undefined where no release is pinned for this platform. */
  release: Release | undefined;
  /** `go install` of the pinned module into a folder. */
  runGo(folder: string): Promise<GoBuild>;
  /** Tells a person what is tried and what failed. */
  say(line: string): void;
}

export interface Installed {
  binary: GitleaksBinary | null;
  config: OfficialConfig | null;
}

/** Milliseconds for a download. */
const DOWNLOAD_MS = 2 * 60_000;

/**
 * Brings the gitleaks program and its configuration into our own folder: from PATH, else built by Go, else from its
 * release. Nothing that is there already is fetched again. What cannot be had is said and is null; it never throws
 * for a network or a build.
 */
export async function installGitleaks(deps: InstallDeps): Promise<Installed> {
  const { gitleaksDir } = deps.places;
  await mkdir(gitleaksDir, { recursive: true, mode: 0o700 });
  const present = await binaryIn(gitleaksDir);
  const binary = present?.version === PINNED_VERSION ? present : ((await bringBinary(deps)) ?? present);
  const config = await findOfficialConfig(deps.places);
  if (config !== null) await keep(deps.places.gitleaksDir, CONFIG_NAME, 0o600, (to) => writeFile(to, config.file.text));
  return { binary, config };
}

async function bringBinary(deps: InstallDeps): Promise<GitleaksBinary | null> {
  for (const way of [fromPath, fromGo, fromRelease]) if (await way(deps)) return binaryIn(deps.places.gitleaksDir);
  return null;
}

async function fromPath({ places, say }: InstallDeps): Promise<boolean> {
  const found = await findOnPath(places.searchPath);
  if (found === null || (await readFromProgram(found.path)) === null) return false;
  await keep(places.gitleaksDir, 'gitleaks', 0o700, (to) => copyFile(found.path, to));
  say(`gitleaks ${found.version ?? 'of unknown version'}: taken from ${found.path}`);
  return true;
}

async function fromGo({ places, runGo, say }: InstallDeps): Promise<boolean> {
  const folder = await mkdtemp(join(places.gitleaksDir, 'build-'));
  try {
    const { isThere, fault } = await runGo(folder);
    if (fault !== undefined) say(`gitleaks: Go could not build it: ${fault}`);
    if (!isThere || fault !== undefined || (await binaryIn(folder)) === null) return false;
    await keep(places.gitleaksDir, 'gitleaks', 0o700, (to) => rename(join(folder, 'gitleaks'), to));
    say(`gitleaks ${PINNED_VERSION}: built with Go`);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fromRelease({ places, release, say }: InstallDeps): Promise<boolean> {
  if (release === undefined) return false;
  try {
    const program = await downloadProgram(release, DOWNLOAD_MS);
    await keep(places.gitleaksDir, 'gitleaks', 0o700, (to) => writeFile(to, program));
    say(`gitleaks ${PINNED_VERSION}: downloaded, its checksum is the pinned one`);
    return true;
  } catch (error) {
    if (!(error instanceof DownloadError) && !isErrno(error)) throw error;
    say(`gitleaks: ${error.message}`);
    return false;
  }
}

/** Under its name only once it is complete. */
async function keep(folder: string, name: string, mode: number, make: (to: string) => Promise<void>): Promise<void> {
  const staging = await mkdtemp(join(folder, 'new-'));
  try {
    const file = join(staging, name);
    await make(file);
    await chmod(file, mode);
    await rename(file, join(folder, name));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
