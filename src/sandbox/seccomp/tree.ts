import { JUMP_GE, type Label, type Program } from './program.ts';

/** All numbers from `from` to the next range's `from`; the first range begins at 0, the last has no end. */
export interface Range<T> {
  readonly from: number;
  readonly leaf: T;
}

/** Numbers 0 to `last` and everything above (`beyond`), neighbours of the same leaf merged. */
export function mergeRanges<T>(last: number, leafOf: (nr: number) => T, beyond: T): Range<T>[] {
  const ranges: Range<T>[] = [];
  const add = (from: number, leaf: T) => {
    if (ranges.at(-1)?.leaf !== leaf) ranges.push({ from, leaf });
  };
  for (let nr = 0; nr <= last; nr++) add(nr, leafOf(nr));
  add(last + 1, beyond);
  return ranges;
}

/** A balanced tree of comparisons of the loaded number, its leaves written by `emitLeaf`. */
export function emitTree<T>(program: Program, ranges: readonly Range<T>[], emitLeaf: (leaf: T) => Label): Label {
  const middle = ranges[ranges.length >> 1];
  if (middle === undefined) throw new Error('a tree of no range');
  if (ranges.length === 1) return emitLeaf(middle.leaf);
  const upper = emitTree(program, ranges.slice(ranges.length >> 1), emitLeaf);
  const lower = emitTree(program, ranges.slice(0, ranges.length >> 1), emitLeaf);
  return program.branch(JUMP_GE, middle.from, upper, lower);
}
