import { isIP } from 'node:net';
import { constants } from 'node:os';
import { posix } from 'node:path';
import type { Denial } from '../../core/envelope.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { EndedBy } from '../contract/command.ts';
import { fileTooLarge } from '../contract/file-size.ts';
import type { SeccompToggles } from '../contract/policy.ts';
import { DENIALS_MAX } from '../contract/refused-connection.ts';
import {
  type Complaint,
  isFileTooLarge,
  readComplaint,
  readModeComplaint,
  readNetworkComplaint,
  readSystemCallComplaint,
} from './complaints.ts';
import { lastLines, mayBeComplaint, ownWords } from './lines.ts';
import { readMissingProgram } from './missing-program.ts';
import {
  absentPath,
  byNameOnly,
  hiddenPath,
  isPersonal,
  keptByGit,
  killedByFilter,
  missingProgram,
  noNetwork,
  type PathFacts,
  personalProgram,
  readOnlyPath,
  refusedCall,
  refusedMode,
  repositoryAbove,
  switchedOff,
} from './rules.ts';

/** At most this many of one rule: more examples teach nothing. */
const SAME_RULE_MAX = 3;
const PATH_MAX_CHARS = 4096;

export interface DenialFacts extends MountedPlaces, PathFacts {
  readonly exitCode: number | null;
  readonly endedBy: EndedBy;
  /** Statuses of the parts of the last pipeline; empty if unknown. */
  readonly pipeStatus: readonly number[];
  /** What was kept of each stream; only the last 64 KiB are read. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Where the command started. */
  readonly cwd: string;
  /** The top of the repository of which the workspace is only a part; null otherwise. */
  readonly repositoryAbove: string | null;
  /** Whether that repository is mounted, read-only but for its git directory. */
  readonly isRepositoryMounted: boolean;
  /** The filter in force; null without one. */
  readonly seccomp: SeccompToggles | null;
  /**
   * `by name`: the proxy's facts are known besides. `off`: a person switched the project's network off. Otherwise why it
   * has no network; null: by its policy.
   */
  readonly network: 'by name' | 'off' | { readonly missing: string | null };
  /** Where the host has a program that the sandbox does not have; null if nowhere. */
  findOnHost(program: string): string | null;
  /** Bytes that one file of the command may have. */
  readonly fileMaxBytes: number;
  /**
   * Whether the host's `/` has this name. A path below a name that `/` does not have is missing on the host too; of other
   * paths nobody learns whether they exist.
   */
  isAtRoot(name: string): boolean;
}

/**
 * What the sandbox is known to have refused. Pure. A program's message counts only if it agrees with the facts: a path
 * that is mounted read-only, hidden, or not mounted; a system call that the filter refuses; a network that does not
 * exist. If the command succeeded, only its messages on stderr of the kinds in `OF_SUCCESS` count.
 */
export function findDenials(facts: DenialFacts): Denial[] {
  const hasFailed = facts.endedBy !== 'exit' || facts.exitCode !== 0;
  const isCut = [facts.exitCode, ...facts.pipeStatus].includes(SIGXFSZ_STATUS);
  if (!hasFailed && !isCut && facts.stderr.length === 0) return [];
  const collection = new Collection();
  if (facts.endedBy === 'seccomp') collection.add(killedByFilter());
  if (isCut) collection.add(fileTooLarge(facts.fileMaxBytes));
  const places = new PlaceMap(facts);
  for (const stream of hasFailed ? [facts.stderr, facts.stdout] : [facts.stderr]) {
    const lines = lastLines(stream);
    for (let i = 0; i < lines.length && !collection.isFull; i++) {
      const found = denialIn(lines, i, places, facts);
      if (found !== null && (hasFailed || OF_SUCCESS.includes(found.kind))) collection.add(found);
    }
  }
  return collection.list();
}

/** Kinds that a command may report on stderr and still succeed. */
const OF_SUCCESS: readonly string[] = ['read_only', 'program', 'file_size'];
/** The exit status of a command that SIGXFSZ ended. */
const SIGXFSZ_STATUS = 128 + constants.signals.SIGXFSZ;

function denialIn(lines: readonly string[], index: number, places: PlaceMap, facts: DenialFacts): Denial | null {
  const raw = lines[index] ?? '';
  const line = mayBeComplaint(raw) ? ownWords(raw) : '';
  if (line === '') return null;
  if (isFileTooLarge(line)) return fileTooLarge(facts.fileMaxBytes);
  const program = readMissingProgram(line);
  if (program !== null && isPersonal(program)) return personalProgram(program);
  const onHost = program === null ? null : facts.findOnHost(program);
  if (onHost !== null) return missingProgram(onHost);
  const complaint = readComplaint(line, linesBefore(lines, index));
  if (complaint !== null) {
    const denial = complaintDenial(complaint, places, facts);
    // `git checkout` goes on after this, and its exit status is 0.
    return denial !== null && NOT_REPLACED.test(line) ? keptByGit(denial) : denial;
  }
  if (NOT_OVERWRITTEN.test(line)) return notOverwritten(lines.slice(index + 1), places, facts);
  const network = readNetworkComplaint(line);
  if (network !== null) return networkDenial(network.host, facts);
  if (facts.repositoryAbove !== null && !facts.isRepositoryMounted && NO_REPOSITORY.test(line))
    return repositoryAbove(facts.repositoryAbove, facts.isAllowable);
  const mode = facts.seccomp === null ? null : modeDenial(line, places, facts);
  if (mode !== null) return mode;
  const call = facts.seccomp === null ? null : readSystemCallComplaint(line, facts.seccomp);
  return call === null ? null : refusedCall(call);
}

/** Counts for a path that the command may write: elsewhere another rule refused it. */
function modeDenial(line: string, places: PlaceMap, facts: DenialFacts): Denial | null {
  const printed = readModeComplaint(line);
  const path = printed === null || printed.length > PATH_MAX_CHARS ? null : normalize(printed, facts.cwd);
  return path !== null && places.find(path).kind === 'writable' ? refusedMode(path) : null;
}

/** With a network, a refusal is a fact of the proxy; only what never reached it is read from the output. */
function networkDenial(host: string | null, { network }: DenialFacts): Denial | null {
  if (network === 'off') return switchedOff(host);
  if (network !== 'by name') return noNetwork(host, network.missing);
  return host === null || isIP(host) !== 0 ? byNameOnly(host) : null;
}

/** The four lines before, nearest first: a cause is never further from its effect. */
function linesBefore(lines: readonly string[], index: number): string[] {
  return lines
    .slice(Math.max(0, index - 4), index)
    .reverse()
    .map(ownWords);
}

/** git could not replace a file of the worktree. */
const NOT_REPLACED = /^(?:error|warning): unable to unlink/;

/** Before it switches or merges, git lists files that it would have to replace; it counts a file it left as untracked. */
const NOT_OVERWRITTEN =
  /^error: (?:The following untracked working tree files|Your local changes to the following files) would be overwritten by /;

/** The first protected file of git's list. */
function notOverwritten(lines: readonly string[], places: PlaceMap, facts: DenialFacts): Denial | null {
  const end = lines.findIndex((line) => !line.startsWith('\t'));
  for (const listed of end < 0 ? lines : lines.slice(0, end)) {
    const found = complaintDenial({ error: 'EROFS', paths: [listed.trim()], isDirectory: false }, places, facts);
    if (found !== null) return keptByGit(found);
  }
  return null;
}

/** git's message, also in the words of libraries that start it. */
const NO_REPOSITORY = /not a git repository/;

function complaintDenial(complaint: Complaint, places: PlaceMap, facts: DenialFacts): Denial | null {
  for (const printed of complaint.paths) {
    const found = printed.length > PATH_MAX_CHARS ? null : pathDenial(complaint, printed, places, facts);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Only the directory in which the command started is known, not the one the program was in; git names paths from the top of
 * its repository. So a relative path counts if it agrees with the mounts, but never as a path that does not exist.
 */
function pathDenial(complaint: Complaint, printed: string, places: PlaceMap, facts: DenialFacts): Denial | null {
  const bases = [facts.cwd, facts.workspace, ...(facts.isRepositoryMounted ? [facts.repositoryAbove ?? ''] : [])];
  for (const base of new Set(bases)) {
    const found = denialAt(complaint, printed, base, places, facts);
    if (found !== null) return found;
  }
  return null;
}

function denialAt(
  { error, isDirectory }: Complaint,
  printed: string,
  base: string,
  places: PlaceMap,
  facts: DenialFacts,
): Denial | null {
  const path = normalize(printed, base);
  if (path === null) return null;
  const { kind, root } = places.find(path);
  const isAbsolute = printed.startsWith('/');
  if (kind === 'hidden' && (isAbsolute || error !== 'ENOENT')) return hiddenPath(path);
  switch (error) {
    case 'EROFS':
      return kind === 'read_only' || kind === 'absent' ? readOnlyPath(path, root, facts, isDirectory) : null;
    case 'EBUSY':
      return kind === 'read_only' && path === root ? readOnlyPath(path, root, facts, isDirectory) : null;
    case 'ENOENT':
      // Node reports a directory that it cannot make with its parents on a read-only mount as one that is missing.
      if (isDirectory && kind === 'read_only') return readOnlyPath(path, root, facts, isDirectory);
      if (kind !== 'absent' || !isAbsolute || places.isParent(path)) return null;
      if (isPersonal(path)) return personalProgram(path);
      return facts.isAtRoot(path.split('/')[1] ?? '') ? absentPath(path) : null;
    case 'EACCES':
      return null;
  }
}

function normalize(printed: string, cwd: string): string | null {
  if (printed === '' || printed.includes('\0')) return null;
  return posix.resolve(cwd, printed);
}

/** Keeps each refusal once. Drops a network refusal without a host if another one names a host. */
class Collection {
  readonly #found = new Map<string, Denial>();

  get isFull(): boolean {
    return this.#found.size >= DENIALS_MAX;
  }

  add(denial: Denial): void {
    const { kind, path, host, rule } = denial;
    const sameRule = [...this.#found.values()].filter((one) => one.kind === kind && one.rule === rule);
    if (sameRule.length < SAME_RULE_MAX) this.#found.set(JSON.stringify([kind, path, host, rule]), denial);
  }

  list(): Denial[] {
    const all = [...this.#found.values()];
    const isNamed = all.some(({ host }) => host !== undefined);
    return all.filter(({ kind, host }) => kind !== 'network' || host !== undefined || !isNamed);
  }
}

/** What is mounted in a sandbox, as absolute paths. The most specific mount decides about a path. */
interface MountedPlaces {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
  /** Covered by a deny glob. */
  readonly hidden: readonly string[];
  /** Directories of the host that hold mounts and nothing else. */
  readonly outside: readonly string[];
  /** Everything else that is mounted, for example /proc. */
  readonly visible: readonly string[];
}

interface Place {
  readonly kind: 'writable' | 'read_only' | 'hidden' | 'visible' | 'absent';
  /** The mount that decides; `/` if no mount does. */
  readonly root: string;
}

/** The places of a planned tree; `hidden` lists its mounts that cover what a deny glob matched. */
export function placesOf(mounts: readonly Mount[], hidden: readonly string[]): MountedPlaces {
  const kinds = new Map<string, 'writable' | 'readOnly' | 'visible' | 'outside'>();
  for (const mount of mounts) {
    const kind = kindOf(mount);
    if (kind !== null) kinds.set(mount.dest, kind);
  }
  const withKind = (kind: string): string[] => [...kinds].flatMap(([dest, own]) => (own === kind ? [dest] : []));
  return {
    writable: withKind('writable'),
    readOnly: withKind('readOnly'),
    visible: withKind('visible'),
    outside: withKind('outside').filter((path) => !hidden.includes(path)),
    hidden,
  };
}

function kindOf(mount: Mount): 'writable' | 'readOnly' | 'visible' | 'outside' | null {
  switch (mount.kind) {
    case 'bind':
    case 'dev-bind':
    case 'tmpfs':
      return 'writable';
    case 'ro-bind':
    case 'symlink':
      return 'readOnly';
    case 'remount-ro':
      return mount.dest === '/dev' ? 'readOnly' : 'outside';
    case 'proc':
    case 'dev':
      return 'visible';
    case 'dir':
      return null;
  }
}

/** Finds the mount that contains a path. */
class PlaceMap {
  readonly #kinds = new Map<string, Place['kind']>();
  /** Directories that exist because there is a mount below them. */
  readonly #parents = new Set<string>();

  constructor(places: MountedPlaces) {
    this.#add('visible', places.visible);
    this.#add('read_only', places.readOnly);
    this.#add('writable', places.writable);
    this.#add('absent', places.outside);
    this.#add('hidden', places.hidden);
  }

  /** `path` is absolute and normalized. Returns `absent` with the root `/` if it is outside all mounts. */
  find(path: string): Place {
    for (let root = path; root !== '/'; root = posix.dirname(root)) {
      const kind = this.#kinds.get(root);
      if (kind !== undefined && kind !== 'absent') return { kind, root };
      if (kind === 'absent') break;
    }
    return { kind: 'absent', root: '/' };
  }

  /** True for the root and for the parents of mounts. */
  isParent(path: string): boolean {
    return path === '/' || this.#parents.has(path);
  }

  #add(kind: Place['kind'], roots: readonly string[]): void {
    for (const root of roots) {
      this.#kinds.set(root, kind);
      if (kind === 'absent') this.#parents.add(root);
      for (let parent = posix.dirname(root); !this.isParent(parent); parent = posix.dirname(parent))
        this.#parents.add(parent);
    }
  }
}
