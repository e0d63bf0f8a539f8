import { ContextdError } from '../../core/errors.ts';
import { type Routed, Router } from '../../gateway/router/router.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { readChunks } from '../input.ts';
import { printable, write } from '../render.ts';
import { readCatalog } from '../route/catalog-file.ts';
import { readQueries } from '../route/queries.ts';
import { reasonLine, type Why, whyOf } from '../route/reasons.ts';

/** What is found for one query, as `--json` prints it. */
interface Answer {
  query: string;
  /** Best first. Copies of a listed tool come after all others, if there is room. */
  ids: string[];
  ms: number;
  /** By listed id: tools that say nearly the same. */
  duplicates?: Record<string, string[]>;
  why?: Why[];
}

interface Choice {
  topK: number;
  explain: boolean;
}

const TOP_K = 10;
const TOP_K_MAX = 1_000;

/** Needs no daemon, and answers any number of queries in one process. */
export const routeSearch = defineCommand<Answer | null>({
  name: ['route', 'search'],
  summary: 'Find the tools of a catalogue that fit a query. Needs no daemon.',
  parameters: [{ syntax: '[query]', help: 'what the tool should do' }],
  options: [
    {
      syntax: '--catalog <file>',
      help: 'a file of tools: lines {"name","id"?,"description"?,"inputSchema"?,"namespace"?,"tags"?}, or {"tools": […]}; also packed by gzip',
    },
    { syntax: '--stdin', help: 'read queries from standard input, one a line (or {"query"}), and answer one a line' },
    { syntax: '--top-k <count>', help: `tools for each query at most (default ${TOP_K})` },
    { syntax: '--explain', help: 'say which words in which fields made the score of each tool' },
  ],
  async run(context, args) {
    const file = args.text('catalog');
    const query = args.word(0);
    if (file === undefined) throw usage('no catalogue was named', 'Pass one with --catalog FILE.');
    if (args.flag('stdin') === (query !== undefined))
      throw usage('either a query or --stdin is needed', 'Pass a query in quotes, or --stdin and queries as lines.');
    const choice = { topK: args.count('top-k', TOP_K, TOP_K_MAX), explain: args.flag('explain') };
    const router = new Router(await readCatalog(file, context));
    if (query !== undefined) return search(router, query, choice);
    await answerLines(context, args, router, choice);
    return null;
  },
  view: (answer) => ({ kind: 'lines', lines: answer === null ? [] : linesOf(answer) }),
  bare: (answer) => (answer === null ? '' : JSON.stringify(answer)),
});

async function answerLines(context: CliContext, args: ParsedArgs, router: Router, choice: Choice): Promise<void> {
  for await (const query of readQueries(readChunks(undefined, context))) {
    const answer = search(router, query, choice);
    const lines = args.flag('json') ? [JSON.stringify(answer)] : [`# ${query}`, ...linesOf(answer)].map(printable);
    await write(context.stdout, lines.map((line) => `${line}\n`).join(''));
  }
}

function search(router: Router, query: string, { topK, explain }: Choice): Answer {
  const start = performance.now();
  const found = router.route(query, { topK });
  const ms = Math.round((performance.now() - start) * 1_000) / 1_000;
  const copies = found.filter(({ duplicates }) => duplicates.length > 0);
  return {
    query,
    ids: idsOf(found, topK),
    ms,
    ...(copies.length === 0
      ? {}
      : { duplicates: Object.fromEntries(copies.map((one) => [one.item.id, one.duplicates.map(({ id }) => id)])) }),
    ...(explain ? { why: found.flatMap(({ item }) => whyOf(router.explain(query, item.id))) } : {}),
  };
}

function idsOf(found: readonly Routed[], topK: number): string[] {
  const listed = found.map(({ item }) => item.id);
  const copies = found.flatMap(({ duplicates }) => duplicates.map(({ id }) => id));
  return [...listed, ...copies].slice(0, topK);
}

function linesOf({ ids, duplicates = {}, why = [] }: Answer): string[] {
  // An id may be `constructor`.
  const copiesOf = new Map(Object.entries(duplicates));
  return ids.flatMap((id) => {
    const copies = copiesOf.get(id) ?? [];
    const reasons = why.filter((one) => one.id === id).flatMap(({ words }) => words.map(reasonLine));
    return [copies.length === 0 ? id : `${id} (also ${copies.join(', ')})`, ...reasons];
  });
}

function usage(what: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', what, { remedy });
}
