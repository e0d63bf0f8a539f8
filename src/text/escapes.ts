const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', e: '\u001b' };

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  colon: ':',
  equals: '=',
  lowbar: '_',
  hyphen: '-',
  period: '.',
  sol: '/',
  plus: '+',
  num: '#',
  commat: '@',
  dollar: '$',
  Tab: '\t',
  NewLine: '\n',
  shy: '',
  zwj: '',
  zwnj: '',
};

/** The names of entities that are known, for a pattern. */
export const ENTITY_NAMES = Object.keys(ENTITIES).join('|');

/**
 * Returns the character that an escape stands for: `%41`, `\n`, `\x41`, `\u0041`, `\u{41}`, `\101`, `\"`, `&#65;`,
 * `&#x41;`, `&amp;`. Null if there is no such character.
 */
export function meaningOf(written: string): string | null {
  if (written[0] === '%') return characterOf(written.slice(1), 16);
  if (written[0] === '&') return entityOf(written.slice(1).replace(/;+$/, ''));
  const kind = written[1] ?? '';
  if (kind === 'x' || kind === 'u') return characterOf(written.slice(2).replace(/[{}]/g, ''), 16);
  if (kind >= '0' && kind <= '3') return characterOf(written.slice(1), 8);
  return LETTERS[kind] ?? kind;
}

function entityOf(name: string): string | null {
  if (name[0] !== '#') return ENTITIES[name] ?? null;
  const isHex = name[1] === 'x' || name[1] === 'X';
  return isHex ? characterOf(name.slice(2), 16) : characterOf(name.slice(1), 10);
}

function characterOf(digits: string, base: number): string | null {
  const code = Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : null;
}

/** How programs escape characters. Only plain alternatives, so matching is linear. */
const ESCAPE =
  /%[0-9A-Fa-f]{2}|\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[0-3][0-7]{2}|["'\\/nrtbf$`&|;<>()*?!{}[\]~# ])|&(?:#[0-9]{2,6}|#[xX][0-9A-Fa-f]{2,5}|amp|lt|gt|quot|apos);/g;

/** Most characters on either side of an escape that belong to its run. */
const MAX_REACH = 4096;

/** A run of characters without white space, with its escapes undone once. */
interface Unescaped {
  text: string;
  /** Offset in the original of each character; one more for the end. */
  places: number[];
}

/** Finds the runs with at least one escape that begin between two offsets of a text. */
export function* unescapedRuns(text: string, from: number, to: number): Generator<Unescaped> {
  const finder = new RegExp(ESCAPE);
  let done = from;
  for (;;) {
    finder.lastIndex = done;
    const first = finder.exec(text);
    if (first === null || first.index >= to) return;
    const start = runStart(text, first.index, Math.max(0, done === from ? first.index - MAX_REACH : done));
    const end = runEnd(text, finder.lastIndex);
    yield unescapeRun(text, start, end);
    done = end;
  }
}

/** A text with its escapes undone once. */
export function unescapeOnce(text: string): string {
  return text.replace(ESCAPE, (written) => meaningOf(written) ?? written);
}

function unescapeRun(text: string, start: number, end: number): Unescaped {
  const finder = new RegExp(ESCAPE);
  finder.lastIndex = start;
  const parts: string[] = [];
  const places: number[] = [];
  let at = start;
  const copyTo = (stop: number): void => {
    parts.push(text.slice(at, stop));
    for (; at < stop; at++) places.push(at);
  };
  for (let found = finder.exec(text); found !== null && finder.lastIndex <= end; found = finder.exec(text)) {
    copyTo(found.index);
    const meaning = meaningOf(found[0]) ?? found[0];
    parts.push(meaning);
    for (let i = 0; i < meaning.length; i++) places.push(at);
    at = finder.lastIndex;
  }
  copyTo(end);
  places.push(end);
  return { text: parts.join(''), places };
}

function runStart(text: string, at: number, limit: number): number {
  let start = at;
  while (start > limit && text.charCodeAt(start - 1) > 0x20) start--;
  return start;
}

function runEnd(text: string, at: number): number {
  const limit = Math.min(text.length, at + MAX_REACH);
  let end = at;
  while (end < limit && text.charCodeAt(end) > 0x20) end++;
  return end;
}
