/** A word of `'…'`, `"'"` and plain parts, as clients quote: `pwd` needs no quotes. Null without such a word at this place. */
export function readQuoted(text: string, start: number): { value: string; end: number } | null {
  const part = /'([^']*)'|"(')"|\\(')|([\w@%+=:,./-]+)/y;
  let [value, end] = ['', start];
  for (;;) {
    part.lastIndex = end;
    const match = part.exec(text);
    if (match === null) return end === start ? null : { value, end };
    value += match[1] ?? match[2] ?? match[3] ?? match[4] ?? '';
    end = part.lastIndex;
  }
}
