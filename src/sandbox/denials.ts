import { posix } from 'node:path';
import type { Denial } from '../core/envelope.ts';
import { type Complaint, readComplaint } from './denials/complaint.ts';
import { isTelling, lastLines, ownWords } from './denials/lines.ts';
import { readNetworkComplaint } from './denials/network.ts';
import { type MountedPlaces, PlaceMap } from './denials/places.ts';
import { absentPath, hiddenPath, killedByFilter, noNetwork, readOnlyPath, refusedCall } from './denials/rules.ts';
import { readSystemCallComplaint } from './denials/system-calls.ts';
import type { EndedBy, SeccompToggles } from './sandbox.ts';

export { type MountedPlaces, placesOf } from './denials/places.ts';

const DENIALS_MAX = 10;
/** Of one rule: more examples teach nothing. */
const SAME_RULE_MAX = 3;
const PATH_MAX_CHARS = 4096;

export interface DenialFacts extends MountedPlaces {
  readonly exitCode: number | null;
  readonly endedBy: EndedBy;
  /** What was kept of each stream; the last 64 KiB of it are looked at. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Where the command began. */
  readonly cwd: string;
  readonly workspace: string;
  /** The filter in force; null without one. */
  readonly seccomp: SeccompToggles | null;
}

/**
 * What the sandbox is known to have refused. Pure. A program's own words are taken for it only where they fit the facts:
 * a path that is mounted read-only, hidden, or not mounted; a system call that the filter refuses; a network, which
 * there is none of. Of a command that succeeded only what it said on stderr about read-only paths counts.
 */
export function findDenials(facts: DenialFacts): Denial[] {
  const hasFailed = facts.endedBy !== 'exit' || facts.exitCode !== 0;
  if (!hasFailed && facts.stderr.length === 0) return [];
  const collection = new Collection();
  if (facts.endedBy === 'seccomp') collection.add(killedByFilter());
  const places = new PlaceMap(facts);
  for (const stream of hasFailed ? [facts.stderr, facts.stdout] : [facts.stderr]) {
    const lines = lastLines(stream);
    for (let i = 0; i < lines.length && !collection.isFull; i++) {
      const found = denialIn(lines, i, places, facts);
      if (found !== null && (hasFailed || found.kind === 'read_only')) collection.add(found);
    }
  }
  return collection.list();
}

function denialIn(lines: readonly string[], index: number, places: PlaceMap, facts: DenialFacts): Denial | null {
  const raw = lines[index] ?? '';
  const line = isTelling(raw) ? ownWords(raw) : '';
  if (line === '') return null;
  const complaint = readComplaint(line, linesBefore(lines, index));
  if (complaint !== null) return fromComplaint(complaint, places, facts);
  const network = readNetworkComplaint(line);
  if (network !== null) return noNetwork(network.host);
  const call = facts.seccomp === null ? null : readSystemCallComplaint(line, facts.seccomp);
  return call === null ? null : refusedCall(call);
}

/** The four before, nearest first: a cause and what it is a cause of are no further apart. */
function* linesBefore(lines: readonly string[], index: number): Generator<string> {
  for (let i = index - 1; i >= Math.max(0, index - 4); i--) yield ownWords(lines[i] ?? '');
}

function fromComplaint(complaint: Complaint, places: PlaceMap, facts: DenialFacts): Denial | null {
  for (const printed of complaint.paths) {
    const found = printed.length > PATH_MAX_CHARS ? null : aboutPath(complaint, printed, places, facts);
    if (found !== null) return found;
  }
  return null;
}

/**
 * The directory a program was in is not known, only where the command began. So a relative path counts where it says
 * what the mounts say too, but never for a path that is not there.
 */
function aboutPath({ error }: Complaint, printed: string, places: PlaceMap, facts: DenialFacts): Denial | null {
  const path = normalize(printed, facts.cwd);
  if (path === null) return null;
  const { kind, root } = places.find(path);
  const isAbsolute = printed.startsWith('/');
  if (kind === 'hidden' && (isAbsolute || error !== 'ENOENT')) return hiddenPath(path);
  switch (error) {
    case 'EROFS':
      return kind === 'read_only' || (kind === 'absent' && isAbsolute) ? readOnlyPath(path, root, facts) : null;
    case 'EBUSY':
      return kind === 'read_only' && path === root ? readOnlyPath(path, root, facts) : null;
    case 'ENOENT':
      return kind === 'absent' && isAbsolute && !places.isWay(path) ? absentPath(path) : null;
    case 'EACCES':
      return null;
  }
}

function normalize(printed: string, cwd: string): string | null {
  if (printed === '' || printed.includes('\0')) return null;
  return posix.resolve(cwd, printed);
}

/** Each refusal once; a host that was named stands for a mention without. */
class Collection {
  readonly #found = new Map<string, Denial>();

  get isFull(): boolean {
    return this.#found.size >= DENIALS_MAX;
  }

  add(denial: Denial): void {
    const { kind, path, host, rule } = denial;
    const alike = [...this.#found.values()].filter((one) => one.kind === kind && one.rule === rule);
    if (alike.length < SAME_RULE_MAX) this.#found.set(JSON.stringify([kind, path, host, rule]), denial);
  }

  list(): Denial[] {
    const all = [...this.#found.values()];
    const isNamed = all.some(({ host }) => host !== undefined);
    return all.filter(({ kind, host }) => kind !== 'network' || host !== undefined || !isNamed);
  }
}
