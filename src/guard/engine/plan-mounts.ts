import { hash } from 'node:crypto';
import { exactStatAt, identityOf } from '../../fs/file-access.ts';
import { isNameable, isWithin, nameOf, parentOf, parentsBetween, type RawPath, toText } from '../../fs/raw-path.ts';
import type { Mount } from '../contract/mount.ts';
import { hide, type Protection } from '../contract/protection.ts';
import type { Found, FoundHidden } from './survey.ts';

/** Planned mounts by path. */
interface Plan {
  readonly readOnly: Map<RawPath, string>;
  /** Directories bind-mounted over themselves, writable: a mount point cannot be renamed. */
  readonly pins: Set<RawPath>;
  readonly hidden: Map<RawPath, FoundHidden>;
  /** Paths whose parent directories are pinned too. */
  readonly holders: Set<RawPath>;
}

/**
 * Plans the mounts that make the found paths read-only or invisible. A parent of a read-only path could still be
 * renamed, so every directory between the root and a part of a repository is pinned. Directories above other nested
 * names are not pinned, because each pin is a mount and files cannot be renamed across mounts. The search after the run
 * detects if such a directory was moved.
 */
export function planProtection(
  found: readonly Found[],
  hidden: readonly FoundHidden[],
  { commonGitDir, enclosingGitDir }: Pick<Protection, 'commonGitDir' | 'enclosingGitDir'>,
  rootOf: (path: RawPath) => RawPath,
): Protection {
  const plan: Plan = { readOnly: new Map(), pins: new Set(), hidden: new Map(), holders: new Set() };
  for (const one of hidden) addHidden(plan, one, rootOf(one.path));
  for (const one of found) addProtected(plan, one, rootOf(one.path));
  tidy(plan, rootOf);
  const hiddenEntries = [...plan.hidden.values()].map(({ path, kind }) => ({ path: toText(path), kind }));
  const mounts = [...plan.pins].map((path) => bind('bind', path));
  mounts.push(...[...plan.readOnly.keys()].map((path) => bind('ro-bind', path)));
  return {
    commonGitDir,
    enclosingGitDir,
    entries: found.map(({ path, link }) => ({
      path: toText(path),
      root: toText(rootOf(path)),
      link: link === null ? null : toText(link.text),
    })),
    hidden: hiddenEntries,
    gitConfigs: found.flatMap(({ path, isGitConfig }) =>
      isGitConfig && plan.readOnly.has(path) ? [toText(path)] : [],
    ),
    mounts: [...mounts.sort((a, b) => depth(a) - depth(b)), ...hide(hiddenEntries)],
    fingerprint: fingerprintOf(plan, found, [commonGitDir, enclosingGitDir]),
    cover: {
      mounted: new Map([...plan.readOnly, ...[...plan.hidden].map(([path, one]) => [path, one.identity] as const)]),
      identities: new Set(plan.readOnly.values()),
      links: new Map(found.flatMap(({ path, link }) => (link === null ? [] : [[path, link]]))),
      open: new Set(),
    },
  };
}

/** A link is protected by a mount over its target. A `.git` link leads to a repository, which is found on its own. */
function addProtected(plan: Plan, one: Found, root: RawPath): void {
  if (one.link !== null && nameOf(one.path) === '.git') return;
  const path = one.link === null ? one.path : targetInside(one.path, one.link.target, root);
  if (path === null || !isNameable(path)) return;
  const stats = one.link === null ? null : exactStatAt(path);
  if (one.kind === 'pinned') plan.pins.add(path);
  else plan.readOnly.set(path, stats === null ? one.identity : identityOf(stats));
  if (one.holdsParents) plan.holders.add(path);
}

/** Target of a link if it is inside the tree and does not contain the link. Sandboxes cannot reach targets outside. */
function targetInside(link: RawPath, target: RawPath | null, root: RawPath): RawPath | null {
  return target !== null && target !== root && isWithin(root, target) && !isWithin(target, link) ? target : null;
}

/**
 * A mount cannot name a path that is not UTF-8, so the nearest parent with a UTF-8 path is hidden instead. Directly at
 * the root there is no such parent and the file stays visible: a call can create such a file, so it must not make the
 * next sandbox fail.
 */
function addHidden(plan: Plan, one: FoundHidden, root: RawPath): void {
  const chain = [...parentsBetween(root, one.path), one.path];
  const named = chain.findLastIndex(isNameable);
  const path = chain[named];
  if (path === undefined) return;
  plan.hidden.set(path, path === one.path ? one : { ...one, path, kind: 'dir' });
}

/** Removes mounts below hidden paths, and writable mounts below read-only paths. */
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

function bind(kind: 'bind' | 'ro-bind', path: RawPath): Mount {
  return { kind, source: toText(path), dest: toText(path), pin: true };
}

function depth(mount: Mount): number {
  return mount.dest.split('/').length;
}

function fingerprintOf(plan: Plan, found: readonly Found[], gitDirs: readonly (string | null)[]): string {
  const pins = [...plan.pins].map((path) => {
    const stats = exactStatAt(path);
    return [path, stats === null ? '' : identityOf(stats)];
  });
  const facts = [
    gitDirs,
    pins,
    [...plan.readOnly],
    [...plan.hidden].map(([path, { identity, kind }]) => [path, identity, kind]),
    found.map(({ path, identity, link }) => [path, identity, link]),
  ];
  return hash('sha256', JSON.stringify(facts), 'hex');
}
