/** Limits on the comparison with known names: a list read from a file may have any size. */
const COMPARED_MAX = 500;
const LENGTH_MAX = 64;
const NEAREST_MAX = 3;

/** Up to three of `names` that look like a misspelt `name`, nearest first. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const allowed = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3));
  if (name.length > LENGTH_MAX) return [];
  return names
    .slice(0, COMPARED_MAX)
    .filter((known) => Math.abs(known.length - name.length) <= allowed || isPrefix(name, known))
    .map((known) => ({ known, distance: isPrefix(name, known) ? 0 : editDistance(name, known) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAREST_MAX)
    .map(({ known }) => known);
}

/** True for `max` and `max_tokens`. */
function isPrefix(name: string, known: string): boolean {
  return name.length >= 2 && known.startsWith(name);
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
