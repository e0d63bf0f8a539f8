import { contains } from '../exact/char-set.ts';
import { parseGo } from '../exact/go-syntax.ts';
import { childrenOf, type GoNode, GoSyntaxError } from '../exact/go-tree.ts';
import { lowerCase } from '../exact/keyword-index.ts';

/** A set with more characters is an alphabet; fewer are the kinds of a token, as in `xox[abpr]-`. */
const MOST_FIXED = 14;

/**
 * The keywords of a rule with which its value begins, letter by letter, such as the prefix of a provider. A keyword that
 * stands only before the value, such as `password`, says nothing of a value that begins with it: `password1`.
 */
export function markWords(regex: string, keywords: readonly string[]): string[] {
  const tree = parsed(regex);
  if (tree === null) return [...keywords];
  const groups = groupsOf(tree);
  const values = groups.length === 0 ? [tree] : groups;
  return keywords.filter((keyword) => values.some((value) => canBegin(value, lowerCase(keyword))));
}

/** Null for a pattern that Go refuses; compiling it names the rule. */
function parsed(regex: string): GoNode | null {
  try {
    return parseGo(regex);
  } catch (thrown) {
    if (thrown instanceof GoSyntaxError) return null;
    throw thrown;
  }
}

function groupsOf(node: GoNode): GoNode[] {
  return node.kind === 'group' ? [node.of] : childrenOf(node).flatMap(groupsOf);
}

function canBegin(node: GoNode, word: string): boolean {
  return after(node, word, new Set([0])).has(word.length);
}

/** How much of a word may be read once a part of a pattern matched, from each of some positions. */
function after(node: GoNode, word: string, from: ReadonlySet<number>): Set<number> {
  switch (node.kind) {
    case 'assertion':
      return new Set(from);
    case 'group':
      return after(node.of, word, from);
    case 'chars':
      return new Set([...from].flatMap((at) => next(node, word, at)));
    case 'choice':
      return new Set(node.options.flatMap((option) => [...after(option, word, from)]));
    case 'sequence':
      return node.parts.reduce((at, part) => after(part, word, at), new Set(from));
    case 'repeat': {
      const reached = new Set(node.min === 0 ? from : []);
      let at = new Set(from);
      for (let turn = 1; turn <= Math.min(node.max, node.min + word.length) && at.size > 0; turn++) {
        at = after(node.of, word, at);
        if (turn >= node.min) for (const position of at) reached.add(position);
      }
      return reached;
    }
  }
}

function next({ set, isKnown }: GoNode & { kind: 'chars' }, word: string, at: number): number[] {
  if (at === word.length) return [at];
  const letter = word[at] ?? '';
  const size = set.reduce((sum, bound, index) => sum + (index % 2 === 0 ? -bound : bound + 1), 0);
  const isFixed = isKnown && size <= MOST_FIXED;
  const isLetter = [letter, letter.toUpperCase()].some((one) => contains(set, one.charCodeAt(0)));
  return isFixed && isLetter ? [at + 1] : [];
}
