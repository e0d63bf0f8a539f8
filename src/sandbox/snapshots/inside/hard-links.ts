import type { Stats } from 'node:fs';
import type { RawPath } from '../../../fs/raw-path.ts';
import type { Entry } from './entry.ts';

/** The known paths that are names of these inodes: the kernel reports a write by the name that was opened only. */
export function namesOf(inodes: ReadonlySet<number>, entries: ReadonlyMap<RawPath, Entry>): RawPath[] {
  if (inodes.size === 0) return [];
  return [...entries].flatMap(([path, { ino }]) => (inodes.has(ino) ? [path] : []));
}

/** Those of these changed files that have more names than are known: putting one back leaves the others as they are. */
export function linkedElsewhere(
  changed: ReadonlyMap<RawPath, Stats>,
  entries: ReadonlyMap<RawPath, Entry>,
): readonly RawPath[] {
  if (changed.size === 0) return [];
  const known = new Map([...changed.values()].map(({ ino }) => [ino, 0]));
  for (const { ino } of entries.values()) {
    const count = known.get(ino);
    if (count !== undefined) known.set(ino, count + 1);
  }
  return [...changed].flatMap(([path, { ino, nlink }]) => (nlink > (known.get(ino) ?? 0) ? [path] : []));
}
