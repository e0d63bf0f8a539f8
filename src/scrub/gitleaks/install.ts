import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { normalize } from 'node:path/posix';
import { gunzipSync } from 'node:zlib';
import { execa } from 'execa';
import { Parser } from 'tar';
import { isErrno } from '../../core/errors.ts';
import { binaryIn, findOnPath, type GitleaksBinary } from './binary.ts';
import { GO_MODULE, PINNED_VERSION, type Release } from './pinned.ts';

interface InstallDeps {
  /** Gets the program: Paths.userGitleaksDir. */
  directory: string;
  /** PATH as the environment has it. */
  searchPath: string;
  /** Undefined where no release is pinned for this platform. */
  release: Release | undefined;
  /** `go install` of the pinned module into a folder. Calls `onBuild` before it begins, if there is Go. */
  runGo(folder: string, onBuild: () => void): Promise<GoBuild>;
  /** Tells a person what is tried and what failed. */
  say(line: string): void;
}

/** Milliseconds for a download. */
const DOWNLOAD_MS = 2 * 60_000;

/**
 * Installs the gitleaks program into `directory`: from PATH, otherwise built with Go, otherwise from its release.
 * Nothing is fetched twice. If it cannot be had, a message says so and the result is null; network and build errors are
 * not thrown.
 */
export async function installGitleaks(deps: InstallDeps): Promise<GitleaksBinary | null> {
  await mkdir(deps.directory, { recursive: true, mode: 0o700 });
  const present = await binaryIn(deps.directory);
  return present?.version === PINNED_VERSION ? present : ((await bringBinary(deps)) ?? present);
}

async function bringBinary(deps: InstallDeps): Promise<GitleaksBinary | null> {
  for (const way of [fromPath, fromGo, fromRelease]) if (await way(deps)) return binaryIn(deps.directory);
  return null;
}

async function fromPath({ directory, searchPath, say }: InstallDeps): Promise<boolean> {
  const found = await findOnPath(searchPath);
  if (found === null) return false;
  await keep(directory, (to) => copyFile(found.path, to));
  say(`gitleaks ${found.version ?? 'of unknown version'}: taken from ${found.path}`);
  return true;
}

async function fromGo({ directory, runGo, say }: InstallDeps): Promise<boolean> {
  const folder = await mkdtemp(join(directory, 'build-'));
  try {
    const { isThere, fault } = await runGo(folder, () =>
      say(`Building gitleaks ${PINNED_VERSION} with Go (one to three minutes the first time) ...`),
    );
    if (fault !== undefined) say(`gitleaks: Go could not build it: ${fault}`);
    if (!isThere || fault !== undefined || (await binaryIn(folder)) === null) return false;
    await keep(directory, (to) => rename(join(folder, 'gitleaks'), to));
    say(`gitleaks ${PINNED_VERSION}: built with Go`);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fromRelease({ directory, release, say }: InstallDeps): Promise<boolean> {
  if (release === undefined) return false;
  say(`Downloading gitleaks ${PINNED_VERSION} (8 MB, at most two minutes) ...`);
  try {
    const program = await downloadProgram(release, DOWNLOAD_MS);
    await keep(directory, (to) => writeFile(to, program));
    say(`gitleaks ${PINNED_VERSION}: downloaded, its checksum is the pinned one`);
    return true;
  } catch (error) {
    if (!(error instanceof DownloadError) && !isErrno(error)) throw error;
    say(`gitleaks: ${error.message}`);
    return false;
  }
}

/** The file gets its name only once it is complete. */
async function keep(folder: string, make: (to: string) => Promise<void>): Promise<void> {
  const staging = await mkdtemp(join(folder, 'new-'));
  try {
    const file = join(staging, 'gitleaks');
    await make(file);
    await chmod(file, 0o700);
    await rename(file, join(folder, 'gitleaks'));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Bytes of an archive; the real ones have about 8 MiB. */
const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;
const PROGRAM_MAX_BYTES = 256 * 1024 * 1024;

/** What went wrong with a download, as a sentence for a person. */
class DownloadError extends Error {}

/** The program in a release's archive, once the archive's hash is the pinned one. `waitMs`: for all of it. */
export async function downloadProgram({ url, sha256 }: Release, waitMs: number): Promise<Buffer> {
  const archive = await download(url, waitMs);
  const found = createHash('sha256').update(archive).digest('hex');
  if (found !== sha256) throw new DownloadError(`${url} has sha256 ${found}, not ${sha256}: it is not used`);
  return takeFile(gunzipSync(archive, { maxOutputLength: PROGRAM_MAX_BYTES }), 'gitleaks', url);
}

async function download(url: string, waitMs: number): Promise<Buffer> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(waitMs) });
    if (!answer.ok) throw new DownloadError(`${url} answers with ${answer.status}`);
    return await readBody(answer, url);
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    throw new DownloadError(`cannot download ${url} (${reasonOf(error)})`, { cause: error });
  }
}

async function readBody(answer: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > ARCHIVE_MAX_BYTES) throw new DownloadError(`${url} is longer than ${ARCHIVE_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** "ENOTFOUND" and the like stand in the cause of fetch's own error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : error.message;
}

/** One regular file of a tar archive, by its name. */
async function takeFile(archive: Buffer, name: string, url: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let isThere = false;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      const isFile = entry.type === 'File' || entry.type === 'OldFile';
      if (isThere || !isFile || normalize(entry.path) !== name) return void entry.resume();
      isThere = true;
      entry.on('data', (chunk: Buffer) => chunks.push(chunk));
    },
  });
  try {
    await new Promise<void>((resolve, reject) => {
      parser.once('end', () => resolve());
      parser.once('error', reject);
      parser.end(archive);
    });
  } catch (error) {
    throw new DownloadError(`${url} is not a whole tar archive (${reasonOf(error)})`, { cause: error });
  }
  if (!isThere) throw new DownloadError(`${url} holds no file ${name}`);
  return Buffer.concat(chunks);
}

interface GoBuild {
  /** False: there is no Go on this machine. */
  isThere: boolean;
  /** Why it failed, in Go's words; undefined when it did not. */
  fault: string | undefined;
}

/** Milliseconds for a build. */
const BUILD_MS = 10 * 60_000;

/** Where Go keeps modules, compiled packages and checksums, by the variable that says so. */
const GO_PLACES = ['GOMODCACHE', 'GOCACHE', 'GOPATH'] as const;

/**
 * Builds the pinned gitleaks into a folder. Go takes its settings, such as its proxy, from the caller's environment. A cache that the
 * person does not have yet is made in the folder, and goes with it.
 */
export async function buildWithGo(folder: string, onBuild: () => void): Promise<GoBuild> {
  const probe = await execa('go', ['env', 'GOENV', ...GO_PLACES], { timeout: 10_000, reject: false });
  if (probe.failed) return { isThere: false, fault: undefined };
  onBuild();
  const [settings = '', ...places] = probe.stdout.split('\n');
  const missing = GO_PLACES.filter((_name, index) => !existsSync(places[index] ?? ''));
  const caches = Object.fromEntries(missing.map((name) => [name, join(folder, name)]));
  const module = `${GO_MODULE}@v${PINNED_VERSION}`;
  // Needs no C compiler, and holds no path of this machine.
  const env = {
    ...caches,
    // Beside its settings Go keeps counters of its own use.
    ...(existsSync(dirname(settings)) ? {} : { XDG_CONFIG_HOME: join(folder, 'config') }),
    GOBIN: folder,
    CGO_ENABLED: '0',
  };
  // Go keeps modules read-only otherwise, and the folder could not be removed.
  const own = missing.includes('GOMODCACHE') ? ['-modcacherw'] : [];
  const args = ['install', '-trimpath', ...own, module];
  const built = await execa('go', args, { env, timeout: BUILD_MS, reject: false });
  return { isThere: true, fault: built.failed ? lastLine(built.stderr ?? '') : undefined };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
