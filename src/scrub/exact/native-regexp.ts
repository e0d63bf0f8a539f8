import { type CharSet, MAX_CODE_POINT, pairsOf } from './char-set.ts';
import { childrenOf, type GoNode } from './go-tree.ts';
import { minLength } from './tree-facts.ts';

export interface EmitOptions {
  /** For texts with surrogate pairs: a pair is one character. The `u` flag must be set. */
  pairs: boolean;
  /** Whether groups capture. */
  groups: boolean;
}

const ASSERTIONS = {
  'text start': '^',
  'text end': '$',
  'line start': '(?<![^\\n])',
  'line end': '(?![^\\n])',
  'word edge': '\\b',
  'no word edge': '\\B',
} as const;

/**
 * The source of a JavaScript regular expression that matches what Go's matches, with no flag but `u` (see EmitOptions).
 * Only for trees that `isTranslatable`.
 */
export function emitNative(node: GoNode, options: EmitOptions): string {
  switch (node.kind) {
    case 'chars':
      return emitChars(node.set, options.pairs);
    case 'assertion':
      return ASSERTIONS[node.which];
    case 'sequence':
      return node.parts.map((part) => emitPart(part, options)).join('');
    case 'choice':
      return node.options.map((option) => emitNative(option, options)).join('|');
    case 'group':
      return `${options.groups ? '(' : '(?:'}${emitNative(node.of, options)})`;
    case 'repeat':
      return emitAtom(node.of, options) + emitCounts(node.min, node.max) + (node.lazy ? '?' : '');
  }
}

/**
 * Whether JavaScript means the same by the translated pattern, as far as the whole match goes: letters beyond ASCII
 * under (?i) and \p are not translated, a repetition of what may be empty ends otherwise in JavaScript, and V8 finds
 * empty matches between two surrogates.
 */
export function isTranslatable(tree: GoNode): boolean {
  return minLength(tree) > 0 && canBeSaid(tree);
}

function canBeSaid(node: GoNode): boolean {
  if (node.kind === 'chars') return node.isKnown;
  if (node.kind === 'repeat' && node.min < node.max && minLength(node.of) === 0) return false;
  return childrenOf(node).every(canBeSaid);
}

/** Whether the groups are the same too: JavaScript forgets a group at each turn of a repetition, Go does not. */
export function hasSameGroups(node: GoNode, isRepeated = false): boolean {
  if (node.kind === 'group' && isRepeated) return false;
  const repeats = isRepeated || (node.kind === 'repeat' && node.max > 1);
  return childrenOf(node).every((child) => hasSameGroups(child, repeats));
}

function emitPart(node: GoNode, options: EmitOptions): string {
  return node.kind === 'choice' ? `(?:${emitNative(node, options)})` : emitNative(node, options);
}

function emitAtom(node: GoNode, options: EmitOptions): string {
  const source = emitNative(node, options);
  return node.kind === 'chars' || node.kind === 'group' ? source : `(?:${source})`;
}

function emitCounts(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  return min === 0 && max === 1 ? '?' : min === max ? `{${min}}` : `{${min},${max}}`;
}

function emitChars(set: CharSet, pairs: boolean): string {
  const last = pairs ? MAX_CODE_POINT : 0xffff;
  const ranges = pairsOf(set).filter(([low]) => low <= last);
  const [first] = ranges;
  if (ranges.length === 1 && first !== undefined && first[0] === first[1]) return emitChar(first[0]);
  return `[${ranges.map(([low, high]) => emitRange(low, Math.min(high, last))).join('')}]`;
}

function emitRange(low: number, high: number): string {
  return low === high ? emitChar(low) : `${emitChar(low)}-${emitChar(high)}`;
}

function emitChar(code: number): string {
  const char = String.fromCodePoint(code);
  if (/[A-Za-z0-9_]/.test(char)) return char;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
