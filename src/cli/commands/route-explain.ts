import { defineCommand } from '../command.ts';
import { reasonLine, type Why, whyOf } from '../route/reasons.ts';
import { readTools, routerOf, TOOLS_OPTIONS, toolNamed } from '../route/tools.ts';

interface Explained {
  query: string;
  /** Best first. A tool that was asked for and shares no word with the query has the score 0 and the place 0. */
  why: Why[];
}

const TOP_K = 5;
const TOP_K_MAX = 1_000;

export const routeExplain = defineCommand<Explained>({
  name: ['route', 'explain'],
  summary: 'See why tools have their scores for a query: words, fields, and earlier use.',
  parameters: [
    { syntax: '<query>', help: 'what the tool should do' },
    { syntax: '[tool]', help: 'the name or id of one tool (default: the best ones)' },
  ],
  options: [...TOOLS_OPTIONS, { syntax: '--top-k <count>', help: `tools at most, without [tool] (default ${TOP_K})` }],
  async run(context, args) {
    const query = args.requiredWord(0);
    const asked = args.word(1);
    const topK = args.count('top-k', TOP_K, TOP_K_MAX);
    const tools = await readTools(context, args);
    const router = routerOf(tools);
    if (asked === undefined)
      return { query, why: router.route(query, { topK }).flatMap(({ item }) => whyOf(router.explain(query, item.id))) };
    const { id } = toolNamed(asked, tools);
    const [why = unrelated(id)] = whyOf(router.explain(query, id));
    return { query, why: [why] };
  },
  view: ({ why }) => ({
    kind: 'lines',
    lines: why.length > 0 ? why.flatMap(linesOf) : ['No tool has a word of it. See all: ctxd route print-tree'],
  }),
});

function unrelated(id: string): Why {
  return { id, score: 0, place: 0, words: [], clauses: 0, prior: 1 };
}

function linesOf({ id, score, place, words, clauses, prior }: Why): string[] {
  if (place === 0) return [`${id}: shares no word with the query`];
  return [
    `${place}. ${id}  ${Number(score.toPrecision(3))}`,
    ...words.map(reasonLine),
    ...(clauses > 1 ? [`    the best of ${clauses} clauses counts too`] : []),
    ...(prior > 1 ? [`    × ${Number(prior.toPrecision(4))} for earlier use`] : []),
  ];
}
