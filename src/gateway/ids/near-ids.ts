import { nearestNames } from '../../core/nearest-names.ts';
import { withoutVersion } from './upstream-name.ts';

/**
 * Ids that may have been meant: for a name those with this very name, for an id those of its namespace, in another version or with a name
 * like it, and then those with its name elsewhere. Only without any of these comes what looks like it as a whole.
 */
export function idsLike(asked: string, ids: readonly string[]): string[] {
  const [namespace, name] = partsOf(asked);
  const own = ids.filter((id) => namespace !== '' && partsOf(id)[0] === namespace);
  const near = nearestNames(
    name,
    own.map((id) => partsOf(id)[1]),
  );
  const likely = [
    ...near.flatMap((one) => own.filter((id) => partsOf(id)[1] === one)),
    ...ids.filter((id) => partsOf(id)[1] === name),
  ];
  if (likely.length > 0 || own.length > 0) return [...new Set(likely)];
  const whole = nearestNames(withoutVersion(asked), ids.map(withoutVersion));
  return [...new Set(whole.flatMap((one) => ids.filter((id) => withoutVersion(id) === one)))];
}

/** Namespace and name of an id, or '' and the name. */
function partsOf(id: string): readonly [namespace: string, name: string] {
  const plain = withoutVersion(id);
  const at = plain.lastIndexOf(':');
  return [plain.slice(0, Math.max(0, at)), plain.slice(at + 1)];
}
