/** A word of `'…'` and `"'"` parts, as clients quote. Null without such a word at this place. */
export function readQuoted(text: string, start: number): { value: string; end: number } | null {
  const part = /'([^']*)'|"(')"|\\(')/y;
  let [value, end] = ['', start];
  for (;;) {
    part.lastIndex = end;
    const match = part.exec(text);
    if (match === null) return end === start ? null : { value, end };
    value += match[1] ?? match[2] ?? match[3] ?? '';
    end = part.lastIndex;
  }
}
