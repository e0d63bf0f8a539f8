import { nearestNames } from '../../core/nearest-names.ts';
import { withoutVersion } from './upstream-name.ts';

/** Ids with this very name come first, then those with the same name in another version, then those that look like it. */
export function idsLike(asked: string, ids: readonly string[]): string[] {
  const named = ids.filter((id) => withoutVersion(id).endsWith(`:${asked}`));
  const near = nearestNames(withoutVersion(asked), ids.map(withoutVersion));
  return [...new Set([...named, ...near.flatMap((name) => ids.filter((id) => withoutVersion(id) === name))])];
}
