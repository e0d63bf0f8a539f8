import { MetaSchemas } from '../../catalog/server-arguments.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { cardOf } from '../../gateway/cards/make-card.ts';
import { cardTokens } from '../../gateway/cards/render.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { foreignLine, quotedForeign } from '../../text/foreign-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';

/** Sums of tools. Tokens are cl100k. */
interface Sums {
  tools: number;
  /** Of name, description and schema, as a list of all tools would show them. */
  definition_tokens: number;
  /** Of the cards that agents are shown instead. */
  card_tokens: number;
  schema_faults: number;
}

export interface InspectedTool {
  id: string;
  definition_tokens: number;
  /** 0 for a tool that no card can show. */
  card_tokens: number;
  /** What its author says of it and no rule reads: `read-only` or `destructive`; '' for nothing. */
  unverified: string;
  /** Why its schema or its card cannot be used; '' if both can. */
  fault: string;
}

/** What can be said of a catalogue without starting a server, and without the texts of its tools. */
export interface CatalogueReport extends Sums {
  /** By name: each MCP server, or a group of other tools. */
  servers: ({ name: string } & Sums)[];
  /** Tools of the same name. */
  duplicates: { name: string; ids: string[] }[];
  inspected: InspectedTool[];
}

export function inspectCatalogue(items: readonly CatalogItem[], counter: TokenCounter): CatalogueReport {
  const metaSchemas = new MetaSchemas();
  const tools = items.map((item) => ({ item, found: inspectTool(item, metaSchemas, counter) }));
  const byServer = grouped(tools, ({ item }) => item.namespace);
  const byName = grouped(items, ({ name }) => name.toLowerCase());
  return {
    ...sumsOf(tools.map(({ found }) => found)),
    servers: Array.from(byServer, ([name, own]) => ({
      name: shownName(name),
      ...sumsOf(own.map(({ found }) => found)),
    })),
    duplicates: Array.from(byName.values()).flatMap((same) =>
      same.length < 2 ? [] : [{ name: shownName(same[0]?.name ?? ''), ids: same.map(({ id }) => shownName(id)) }],
    ),
    inspected: tools.map(({ found }) => found),
  };
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function inspectTool(item: CatalogItem, metaSchemas: MetaSchemas, counter: TokenCounter): InspectedTool {
  const { id, name, description, inputSchema = {} } = item;
  const schemaFault = faultOf(() => (isJsonObject(inputSchema) ? metaSchemas.faultOf(inputSchema) : null));
  let found = { card_tokens: 0, unverified: '' };
  const cardFault = faultOf(() => {
    const card = cardOf(item, counter);
    found = { card_tokens: cardTokens(card, counter), unverified: card.safety.replace('_', '-') };
    return null;
  });
  return {
    id: shownName(id),
    definition_tokens: counter.count(JSON.stringify({ name, description, inputSchema })),
    ...found,
    fault: foreignLine(schemaFault ?? cardFault ?? ''),
  };
}

function faultOf(check: () => string | null): string | null {
  try {
    return check();
  } catch (thrown) {
    return ContextdError.from(thrown).message;
  }
}

function sumsOf(tools: readonly InspectedTool[]): Sums {
  const sum = (of: (tool: InspectedTool) => number): number => tools.reduce((total, tool) => total + of(tool), 0);
  return {
    tools: tools.length,
    definition_tokens: sum((tool) => tool.definition_tokens),
    card_tokens: sum((tool) => tool.card_tokens),
    schema_faults: sum(({ fault }) => (fault === '' ? 0 : 1)),
  };
}

/** Characters of a name that is no id, and so may be as long as its author likes. */
const NAME_MAX_CHARS = 80;
/** What ids and names of servers are made of. */
const PLAIN = /^[\w.:@#~%/-]*$/;

/** Any other text could be read as more of the line or the row in which it stands, or as another name. */
function shownName(text: string): string {
  return PLAIN.test(text) && text.length <= NAME_MAX_CHARS ? text : quotedForeign(text, NAME_MAX_CHARS);
}
