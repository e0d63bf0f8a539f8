import { sampleOf } from './pattern-samples.ts';

/** A file that both gitleaks and our engine search. */
export interface GitleaksCase {
  path: string;
  text: string;
}

type Random = () => number;

/** File names that rules and allowlists match, and some that they do not. None is an archive. */
const NAMES = ['a.txt', 'b.go', 'c.py', 'd.yml', 'e.tf', 'nuget.config', 'f.php', '.env', 'g.p12', 'go.sum', 'h.svg'];
/** Characters for which lower case, case folding, \s, \b and . are often wrong. */
const TRAPS = [
  '\u212a',
  '\u0130',
  '\u017f',
  '\u00a0',
  '\u2028',
  '\u0085',
  '\ufeff',
  '\u{1f600}',
  '\v',
  '\r',
  '\x1b[0m',
  'é',
  '\0',
];
const GLUE = [
  ' ',
  '\n',
  '\r\n',
  ' = ',
  '"',
  '; ',
  '\n\n',
  '=',
  '',
  '\t',
  ',',
  '|',
  '\n# note\n',
  'x',
  ' gitleaks:allow\n',
];
const VALUES = ['token: abc', 'const key = readKey()', 'http://user:pass@host/%41%42', 'sha256-abcdef', 'null', 'true'];

/** Makes `count` cases from the patterns of a configuration; the same random numbers give the same cases. */
export function generateCases(patterns: readonly string[], count: number, random: Random): GitleaksCase[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  return Array.from({ length: count }, (_, i) => {
    const parts = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      random() < 0.15 ? pick(VALUES) : encoded(mutated(sampleOf(pick(patterns), random), random), random),
    );
    // The file does not start like a binary file: gitleaks skips those, we must not.
    const start = pick(['# ', '\n', 'x = ', '\n\n', ' ']);
    const text = start + parts.map((part) => part + pick(GLUE)).join(pick(GLUE)) + pick(['', '\n', '', 'end']);
    return { path: `cases/${i}/${pick(NAMES)}`, text };
  });
}

function mutated(text: string, random: Random): string {
  let result = text;
  while (random() < 0.35) {
    const at = Math.floor(random() * (result.length + 1));
    const trap = TRAPS[Math.floor(random() * TRAPS.length)] ?? '';
    const kind = Math.floor(random() * 6);
    if (kind === 0) result = result.slice(0, at) + trap + result.slice(at);
    else if (kind === 1) result = result.replace(/[kK]/, '\u212a').replace(/[iI]/, random() < 0.3 ? '\u0130' : '$&');
    else if (kind === 2) result = result.replace(/s/i, '\u017f');
    else if (kind === 3) result = random() < 0.5 ? result.toUpperCase() : result.toLowerCase();
    else if (kind === 4) result = result.slice(0, at) + result.slice(at + 1);
    else result = result.slice(0, at) + (random() < 0.5 ? '\n' : '\r\n') + result.slice(at);
  }
  return Buffer.from(result).toString();
}

/** Sometimes encodes the whole text or a part of it, in layers of the encodings that gitleaks decodes. */
function encoded(text: string, random: Random): string {
  let result = text;
  while (random() < 0.3) {
    const from = random() < 0.6 ? 0 : Math.floor(random() * result.length);
    result = result.slice(0, from) + encodedOnce(result.slice(from), random);
  }
  return Buffer.from(result).toString();
}

function encodedOnce(text: string, random: Random): string {
  const bytes = Buffer.from(text);
  const kind = Math.floor(random() * 7);
  if (kind === 0) return bytes.toString('base64');
  if (kind === 1) return bytes.toString('base64url');
  if (kind === 2) return bytes.toString('base64').replaceAll('=', '');
  if (kind === 3) return bytes.toString('hex');
  if (kind === 4) return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const codes = Array.from(text, (_, i) => text.charCodeAt(i).toString(16).padStart(4, '0'));
  return kind === 5 ? codes.map((code) => `\\u${code}`).join('') : codes.map((code) => `U+${code} `).join('');
}
