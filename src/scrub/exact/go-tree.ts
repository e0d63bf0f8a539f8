import { type CharSet, contains } from './char-set.ts';

/** A pattern that Go would refuse. */
export class GoSyntaxError extends Error {
  override readonly name = 'GoSyntaxError';
}

/** A parsed pattern. What flags change is written out. */
export type GoNode =
  /** One character. If it is not known which, `set` holds every character. */
  | { readonly kind: 'chars'; readonly set: CharSet; readonly isKnown: boolean }
  | {
      readonly kind: 'assertion';
      readonly which: 'text start' | 'text end' | 'line start' | 'line end' | 'word edge' | 'no word edge';
    }
  | { readonly kind: 'sequence'; readonly parts: readonly GoNode[] }
  /** The first option that leads to a match is taken. */
  | { readonly kind: 'choice'; readonly options: readonly GoNode[] }
  | {
      readonly kind: 'repeat';
      readonly of: GoNode;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    }
  /** Captures, by number from 1. */
  | { readonly kind: 'group'; readonly of: GoNode; readonly index: number };

export function childrenOf(node: GoNode): readonly GoNode[] {
  if (node.kind === 'sequence') return node.parts;
  if (node.kind === 'choice') return node.options;
  return node.kind === 'repeat' || node.kind === 'group' ? [node.of] : [];
}

export function groupCountOf(node: GoNode): number {
  const own = node.kind === 'group' ? 1 : 0;
  return childrenOf(node).reduce((sum, child) => sum + groupCountOf(child), own);
}

const MAX_REPEAT_PRODUCT = 1000;

/** Whether counts inside counts stay within Go's limit. */
export function repeatsFit(node: GoNode, left = MAX_REPEAT_PRODUCT): boolean {
  let inside = left;
  if (node.kind === 'repeat') {
    if (node.max === 0) return true;
    const times = node.max === Number.POSITIVE_INFINITY ? node.min : node.max;
    if (times > left) return false;
    if (times > 0) inside = Math.floor(left / times);
  }
  return childrenOf(node).every((child) => repeatsFit(child, inside));
}

/** Instructions of Go's compiled program, 40 bytes each, in 128 MB. */
const MAX_SIZE = Math.floor((128 << 20) / 40);
const MAX_HEIGHT = 1000;

/** Throws GoSyntaxError if Go considers the tree too large or too deep. */
export function checkSize(root: GoNode): void {
  if (heightOf(root) > MAX_HEIGHT) throw new GoSyntaxError('expression nests too deeply');
  if (sizeOf(root) > MAX_SIZE) throw new GoSyntaxError('expression too large');
}

function heightOf(node: GoNode): number {
  return 1 + childrenOf(node).reduce((most, child) => Math.max(most, heightOf(child)), 0);
}

function sizeOf(node: GoNode): number {
  const inside = childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 0);
  if (node.kind === 'group') return inside + 2;
  if (node.kind === 'choice') return inside + node.options.length - 1;
  if (node.kind !== 'repeat') return Math.max(1, inside);
  if (node.max !== Number.POSITIVE_INFINITY) return Math.max(1, node.max * inside + node.max - node.min);
  return node.min === 0 ? 2 + inside : 1 + node.min * inside;
}

const LINE_END = 0x0a;
const FIRST_SURROGATE = 0xd800;
const FIRST_PAIR = 0x10000;

/** UTF-16 units of the shortest match. */
export function minLength(node: GoNode): number {
  switch (node.kind) {
    case 'chars':
      return (node.set[0] ?? 0) >= FIRST_PAIR ? 2 : 1;
    case 'assertion':
      return 0;
    case 'choice':
      return Math.min(...node.options.map(minLength));
    case 'repeat':
      return node.min * minLength(node.of);
    default:
      return childrenOf(node).reduce((sum, child) => sum + minLength(child), 0);
  }
}

/** UTF-16 units of the longest match; may be Infinity. */
export function maxLength(node: GoNode): number {
  switch (node.kind) {
    case 'chars':
      return (node.set.at(-1) ?? 0) >= FIRST_PAIR ? 2 : 1;
    case 'assertion':
      return 0;
    case 'choice':
      return Math.max(...node.options.map(maxLength));
    case 'repeat': {
      const once = maxLength(node.of);
      return once === 0 ? 0 : node.max * once;
    }
    default:
      return childrenOf(node).reduce((sum, child) => sum + maxLength(child), 0);
  }
}

/** Whether a match neither contains a line end nor looks beyond its line, so that lines can be searched one by one. */
export function isLineLocal(node: GoNode): boolean {
  if (node.kind === 'chars') return !contains(node.set, LINE_END);
  if (node.kind === 'assertion') return node.which !== 'text start' && node.which !== 'text end';
  return childrenOf(node).every(isLineLocal);
}

/** Whether a match depends on a surrogate pair being one character. */
export function dependsOnPairs(node: GoNode): boolean {
  if (node.kind === 'chars') return (node.set.at(-1) ?? 0) >= FIRST_SURROGATE;
  return childrenOf(node).some(dependsOnPairs);
}

/** Whether it is known of each character of a pattern which one may stand there. */
export function isKnownThroughout(node: GoNode): boolean {
  return node.kind === 'chars' ? node.isKnown && node.set.length > 0 : childrenOf(node).every(isKnownThroughout);
}

/** Whether the pattern asserts the start of the text anywhere. */
export function seesTextStart(node: GoNode): boolean {
  return node.kind === 'assertion' ? node.which === 'text start' : childrenOf(node).some(seesTextStart);
}
