import type { JsonObject } from '../../core/json.ts';
import { type ChoiceCard, cardJson } from '../../gateway/cards/card.ts';
import { groupCard } from '../../gateway/cards/group-card.ts';
import { cardOf } from '../../gateway/cards/make-card.ts';
import { renderCard } from '../../gateway/cards/render.ts';
import { loadCounter, type TokenCounter } from '../../tokens/counter.ts';
import { defineCommand } from '../command.ts';
import { graphOf, type RoutedTools, readTools, routerOf, TOOLS_OPTIONS } from '../route/tools.ts';

const TOP_K = 5;
const TOP_K_MAX = 1_000;

/** What an agent sees that calls tool_browse, in the order of the scores. */
export const routeBrowse = defineCommand<readonly ChoiceCard[]>({
  name: ['route', 'browse'],
  summary: 'See the cards that an agent is shown for a query or a path.',
  parameters: [{ syntax: '[query]', help: 'what the tool should do, or a path such as /contextd (default: /)' }],
  options: [
    ...TOOLS_OPTIONS,
    { syntax: '--top-k <count>', help: `cards at most (default ${TOP_K} for a query, all for a path)` },
  ],
  async run(context, args) {
    const asked = args.word(0) ?? '/';
    const isPath = asked.startsWith('/');
    const topK = args.count('top-k', isPath ? TOP_K_MAX : TOP_K, TOP_K_MAX);
    const tools = await readTools(context, args);
    const counter = loadCounter();
    return (isPath ? atPath(asked, tools, counter) : fitting(asked, topK, tools, counter)).slice(0, topK);
  },
  view: (cards) => ({
    kind: 'lines',
    lines: cards.length > 0 ? cards.map(renderCard) : ['No tool has a word of it. See all: ctxd route print-tree'],
  }),
  bare: (cards) => JSON.stringify({ cards: cards.map(cardJson) } satisfies JsonObject),
});

function fitting(query: string, topK: number, tools: RoutedTools, counter: TokenCounter): ChoiceCard[] {
  return routerOf(tools)
    .route(query, { topK })
    .map(({ item, score }) => cardOf(item, counter, Number(score.toPrecision(3))));
}

function atPath(path: string, tools: RoutedTools, counter: TokenCounter): ChoiceCard[] {
  return graphOf(tools)
    .browse(path)
    .map((node) => (node.item === null ? groupCard(node, counter) : cardOf(node.item, counter)));
}
