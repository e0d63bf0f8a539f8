import fc from 'fast-check';
import { cl100k } from '../../helpers/tiktoken.ts';

/** js-tiktoken's own count, with special-token text as plain text: the reference for every count of ours. */
export function recount(text: string): number {
  return cl100k.encode(text, [], []).length;
}

const ESC = '\u001b';

/** Pieces of output that are easy to get wrong. */
const ATOMS = [
  ' ',
  '  ',
  '\t',
  '        ',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\u0085',
  '\0',
  "'s",
  "'RE",
  "'ll",
  "'ſ",
  "don't",
  "'",
  'a',
  'word',
  ' words',
  'configuration',
  'é',
  'ſ',
  '漢字',
  '字',
  'Привет',
  '7',
  '42',
  '1234567890',
  '١٢٣٤',
  '²',
  '½',
  '😀',
  '👩‍👩‍👧',
  '🇩🇪',
  'e\u0301',
  '\u{10400}',
  '\u{1d7ce}',
  '\ud83d',
  '\ude00',
  '<|endoftext|>',
  '<|fim_prefix|>',
  '<|endofprompt|>',
  '{"a":1}',
  '"',
  '\\',
  '\\n',
  '\\u001b',
  '==',
  '//',
  '...',
  '-----',
  'const x = await f(y);\n',
  '  at f (/srv/a.ts:12:3)\n',
  '| a | b |\n',
  'error: \n',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '[SECRET_1]',
  '[SECRET_12]',
  '[SECRET_1234567]',
  '[SECRET]',
  '[SECRET_',
  '[',
  ']',
  `${ESC}[0m`,
  `${ESC}[1;31m`,
  `${ESC}[38;2;10;20;30m`,
  `${ESC}]8;;https://example.org/a/b?c=d${ESC}\\`,
  `${ESC}]0;title\u0007`,
  `${ESC}Ptext${ESC}\\`,
  `${ESC}(B`,
  ESC,
  `${ESC}[`,
  '\u009b31m',
  '\u0090data\u009c',
] as const;

const character = fc.integer({ min: 0, max: 0x10ffff }).map((codePoint) => String.fromCodePoint(codePoint));
const base64 = fc.uint8Array({ minLength: 30, maxLength: 150 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const digits = fc.integer({ min: 0, max: 1e12 }).map(String);

const atom = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...ATOMS) },
  { weight: 2, arbitrary: character },
  { weight: 1, arbitrary: base64 },
  { weight: 1, arbitrary: digits },
);

/** Hostile text of up to `maxAtoms` atoms. */
export function hostileText(maxAtoms: number): fc.Arbitrary<string> {
  return fc.array(atom, { maxLength: maxAtoms, size: 'max' }).map((atoms) => atoms.join(''));
}

/** Hostile text repeated up to `maxRepeats` times: longer than any budget of the tests. */
export function longText(maxAtoms: number, maxRepeats: number): fc.Arbitrary<string> {
  return fc
    .tuple(hostileText(maxAtoms), fc.integer({ min: 1, max: maxRepeats }))
    .map(([text, times]) => text.repeat(times));
}
