import { hash } from 'node:crypto';
import { ContextdError } from '../../core/errors.ts';
import type { Mount } from '../policy.ts';
import { exactStatAt, identityOf } from './inode.ts';
import type { Protection } from './protection.ts';
import { isNameable, isWithin, nameOf, parentOf, parentsBetween, type RawPath, toText } from './raw-path.ts';
import type { Found, FoundHidden } from './survey.ts';

/** What is to be mounted where. */
interface Plan {
  readonly readOnly: Map<RawPath, string>;
  /** Directories mounted over themselves, writable: what is mounted over cannot be renamed. */
  readonly pins: Set<RawPath>;
  readonly hidden: Map<RawPath, FoundHidden>;
  /** Those around which the directories above are pinned too. */
  readonly holders: Set<RawPath>;
}

/**
 * Mounts that make what was found read-only or invisible. A read-only child does not stop its parent from being renamed,
 * so around a repository and its parts every directory between the root and the entry is pinned. Around other nested
 * names none is: each pin is a mount of its own, and a rename from one mount to another fails; where a directory above
 * such a name was moved, the scan after the run sees it.
 */
export function planProtection(
  found: readonly Found[],
  hidden: readonly FoundHidden[],
  commonGitDir: string | null,
  rootOf: (path: RawPath) => RawPath,
): Protection {
  const plan: Plan = { readOnly: new Map(), pins: new Set(), hidden: new Map(), holders: new Set() };
  for (const one of hidden) addHidden(plan, one, rootOf(one.path));
  for (const one of found) addProtected(plan, one, rootOf(one.path));
  tidy(plan, rootOf);
  const mounts = [...plan.pins].map((path) => bind('bind', path));
  mounts.push(...[...plan.readOnly.keys()].map((path) => bind('ro-bind', path)));
  return {
    commonGitDir,
    entries: found.map(({ path, link }) => ({
      path: toText(path),
      root: toText(rootOf(path)),
      link: link === null ? null : toText(link.text),
    })),
    hidden: [...plan.hidden.values()].map(({ path, kind }) => ({ path: toText(path), kind })),
    mounts: [...mounts.sort((a, b) => depth(a) - depth(b)), ...hideAll(plan)],
    fingerprint: fingerprintOf(plan, found, commonGitDir),
    cover: {
      mounted: new Map([...plan.readOnly, ...[...plan.hidden].map(([path, one]) => [path, one.identity] as const)]),
      identities: new Set(plan.readOnly.values()),
      links: new Map(found.flatMap(({ path, link }) => (link === null ? [] : [[path, link]]))),
    },
  };
}

/** A link is protected by what it leads to; a `.git` that is one leads to a repository, which is found as such. */
function addProtected(plan: Plan, one: Found, root: RawPath): void {
  if (one.link !== null && nameOf(one.path) === '.git') return;
  const path = one.link === null ? one.path : targetInside(one.path, one.link.target, root);
  if (path === null || !isNameable(path)) return;
  const stats = one.link === null ? null : exactStatAt(path);
  if (one.kind === 'pinned') plan.pins.add(path);
  else plan.readOnly.set(path, stats === null ? one.identity : identityOf(stats));
  if (one.holdsParents) plan.holders.add(path);
}

/** Where a link leads, when that is inside its tree and not around it: outside nothing is mounted, so nothing is reached. */
function targetInside(link: RawPath, target: RawPath | null, root: RawPath): RawPath | null {
  return target !== null && target !== root && isWithin(root, target) && !isWithin(target, link) ? target : null;
}

/** A path that is no UTF-8 cannot be named in a mount, so the nearest directory that can be is hidden. */
function addHidden(plan: Plan, one: FoundHidden, root: RawPath): void {
  const chain = [...parentsBetween(root, one.path), one.path];
  const named = chain.findLastIndex(isNameable);
  const path = chain[named];
  if (path === undefined || !isNameable(root)) {
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${toText(one.path)} is to be hidden, and its name is no UTF-8`, {
      remedy: 'Rename it.',
    });
  }
  plan.hidden.set(path, path === one.path ? one : { ...one, path, kind: 'dir' });
}

/** Nothing is mounted behind what is hidden, and nothing writable behind what is read-only. */
function tidy(plan: Plan, rootOf: (path: RawPath) => RawPath): void {
  const { readOnly, pins, hidden, holders } = plan;
  for (const path of hidden.keys()) if (hasAbove(hidden, path)) hidden.delete(path);
  for (const path of readOnly.keys()) {
    if (hidden.has(path) || hasAbove(hidden, path) || hasAbove(readOnly, path)) readOnly.delete(path);
  }
  for (const path of pins) if (isCovered(plan, path)) pins.delete(path);
  for (const path of [...holders, ...hidden.keys()]) {
    const holds = hidden.get(path)?.holdsParents ?? (pins.has(path) || readOnly.has(path));
    if (!holds) continue;
    for (const parent of parentsBetween(rootOf(path), path)) if (!isCovered(plan, parent)) pins.add(parent);
  }
}

function isCovered({ hidden, readOnly }: Plan, path: RawPath): boolean {
  return [hidden, readOnly].some((map) => map.has(path) || hasAbove(map, path));
}

function hasAbove(map: ReadonlyMap<RawPath, unknown>, path: RawPath): boolean {
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) if (map.has(parent)) return true;
  return false;
}

/** A file becomes /dev/null, which on a mount without devices nobody can open; a directory, an empty one. */
function hideAll(plan: Plan): Mount[] {
  return [...plan.hidden.values()].flatMap(({ path, kind }): Mount[] =>
    kind === 'file'
      ? [{ kind: 'ro-bind', source: '/dev/null', dest: toText(path) }]
      : [
          { kind: 'tmpfs', dest: toText(path), sizeBytes: 4096 },
          { kind: 'remount-ro', dest: toText(path) },
        ],
  );
}

function bind(kind: 'bind' | 'ro-bind', path: RawPath): Mount {
  return { kind, source: toText(path), dest: toText(path), pin: true };
}

function depth(mount: Mount): number {
  return mount.dest.split('/').length;
}

function fingerprintOf(plan: Plan, found: readonly Found[], commonGitDir: string | null): string {
  const pins = [...plan.pins].map((path) => {
    const stats = exactStatAt(path);
    return [path, stats === null ? '' : identityOf(stats)];
  });
  const facts = [
    commonGitDir,
    pins,
    [...plan.readOnly],
    [...plan.hidden].map(([path, { identity, kind }]) => [path, identity, kind]),
    found.map(({ path, identity, link }) => [path, identity, link]),
  ];
  return hash('sha256', JSON.stringify(facts), 'hex');
}
