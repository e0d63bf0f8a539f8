import { editMatches } from './edits.ts';
import type { View } from './view.ts';

const ENTITIES =
  /&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(quot|apos|amp|lt|gt|nbsp|colon|equals|lowbar|hyphen|period|sol|plus|num|commat|dollar|Tab|NewLine|shy|zwj|zwnj););?/g;
const NAMED: Readonly<Record<string, string>> = {
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

/** HTML and XML with its entities resolved. */
export function withoutEntities(text: string): View | null {
  if (!text.includes('&')) return null;
  return editMatches(text, ENTITIES, ([, decimal, hex, name]) => {
    if (name !== undefined) return NAMED[name] ?? null;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : null;
  });
}
