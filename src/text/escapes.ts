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
