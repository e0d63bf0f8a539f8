import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';

const FOLDER = new URL('../../../fixtures/outputs/', import.meta.url);

/** Recorded outputs of real programs: file name and text. */
export const OUTPUTS: readonly [string, string][] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')]);

export function output(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

const ESC = '\u001b';

const WORDS = [
  'src/net/pool.ts:88:14',
  '/home/dev/project/src/a.ts',
  'C:\\work\\b.ts(3,7)',
  '3f2a9c1d',
  'sha256:545ea538461003ef',
  'exit code 137',
  '1,204',
  'error',
  'Receiving objects',
  'a',
  'é',
  '漢字',
  '😀',
  '⠙',
  '✓',
  '100%',
  ' 42%',
  '[====>   ]',
  '[SECRET_12]',
  '[SECRET]',
  'e\u0301',
  '\u200b',
  '-- ',
  '+added   ',
  '-',
  '"',
  '"a b": "c  d"',
  '\\',
  '|',
  ' ',
  '  ',
  '    ',
  '\t',
];
const STYLES = ['[1;31m', '[0m', '[m', '[38;5;197m', '[38:2::1:2:3m', '[?25l', '[?25h', '(B', ']0;title\u0007'].map(
  (sequence) => `${ESC}${sequence}`,
);
const LINKS = [`${ESC}]8;;https://x.example/a${ESC}\\`, 'https://x.example/a', `${ESC}]8;;${ESC}\\`];
const MOVES = [
  '\r',
  '\r',
  '\b',
  '\b\b',
  ...['[K', '[0K', '[1K', '[2K', '[1G', '[12G', '[3C', '[2D', '[J'].map((s) => ESC + s),
];
const OTHERS = [
  ESC,
  `${ESC}[`,
  `${ESC}[3`,
  `${ESC}]8;;`,
  '\u009b31m',
  '\u009b',
  `${ESC}[1A`,
  `${ESC}7`,
  '\u0007',
  '\0',
  '\ud83d',
  '\u0085',
];
const ENDS = ['\n', '\n', '\n\n', '\r\n', '\r\r\n', '   \n', ' \n', '  \n', '\t\n'];
const JSONS = ['{ "a" : 1.50, "a":[ ] }', '[ 1 , 2 ]', '{"b": {"c": "x  y"}}', '{', '['];
const LINES = [
  'diff --git a/x b/x\n',
  '@@ -1,2 +1,2 @@\n',
  'warning: this is said again and again in src/a.ts:1:2\n',
  'Counting objects:  50% (1/2)\rCounting objects: 100% (2/2)\rCounting objects: 100% (2/2), done.\n',
];

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 3, arbitrary: fc.constantFrom(...MOVES) },
  { weight: 3, arbitrary: fc.constantFrom(...ENDS) },
  { weight: 2, arbitrary: fc.constantFrom(...STYLES) },
  { weight: 1, arbitrary: fc.constantFrom(...LINKS) },
  { weight: 1, arbitrary: fc.constantFrom(...OTHERS) },
  { weight: 1, arbitrary: fc.constantFrom(...JSONS) },
  { weight: 1, arbitrary: fc.constantFrom(...LINES) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...LINES, 'x\n', '\n'), fc.nat(60)).map(([line, n]) => line.repeat(n)),
  },
);

/** Text composed of typical parts of outputs, in any order. */
export function outputLike(maxPieces = 40): fc.Arbitrary<string> {
  return fc.array(piece, { maxLength: maxPieces, size: 'max' }).map((pieces) => pieces.join(''));
}

/** Words, styles and moves within lines: everything that changes a terminal's line. */
export function playableLines(): fc.Arbitrary<string> {
  const playable = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...WORDS.filter((word) => !/\t|\u0301|\u200b/.test(word))) },
    { weight: 3, arbitrary: fc.constantFrom(...MOVES) },
    { weight: 1, arbitrary: fc.constantFrom(...STYLES) },
    { weight: 1, arbitrary: fc.constantFrom('\n', '\r\n') },
  );
  return fc.array(playable, { maxLength: 40, size: 'max' }).map((pieces) => pieces.join(''));
}
