import { ContextdError } from '../../core/errors.ts';

/**
 * Throws CONFLICT if two tools of a catalogue have the same id (gateway surface §1.5): a tool was registered twice, or the
 * hash is wrong. Neither is to be settled silently, because a call could reach the other tool.
 */
export function assertDistinct(ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) {
      throw new ContextdError('CONFLICT', `Two tools have the id ${id}`, {
        remedy: 'Remove one of the two servers, or the tool that is registered twice.',
        details: { id },
      });
    }
    seen.add(id);
  }
}

/**
 * One key for each entry of a catalogue of resources or prompts, in its order (§9.3): the first of several with the same id
 * keeps it, later ones get `~2`, `~3`, …. Keys depend on the order of the catalogue. The caller has left out entries that
 * are the same primitive. A key with `~` is opaque: it is looked up, never parsed.
 */
export function distinctKeys(ids: readonly string[]): string[] {
  const taken = new Set(ids);
  const counts = new Map<string, number>();
  return ids.map((id) => {
    let count = (counts.get(id) ?? 0) + 1;
    // No canonical id holds `~`; a key that is passed in again may.
    while (count > 1 && taken.has(`${id}~${count}`)) count++;
    counts.set(id, count);
    const key = count === 1 ? id : `${id}~${count}`;
    taken.add(key);
    return key;
  });
}
