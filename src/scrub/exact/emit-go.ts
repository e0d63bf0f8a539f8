import { type CharSet, pairsOf } from './char-set.ts';
import type { GoNode } from './go-tree.ts';

const ASSERTIONS = {
  'text start': '\\A',
  'text end': '\\z',
  'line start': '(?m:^)',
  'line end': '(?m:$)',
  'word edge': '\\b',
  'no word edge': '\\B',
} as const;

/** A pattern in Go's syntax that parses to a tree like this one. Only for trees whose characters are all known. */
export function emitGo(node: GoNode): string {
  switch (node.kind) {
    case 'chars':
      return emitSet(node.set);
    case 'assertion':
      return ASSERTIONS[node.which];
    case 'sequence':
      return node.parts.map((part) => (part.kind === 'choice' ? `(?:${emitGo(part)})` : emitGo(part))).join('');
    case 'choice':
      return node.options.map(emitGo).join('|');
    case 'group':
      return `(${emitGo(node.of)})`;
    case 'repeat': {
      const of = node.of.kind === 'chars' || node.of.kind === 'group' ? emitGo(node.of) : `(?:${emitGo(node.of)})`;
      return of + emitCounts(node.min, node.max) + (node.lazy ? '?' : '');
    }
  }
}

function emitCounts(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  return min === 0 && max === 1 ? '?' : min === max ? `{${min}}` : `{${min},${max}}`;
}

function emitSet(set: CharSet): string {
  const ranges = pairsOf(set);
  const [first] = ranges;
  if (ranges.length === 1 && first !== undefined && first[0] === first[1]) return emitChar(first[0]);
  return `[${ranges.map(([low, high]) => (low === high ? emitChar(low) : `${emitChar(low)}-${emitChar(high)}`)).join('')}]`;
}

function emitChar(code: number): string {
  const char = String.fromCodePoint(code);
  return /[A-Za-z0-9_]/.test(char) ? char : `\\x{${code.toString(16)}}`;
}
