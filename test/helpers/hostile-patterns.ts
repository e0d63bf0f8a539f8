import fc from 'fast-check';

const CLASSES = ['[a-z]', '[^a]', '[^]]', '[]a]', '[[:alpha:]]', '[[:^space:]k]', '[\\d-z]', '[a-', '[z-a]', '[^\\n]'];
const ESCAPES =
  '\\d \\D \\s \\S \\w \\W \\b \\B \\A \\z \\Z \\C \\Q \\E \\Qa*\\E \\x41 \\x{1F600} \\x4 \\0 \\1 \\12 \\n \\a \\e \\_ \\.';
const NAMES = '\\pL \\p{Greek} \\P{^Lu} \\p{Nope} [\\pL] [^\\pL] \\p{';
const GROUPS = '( ( ) ) ) (?: (?i) (?i: (?-i) (?s) (?m) (?U) (?i-) (?-) (?) (?P<n> (?<m> (?P<n (?= (?! (?P=n)';
const REPEATS = '| | * + ? *? ?? +? {2} {2,} {2,3}? {,2} {01} {1001} {3,2} {0} {2';
const CHARS = [
  'a',
  'b',
  'k',
  's',
  'K',
  '\u212a',
  'ſ',
  'é',
  '😀',
  '-',
  ']',
  '}',
  '.',
  '^',
  '$',
  '\n',
  '\r',
  ' ',
  '\u00a0',
];

/** Random text in all of Go's pattern syntax. Go refuses most of it; the rest uses many features at once. */
export const anyPattern = fc
  .array(
    fc.constantFrom(
      ...CLASSES,
      ...[ESCAPES, NAMES, GROUPS, REPEATS].flatMap((tokens) => tokens.split(' ')),
      ...CHARS,
      ...CHARS,
    ),
    { minLength: 1, maxLength: 7 },
  )
  .map((tokens) => tokens.join(''));

/** Short texts with characters that the patterns match and that engines treat differently. */
export const anyText = fc
  .array(fc.constantFrom(...CHARS, ...CHARS, 'S', 'É', '\t', '\v', '\u2028', '_', '1', 'A', 'aa', 'ab', '*', '{2}'), {
    maxLength: 9,
  })
  .map((pieces) => pieces.join(''));
