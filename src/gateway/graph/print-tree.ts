import type { GraphNode } from './grow.ts';

/** The tree below a node as lines, two blanks for each level: groups end in / and say how many items they hold. */
export function printTree(node: GraphNode, depth: number = Number.POSITIVE_INFINITY): string[] {
  const name = node.path === '/' ? '/' : node.item === null ? `${node.segment}/` : `${node.segment}  ${node.item.id}`;
  const line = node.item === null ? `${name} (${node.items})` : name;
  if (depth <= 0) return [line];
  return [
    line,
    ...[...node.children.values()].flatMap((child) => printTree(child, depth - 1).map((one) => `  ${one}`)),
  ];
}
