import { contains } from './char-set.ts';
import { childrenOf, type GoNode } from './go-tree.ts';

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

/** Whether no match holds a line end or sees beyond its line: then the lines of a text can be searched one by one. */
export function isLineLocal(node: GoNode): boolean {
  if (node.kind === 'chars') return !contains(node.set, LINE_END);
  if (node.kind === 'assertion') return node.which !== 'text start' && node.which !== 'text end';
  return childrenOf(node).every(isLineLocal);
}

/** Whether it matters to a match that two surrogates are one character. */
export function heedsPairs(node: GoNode): boolean {
  if (node.kind === 'chars') return (node.set.at(-1) ?? 0) >= FIRST_SURROGATE;
  return childrenOf(node).some(heedsPairs);
}

/** Whether some place of it is the start of the text. */
export function seesTextStart(node: GoNode): boolean {
  return node.kind === 'assertion' ? node.which === 'text start' : childrenOf(node).some(seesTextStart);
}
