import { parseGo } from './go-syntax.ts';
import { childrenOf, type GoNode } from './go-tree.ts';

/** The groups of a pattern that may take part more than once in a match: such a group holds its last turn only. */
export function repeatedGroups(source: string): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (node: GoNode, isRepeated: boolean): void => {
    if (node.kind === 'group' && isRepeated) found.add(node.index);
    for (const child of childrenOf(node)) visit(child, isRepeated || (node.kind === 'repeat' && node.max > 1));
  };
  visit(parseGo(source), false);
  return found;
}
