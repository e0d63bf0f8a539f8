import { type PlacedEntry, placeGitConfig } from '../../guard/git/config.ts';

/**
 * The configuration in which a key without subsection, which it has, has one value; null removes it. As git does, the last
 * entry changes and other ones of the key go: git refuses to change a key with two values. git itself cannot write it,
 * because it renames a new file over the old one, and that ends the mounts that protect the file in other sandboxes.
 */
export function setKey(text: string, key: string, value: string | null): string {
  const places = placesOf(text, key);
  const last = value === null ? undefined : places.pop();
  const changed = last === undefined ? text : replace(text, last, `${last.name} = ${value}\n`);
  return places.reduceRight(remove, changed);
}

/** The configuration with one entry of each of these keys, the last one, which counts. */
export function withoutDoubles(text: string, keys: ReadonlySet<string>): string {
  let edited = text;
  for (const key of keys) edited = placesOf(edited, key).slice(0, -1).reduceRight(remove, edited);
  return edited;
}

/** The key as the text spells it. */
export function spellingIn(text: string, key: string): string {
  return placesOf(text, key).at(-1)?.name ?? key.slice(key.indexOf('.') + 1);
}

function placesOf(text: string, key: string): PlacedEntry[] {
  return placeGitConfig(text)?.filter((entry) => entry.key === key && entry.subsection === null) ?? [];
}

function replace(text: string, { from, to }: Pick<PlacedEntry, 'from' | 'to'>, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

/** Without the entry, and without its header if that has nothing else. */
function remove(text: string, { from, to, header }: PlacedEntry): string {
  const [before, after] = [text.slice(header.to, from), text.slice(to)];
  if (/^\s*$/.test(before) && /^\s*(?:\[|$)/.test(after)) return replace(text, { from: header.from, to }, '');
  const start = from - (/[ \t]*$/.exec(before)?.[0].length ?? 0);
  // The entry may share the line of its header or of another entry's comment.
  return replace(text, { from: start, to }, text[start - 1] === '\n' ? '' : '\n');
}
