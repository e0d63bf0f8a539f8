import type { TokenCounter } from '../../tokens/counter.ts';
import type { GraphNode } from '../graph/grow.ts';
import type { ChoiceCard } from './card.ts';
import { cardOf } from './make-card.ts';

/** Children that the card of a group names. */
const NAMED_MAX = 5;

/** A group leads to others: its id is the path to browse. `plural`: what it has. */
export function groupCard(node: GraphNode, counter: TokenCounter, plural = 'tools'): ChoiceCard {
  const names = [...node.children.keys()];
  const more = names.length > NAMED_MAX ? ', …' : '';
  return cardOf(
    {
      id: node.path,
      kind: 'internal',
      name: node.segment,
      description: `${node.items} ${plural}: ${names.slice(0, NAMED_MAX).join(', ')}${more}`,
      namespace: node.path.split('/')[1] ?? '',
      tags: [],
    },
    counter,
  );
}
