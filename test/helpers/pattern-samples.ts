import { parseGo } from '#src/scrub/exact/go-syntax.js';
import type { GoNode } from '#src/scrub/exact/go-tree.js';

/** How many more than the minimum a repetition without a small limit gives. */
const MORE_TURNS = 4;

/** Makes a text that probably matches a pattern in Go's syntax, or a part of one: assertions are ignored. Mostly printable ASCII. */
export function sampleOf(pattern: string | GoNode, random: () => number): string {
  return sample(typeof pattern === 'string' ? parseGo(pattern) : pattern, random);
}

function sample(node: GoNode, random: () => number): string {
  switch (node.kind) {
    case 'chars':
      return sampleChar(node.set, random);
    case 'assertion':
      return '';
    case 'sequence':
      return node.parts.map((part) => sample(part, random)).join('');
    case 'choice':
      return sample(node.options[Math.floor(random() * node.options.length)] ?? node, random);
    case 'repeat': {
      const turns = node.min + Math.floor(random() * (Math.min(node.max - node.min, MORE_TURNS) + 1));
      return Array.from({ length: turns }, () => sample(node.of, random)).join('');
    }
    case 'group':
      return sample(node.of, random);
  }
}

/** `set`: pairs of first and last code points. */
function sampleChar(set: readonly number[], random: () => number): string {
  const printable: number[] = [];
  for (let i = 0; i < set.length; i += 2)
    for (let code = Math.max(set[i] ?? 0, 0x20); code <= Math.min(set[i + 1] ?? 0, 0x7e); code++) printable.push(code);
  const known = printable.length > 0 ? printable : [set[0] ?? 0];
  return String.fromCodePoint(known[Math.floor(random() * known.length)] ?? 0x20);
}
