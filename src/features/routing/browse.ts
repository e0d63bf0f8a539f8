import { ContextdError } from '../../core/errors.ts';
import { type ChoiceCard, cardJson } from '../../gateway/cards/card.ts';
import { groupCard } from '../../gateway/cards/group-card.ts';
import { byScore } from '../../gateway/cards/order.ts';
import { renderCards } from '../../gateway/cards/render.ts';
import type { ChoiceGraph } from '../../gateway/graph/choice-graph.ts';
import type { Meaning } from '../../gateway/router/meaning.ts';
import type { RouteOptions, Router } from '../../gateway/router/router.ts';
import type { ToolOutput } from '../../protocol/tool-output.ts';
import type { ToolCall } from '../../runner/runner.ts';
import { readOptionalInteger, readOptionalString } from '../../sdk/input.ts';
import type { TokenCounter } from '../../tokens/counter.ts';

/** A catalogue that can be searched and browsed. */
export interface Browsable {
  readonly router: Router;
  readonly graph: ChoiceGraph;
  readonly entries: ReadonlyMap<string, { readonly card: ChoiceCard }>;
}

/** How a verb that browses speaks of what it finds. */
export interface BrowseWords {
  /** What a group of its catalogue has. */
  readonly plural: string;
  /** A sentence that shows both ways to call it. */
  readonly example: string;
  /** What a model says of the catalogue for a query. Default: words alone decide. */
  meaningOf?(query: string): Promise<Meaning | undefined>;
}

const TOP_K = 5;

/** The cards for `{query}` or `{path}`, of which exactly one must be there. Throws ARGS_INVALID, PATH_INVALID and PATH_NOT_FOUND. */
export async function browsed(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  catalogue: Browsable,
  words: BrowseWords,
  counter: TokenCounter,
): Promise<{ query: string | undefined; cards: ChoiceCard[] }> {
  const query = readOptionalString(input, 'query');
  const path = readOptionalString(input, 'path');
  const topK = readOptionalInteger(input, 'top_k');
  if ((query === undefined) === (path === undefined)) {
    const needs = query === undefined ? 'needs a query or a path' : 'takes a query or a path, not both';
    throw new ContextdError('ARGS_INVALID', `${tool} ${needs}`, {
      remedy: words.example,
    });
  }
  const meaning = query === undefined ? undefined : await words.meaningOf?.(query);
  const ranked =
    query === undefined
      ? atPath(path ?? '/', catalogue, words, counter)
      : fitting(query, { topK: topK ?? TOP_K, meaning }, catalogue);
  return { query, cards: ranked.slice(0, topK ?? ranked.length) };
}

/** `nothing`: what is said in words if there is no card. */
export function cardsOutput(
  { form, words }: Pick<ToolCall, 'form' | 'words'>,
  cards: readonly ChoiceCard[],
  nothing: string,
): ToolOutput {
  if (form !== 'text') return { data: { cards: cards.map(cardJson) } };
  return { data: { text: cards.length > 0 ? renderCards(cards).trimEnd() : (words?.advice(nothing) ?? nothing) } };
}

function fitting(query: string, options: RouteOptions, { router, entries }: Browsable): ChoiceCard[] {
  return router
    .route(query, options)
    .flatMap(({ item, score }) => {
      const card = entries.get(item.id)?.card;
      return card === undefined ? [] : [{ ...card, score: Number(score.toPrecision(3)) }];
    })
    .sort(byScore);
}

function atPath(
  path: string,
  { graph, entries }: Browsable,
  { plural }: BrowseWords,
  counter: TokenCounter,
): ChoiceCard[] {
  return graph
    .browse(path)
    .flatMap((node) =>
      node.item === null ? groupCard(node, counter, plural) : (entries.get(node.item.id)?.card ?? []),
    );
}
