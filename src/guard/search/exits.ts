import { posix } from 'node:path';
import { linkTextAt, statAt } from '../../fs/file-access.ts';
import { isWithin, nameOf, parentOf, type RawPath, toText } from '../../fs/raw-path.ts';
import { SYSTEM_PLACES } from '../../fs/system-places.ts';
import { follow } from '../git/git-dir.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';

/** Devices that lead nowhere, and the standard streams of the program that opens them. */
const HARMLESS_DEVICES: ReadonlySet<string> = new Set(
  ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'stdin', 'stdout', 'stderr'].map((name) => `/dev/${name}`),
);

/**
 * Where a link leads, seen from the host:
 *
 * - `inside`: into the trees that are searched, or nowhere;
 * - `read-only`: into places that commands read and cannot write;
 * - `outside`: anywhere else;
 * - `writable`: into contextd's own directories, of which commands write some that are not searched, or into a process.
 */
export interface Exit {
  readonly kind: 'inside' | 'read-only' | 'outside' | 'writable';
  /** Why it is set aside or reported; empty if it is neither. */
  readonly reason: string;
  /** Whether a change of other links, each of which may stay, could make this one lead to a `writable` place. */
  readonly mayTurn: boolean;
}

/** Where the link at `path` leads. Throws errors of the file system. */
export function exitAt(path: RawPath, index: WorkspaceIndex): Exit {
  const text = linkTextAt(path);
  return { ...kindOf(path, text, index), mayTurn: mayTurn(text, index) };
}

/**
 * False for the common link, which need not be followed: it names something in a known directory of its own tree that is not
 * a link itself. Throws errors of the file system.
 */
export function mayLeave(path: RawPath, index: WorkspaceIndex): boolean {
  const text = linkTextAt(path);
  if (text.startsWith('/') || mayTurn(text, index)) return true;
  const target = posix.join(parentOf(path), text);
  const dir = parentOf(target);
  const isKnown = index.directories.rowOf(dir) !== null && isWithin(index.rootOf(path), dir);
  return !isKnown || statAt(target)?.isSymbolicLink() === true;
}

/**
 * Links that may stay lead to the project, to the system, or to a directory that is not contextd's. From there, a path comes
 * to one of contextd's directories only upwards, or by its name.
 */
function mayTurn(text: string, { ownDirectories }: WorkspaceIndex): boolean {
  const names = text.split('/').filter((name) => name !== '' && name !== '.');
  const firstName = names.findIndex((name) => name !== '..');
  return names.lastIndexOf('..') > firstName || ownDirectories.some((own) => names.includes(nameOf(own)));
}

function kindOf(path: RawPath, text: string, index: WorkspaceIndex): Omit<Exit, 'mayTurn'> {
  if (HARMLESS_DEVICES.has(text)) return { kind: 'read-only', reason: '' };
  const lead = follow(parentOf(path), nameOf(path));
  if (lead === null) return { kind: 'inside', reason: '' };
  const { target, links } = lead;
  if ([...links, target].some((place) => isWithin('/proc', place)) && !isPlainProcFile(target, links)) {
    return { kind: 'writable', reason: `it leads into a process, by ${toText(text)}` };
  }
  if ([...index.roots, ...index.companions].some((tree) => isWithin(tree, target))) {
    return { kind: 'inside', reason: '' };
  }
  if (index.ownDirectories.some((own) => isWithin(own, target))) {
    return {
      kind: 'writable',
      reason: `it leads to ${toText(target)}, in a directory of contextd that is not searched`,
    };
  }
  if ([...SYSTEM_PLACES, ...index.readOnlyPlaces].some((place) => isWithin(place, target))) {
    return { kind: 'read-only', reason: '' };
  }
  return { kind: 'outside', reason: `it leads out of the project, to ${toText(target)}` };
}

/** A file such as /proc/mounts. Every directory of a process has links into the file system of that process. */
function isPlainProcFile(target: RawPath, links: readonly RawPath[]): boolean {
  const isMagic = (place: RawPath) =>
    /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:root|cwd|exe|fd|map_files|ns)(?:\/|$)/.test(place);
  return ![...links, target].some(isMagic) && statAt(target)?.isFile() === true;
}
