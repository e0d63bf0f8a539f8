import type { TokenCounter } from '../../tokens/counter.ts';
import type { GraphNode } from '../graph/grow.ts';
import type { ChoiceCard } from './card.ts';
import { cardOf } from './make-card.ts';

/** Children that the card of a group names. */
const NAMED_MAX = 5;

/**
 * A group leads to others: its id is the path to browse. It names as many children as fit, each by its whole path: the last segment alone
 * reads like a tool, also where it is a group. `plural`: what it has.
 */
export function groupCard(node: GraphNode, counter: TokenCounter, plural = 'tools'): ChoiceCard {
  const paths = [...node.children.values()].map(({ path }) => path);
  for (let named = Math.min(NAMED_MAX, paths.length); ; named -= 1) {
    const description = `${node.items} ${plural}${listOf(paths, named)}`;
    const card = cardOf(
      {
        id: node.path,
        kind: 'internal',
        name: node.segment,
        description,
        namespace: node.path.split('/')[1] ?? '',
        tags: [],
      },
      counter,
    );
    if (card.description === description || named === 0) return card;
  }
}

function listOf(paths: readonly string[], named: number): string {
  if (named === 0) return '';
  return `: ${paths.slice(0, named).join(', ')}${paths.length > named ? ', …' : ''}`;
}
