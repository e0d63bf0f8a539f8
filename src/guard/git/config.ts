/** One entry of a git configuration, as git reads it. */
export interface GitEntry {
  /** Lower case, without the subsection: `remote.url`, `core.bare`. */
  readonly key: string;
  /** Null for `[remote]`, empty for `[remote ""]`. */
  readonly subsection: string | null;
  /** Null for a key without `=`, which git reads as true. */
  readonly value: string | null;
}

/** An entry with its place in the text, from the first character of its name to the end of its last line. */
export interface PlacedEntry extends GitEntry {
  /** The name as it is written, such as `sparseCheckout`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Where the header before it starts and ends. */
  readonly header: { readonly from: number; readonly to: number };
}

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/**
 * Parses a git configuration as git does (config.c of git 2.39): a header and entries may share a line; values may be quoted,
 * escaped, continued and commented. Returns null if git would refuse the file. `text` has one character per byte.
 */
export function parseGitConfig(text: string): GitEntry[] | null {
  const entries = placeGitConfig(text);
  return entries?.map(({ key, subsection, value }) => ({ key, subsection, value })) ?? null;
}

/** As `parseGitConfig`, with the place of each entry. */
export function placeGitConfig(text: string): PlacedEntry[] | null {
  const entries: PlacedEntry[] = [];
  const reader = new Reader(text, text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0);
  let header: Header = { section: null, subsection: null };
  let headerPlace = { from: reader.position, to: reader.position };
  for (;;) {
    const from = reader.position;
    const next = reader.next();
    if (reader.isAtEnd) return entries;
    if (isSpace(next)) continue;
    if (next === '#' || next === ';') {
      reader.skipLine();
      continue;
    }
    if (next === '[') {
      const read = readHeader(reader);
      if (read === null) return null;
      header = read;
      headerPlace = { from, to: reader.position };
      continue;
    }
    if (!/[A-Za-z]/.test(next)) return null;
    const entry = readEntry(reader, next, header);
    if (entry === null) return null;
    const to = reader.position;
    const name = /^[A-Za-z0-9-]+/.exec(text.slice(from, to))?.[0] ?? '';
    entries.push({ ...entry, name, from, to, header: headerPlace });
  }
}

interface Header {
  /** Null before the first header. */
  readonly section: string | null;
  readonly subsection: string | null;
}

/** Returns one character after another. The end of the text is a newline, as in git. */
class Reader {
  readonly #text: string;
  #at: number;
  isAtEnd = false;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  get position(): number {
    return Math.min(this.#at, this.#text.length);
  }

  next(): string {
    const char = this.#text[this.#at++];
    if (char === undefined) {
      this.isAtEnd = true;
      return '\n';
    }
    if (char !== '\r' || this.#text[this.#at] !== '\n') return char;
    this.#at++;
    return '\n';
  }

  skipLine(): void {
    while (this.next() !== '\n');
  }
}

/** Reads a header after its `[`. The old form `[section.subsection]` has a subsection in lower case. */
function readHeader(reader: Reader): Header | null {
  let name = '';
  for (;;) {
    const char = reader.next();
    if (reader.isAtEnd) return null;
    if (char === ']') break;
    if (isSpace(char)) return readSubsection(reader, name, char);
    if (!/[A-Za-z0-9.-]/.test(char)) return null;
    name += char.toLowerCase();
  }
  if (name === '') return null;
  const dot = name.indexOf('.');
  return dot < 0
    ? { section: name, subsection: null }
    : { section: name.slice(0, dot), subsection: name.slice(dot + 1) };
}

function readSubsection(reader: Reader, section: string, first: string): Header | null {
  let char = first;
  while (isSpace(char)) {
    if (char === '\n') return null;
    char = reader.next();
  }
  if (char !== '"') return null;
  let subsection = '';
  for (char = reader.next(); char !== '"'; char = reader.next()) {
    if (char === '\\') char = reader.next();
    if (char === '\n') return null;
    subsection += char;
  }
  if (reader.next() !== ']') return null;
  const dot = section.indexOf('.');
  if (dot < 0) return { section, subsection };
  return { section: section.slice(0, dot), subsection: `${section.slice(dot + 1)}.${subsection}` };
}

function readEntry(reader: Reader, first: string, { section, subsection }: Header): GitEntry | null {
  let name = first.toLowerCase();
  let char = reader.next();
  for (; /[A-Za-z0-9-]/.test(char); char = reader.next()) name += char.toLowerCase();
  const key = section === null ? name : `${section}.${name}`;
  while (char === ' ' || char === '\t') char = reader.next();
  if (char === '\n') return { key, subsection, value: null };
  if (char !== '=') return null;
  const value = readValue(reader);
  return value === null ? null : { key, subsection, value };
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' };

function readValue(reader: Reader): string | null {
  let value = '';
  let trimmedLength = 0;
  let isQuoted = false;
  for (;;) {
    const char = reader.next();
    if (char === '\n') return isQuoted ? null : value.slice(0, trimmedLength);
    if (!isQuoted && isSpace(char)) {
      if (value !== '') value += char;
      continue;
    }
    if (!isQuoted && (char === '#' || char === ';')) {
      reader.skipLine();
      return value.slice(0, trimmedLength);
    }
    if (char === '"') {
      isQuoted = !isQuoted;
      // Blanks before a quote belong to the value, also if nothing is quoted.
      trimmedLength = value.length;
      continue;
    }
    if (char === '\\') {
      const escaped = reader.next();
      // Spaces before a continuation belong to the value.
      trimmedLength = value.length;
      if (escaped === '\n') {
        if (reader.isAtEnd) return isQuoted ? null : value.slice(0, trimmedLength);
        continue;
      }
      const meant = ESCAPES[escaped];
      if (meant === undefined) return null;
      value += meant;
    } else value += char;
    trimmedLength = value.length;
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}
