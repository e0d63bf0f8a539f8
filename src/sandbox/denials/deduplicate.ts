import type { Denial } from '../../core/envelope.ts';
import { DENIALS_MAX } from '../contract/refused-connection.ts';

/** Of two sources that report the same refusal, the first one counts: facts come before what is read from an output. */
export function mergeDenials(sources: readonly (readonly Denial[])[]): Denial[] {
  const merged: Denial[] = [];
  for (const denials of sources) {
    const known = new Set(merged.map(subjectOf));
    merged.push(...denials.filter((denial) => !known.has(subjectOf(denial))));
  }
  return merged.slice(0, DENIALS_MAX);
}

function subjectOf({ kind, path, host }: Denial): string {
  return JSON.stringify([kind, path ?? null, host ?? null]);
}
