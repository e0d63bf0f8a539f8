/** Text that was put into a file: where it stands in the file as it is now, and its length, both in UTF-16 units. */
export interface Insertion {
  at: number;
  length: number;
}

/** A text and what was put into it. Taking the insertions out gives back the text before, byte for byte. */
export interface Inserted {
  text: string;
  insertions: readonly Insertion[];
}

/** Puts more text in at an offset of the present text. */
export function insert(present: Inserted, at: number, added: string): Inserted {
  const text = present.text.slice(0, at) + added + present.text.slice(at);
  const insertions: Insertion[] = [];
  let absorbed = false;
  for (const one of present.insertions) {
    const inside = one.at < at && at < one.at + one.length;
    absorbed ||= inside;
    if (inside) insertions.push({ at: one.at, length: one.length + added.length });
    else insertions.push(one.at >= at ? { at: one.at + added.length, length: one.length } : one);
  }
  if (!absorbed) insertions.push({ at, length: added.length });
  return { text, insertions };
}

/** The text as it was before the insertions. */
export function withdraw({ text, insertions }: Inserted): string {
  const backwards = [...insertions].sort((a, b) => b.at - a.at);
  return backwards.reduce((rest, one) => rest.slice(0, one.at) + rest.slice(one.at + one.length), text);
}
