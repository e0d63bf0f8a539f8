import type { GraphNode } from '../../gateway/graph/grow.ts';
import { printTree } from '../../gateway/graph/print-tree.ts';
import { defineCommand } from '../command.ts';
import { graphOf, readTools, TOOLS_OPTIONS } from '../route/tools.ts';

interface Tree {
  root: GraphNode;
  depth: number;
}

/** A node as `--json` prints it: a tool has an id, a group its size and, as far as the depth goes, its children. */
interface Branch {
  path: string;
  id?: string;
  tools?: number;
  children?: Branch[];
}

const DEPTH_MAX = 100;

export const routePrintTree = defineCommand<Tree>({
  name: ['route', 'print-tree'],
  summary: 'See the tree of paths that agents browse.',
  options: [...TOOLS_OPTIONS, { syntax: '--depth <levels>', help: 'levels below / at most (default: all)' }],
  async run(context, args) {
    const depth = args.count('depth', DEPTH_MAX, DEPTH_MAX);
    return { root: graphOf(await readTools(context, args)).root, depth };
  },
  view: ({ root, depth }) => ({ kind: 'lines', lines: printTree(root, depth) }),
  bare: ({ root, depth }) => JSON.stringify(branchOf(root, depth)),
});

function branchOf({ path, item, items, children }: GraphNode, depth: number): Branch {
  if (item !== null) return { path, id: item.id };
  if (depth <= 0) return { path, tools: items };
  return { path, tools: items, children: Array.from(children.values(), (child) => branchOf(child, depth - 1)) };
}
