import { closeSync, fstatSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { openFile, readSmallFile, readUpTo, realPathOf, statAt } from '../../fs/file-access.ts';
import { compileGlobs } from '../../fs/glob.ts';
import { parentOf, type RawPath, toRaw, toText } from '../../fs/raw-path.ts';
import type { Person } from '../../guard/contract/person.ts';
import { type GitEntry, parseGitConfig } from '../../guard/git/config.ts';
import { nameOfKey } from '../../guard/git/config-keys.ts';
import { commonDirNamedBy, follow } from '../../guard/git/git-dir.ts';
import type { Identity } from '../machine/identity.ts';
import { canReach } from '../machine/reach.ts';

/** Largest configuration that is read, how deep includes may go (git stops at 10 too), and how many files are read. */
const READ_MAX_BYTES = 256 * 1024;
const INCLUDES_MAX = 10;
const FILES_MAX = 50;

/** For whom, and for which repository, configurations are read. */
export interface ConfigReader {
  readonly person: Person;
  readonly identity: Identity;
  /** Null: for no repository. */
  readonly gitDir: RawPath | null;
}

/** The entries of these files and of those that they include, in the order in which git reads them: a later value counts. */
export function readWithIncludes(reader: ConfigReader, files: readonly RawPath[]): GitEntry[] {
  const reading: Reading = { ...reader, entries: [], filesLeft: FILES_MAX };
  for (const file of files) collect(reading, file, 0);
  return reading.entries;
}

/** The entries of the files that a configuration includes, without its own. */
export function readIncluded(reader: ConfigReader, file: RawPath): GitEntry[] {
  const reading: Reading = { ...reader, entries: [], filesLeft: FILES_MAX };
  for (const entry of parseGitConfig(readAsInside(file, reader.identity) ?? '') ?? []) include(entry, reading, file, 0);
  return reading.entries;
}

interface Reading extends ConfigReader {
  readonly entries: GitEntry[];
  filesLeft: number;
}

function collect(reading: Reading, file: RawPath, depth: number): void {
  if (reading.filesLeft-- <= 0) return;
  for (const entry of parseGitConfig(readAsInside(file, reading.identity) ?? '') ?? []) {
    reading.entries.push(entry);
    include(entry, reading, file, depth);
  }
}

/** Reads the file that an entry of `file` includes, if it includes one. */
function include(entry: GitEntry, reading: Reading, file: RawPath, depth: number): void {
  if (depth >= INCLUDES_MAX || !isIncluded(entry, reading, parentOf(file))) return;
  const included = resolvePath(entry.value ?? '', reading.person, parentOf(file));
  if (included !== null) collect(reading, included, depth + 1);
}

function isIncluded(entry: GitEntry, reading: Reading, dir: RawPath): boolean {
  const name = nameOfKey(entry);
  if (name === 'include.path') return true;
  const [, kind = '', pattern = ''] =
    /^(gitdir|gitdir\/i|onbranch|hasconfig:remote\.\*\.url):(.+)$/s.exec(entry.subsection ?? '') ?? [];
  const { gitDir, person } = reading;
  if (name !== 'includeif.*.path' || gitDir === null) return false;
  switch (kind) {
    case 'gitdir':
      return matches(expandPattern(pattern, person, dir), gitDir.slice(1));
    case 'gitdir/i':
      return matches(expandPattern(pattern, person, dir).toLowerCase(), gitDir.slice(1).toLowerCase());
    case 'onbranch':
      return matches(rooted(withContent(pattern)), rooted(branchOf(gitDir)));
    case 'hasconfig:remote.*.url':
      return urlsOf(gitDir).some((url) => matches(rooted(pattern), rooted(url)));
    default:
      return false;
  }
}

function matches(pattern: string, text: string): boolean {
  try {
    return compileGlobs([toText(pattern)]).match(toText(text), true) !== null;
  } catch {
    return false;
  }
}

/** Patterns of globs without a slash match at any depth. A URL has empty names, which globs do not. */
function rooted(text: string): string {
  return `x/${text.replace(/\/{2,}/g, '/')}`;
}

/** The branch that is checked out now; empty if none is. */
function branchOf(gitDir: RawPath): string {
  return /^ref: refs\/heads\/(.+)\n/.exec(readSmallFile(`${gitDir}/HEAD`, READ_MAX_BYTES) ?? '')?.[1] ?? '';
}

function urlsOf(gitDir: RawPath): string[] {
  const common = statAt(`${gitDir}/commondir`) === null ? gitDir : commonDirNamedBy(`${gitDir}/commondir`)?.target;
  const text = common === undefined ? null : readSmallFile(`${common}/config`, READ_MAX_BYTES);
  const entries = parseGitConfig(text ?? '') ?? [];
  return entries.flatMap((entry) => (nameOfKey(entry) === 'remote.*.url' ? (entry.value ?? []) : []));
}

/** As git does: `~/` and `./` are expanded, any other relative pattern matches at any depth, and `/` at the end, all inside. */
function expandPattern(pattern: string, person: Person, dir: RawPath): string {
  const rooted = pattern.startsWith('~/')
    ? `${toRaw(person.home)}${pattern.slice(1)}`
    : pattern.startsWith('./')
      ? `${dir}${pattern.slice(1)}`
      : pattern;
  const anchored = rooted.startsWith('/') ? rooted.slice(1) : `**/${rooted}`;
  return withContent(anchored);
}

function withContent(pattern: string): string {
  return pattern.endsWith('/') ? `${pattern}**` : pattern;
}

/** The path that a value of the configuration in `dir` names, links followed; null if it names no path. */
export function resolvePath(named: string, person: Person, dir: RawPath): RawPath | null {
  const text = named.startsWith('~/') ? `${toRaw(person.home)}${named.slice(1)}` : named;
  return text === '' || text.includes('\0') ? null : (follow(dir, text)?.target ?? null);
}

/** The text of a regular file that the user inside may read, links followed; otherwise null. */
export function readAsInside(file: RawPath, identity: Identity): string | null {
  try {
    const real = realPathOf(file);
    if (real === null || statAt(real)?.isFile() !== true) return null;
    if (identity.kind === 'owner' && !canReach(toText(real), identity.uid, identity.gid)) return null;
    const fd = openFile(real);
    if (fd === null) return null;
    try {
      return mayRead(fd, identity) ? readUpTo(fd, READ_MAX_BYTES) : null;
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

/** Asked of the open file, because its path may have changed since. */
function mayRead(fd: number, identity: Identity): boolean {
  const { uid, mode } = fstatSync(fd);
  return identity.kind !== 'owner' || uid === identity.uid || (mode & 0o004) !== 0;
}
