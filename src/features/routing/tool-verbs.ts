import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { CatalogTool } from '../../catalog/catalog.ts';
import { ContextdError, ERROR_TABLE } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { shellNameOf, toolOfShellName } from '../../core/shell-names.ts';
import { createSeenCards, type SeenCards } from '../../gateway/cards/cache-stable.ts';
import { type ChoiceCard, cardJson } from '../../gateway/cards/card.ts';
import { groupCard } from '../../gateway/cards/group-card.ts';
import { byScore } from '../../gateway/cards/order.ts';
import { renderCards } from '../../gateway/cards/render.ts';
import type { RouteOptions } from '../../gateway/router/router.ts';
import { validateSelection } from '../../gateway/selection.ts';
import { type ToolOutput, toFailure } from '../../protocol/tool-output.ts';
import type { HostVerb } from '../../runner/host-backend.ts';
import type { ToolCall } from '../../runner/runner.ts';
import { readOptionalInteger, readOptionalString, readString } from '../../sdk/input.ts';
import { oneLine } from '../../text/one-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { ToolCatalogue, ToolCatalogues, ToolEntry } from './tool-catalogues.ts';
import type { ToolHabits } from './tool-habits.ts';
import type { ToolMeanings } from './tool-meanings.ts';

export interface ToolVerbDeps {
  catalogues: Pick<ToolCatalogues, 'of'>;
  counter: TokenCounter;
  /** Whether cards that a session has seen come first and stay as they were (gateway surface §5). */
  isCacheStable: boolean;
  /** Null: words alone decide. */
  meanings: Pick<ToolMeanings, 'of'> | null;
  /** Learns what is executed after a browse. */
  habits: Pick<ToolHabits, 'offered'>;
}

const TOP_K = 5;
/** Sessions whose seen cards are kept. A session that is forgotten begins with the order of scores again. */
const SESSIONS_MAX = 256;
/** Characters of an error that a model reads (gateway surface §3.4). */
const MESSAGE_MAX_CHARS = 300;

/**
 * The two verbs with which an agent finds tools.
 * `tool_browse`: `{query?, path?, top_k?}`, exactly one of the first two → `{cards}`, in words `{text}`.
 * `tool_hydrate`: `{tool_id}`, an id or a name → `{tool_id, name, call, schema, tool_md}`, in words `{text}`.
 * A failure is data in the shape of gateway surface §3.4 beside the usual one: ARGS_INVALID, PATH_INVALID, PATH_NOT_FOUND,
 * HYDRATE_FAILED.
 */
export function createToolVerbs(deps: ToolVerbDeps): Record<'tool_browse' | 'tool_hydrate', HostVerb> {
  const sessions = new SeenBySession();
  return {
    tool_browse: (call) => answered(call, 'path', () => browse(call, deps, sessions)),
    tool_hydrate: (call) => answered(call, 'tool_id', () => hydrate(call, deps, sessions)),
  };
}

async function browse(call: ToolCall, deps: ToolVerbDeps, sessions: SeenBySession): Promise<ToolOutput> {
  const query = readOptionalString(call.input, 'query');
  const path = readOptionalString(call.input, 'path');
  const topK = readOptionalInteger(call.input, 'top_k');
  if ((query === undefined) === (path === undefined)) {
    throw new ContextdError(
      'ARGS_INVALID',
      `tool_browse takes either query or path, not ${query === undefined ? 'neither' : 'both'}`,
      {
        remedy: "Say what you want to do, `tool_browse 'run a command'`, or look around: `tool_browse --path /`.",
      },
    );
  }
  const catalogue = await deps.catalogues.of(call.session.project);
  const { project } = call.session;
  const meaning = query === undefined ? undefined : await deps.meanings?.of(project, query, catalogue.items);
  const ranked =
    query === undefined
      ? atPath(path ?? '/', catalogue, deps)
      : fitting(query, { topK: topK ?? TOP_K, meaning }, catalogue);
  const cards = ranked.slice(0, topK ?? ranked.length);
  if (query !== undefined) deps.habits.offered(call.session, query, choicesIn(cards, catalogue));
  const shown = deps.isCacheStable ? sessions.of(call.session, catalogue).arrange(cards) : cards;
  if (call.form !== 'text') return { data: { cards: shown.map(cardJson) } };
  return { data: { text: shown.length > 0 ? renderCards(shown).trimEnd() : NOTHING_FITS } };
}

const NOTHING_FITS = 'No tool has a word of it. Use other words, or look around: `tool_browse --path /`.';

async function hydrate(call: ToolCall, deps: ToolVerbDeps, sessions: SeenBySession): Promise<ToolOutput> {
  const asked = readString(call.input, 'tool_id');
  const catalogue = await deps.catalogues.of(call.session.project);
  const { tool, schema, card } = entryOf(asked, catalogue);
  if (deps.isCacheStable) sessions.of(call.session, catalogue).add(card);
  const toolMd = tool.toolMd.trimEnd();
  const { name } = tool.manifest;
  if (call.form === 'text') return { data: { text: `${toolMd}\n\n${callOf(tool)} JSON: ${JSON.stringify(schema)}` } };
  return { data: { tool_id: card.id, name, call: callOf(tool), schema, tool_md: toolMd } };
}

/** What to type before the arguments of a tool. A tool of a server has no program of its own. */
function callOf({ manifest: { name }, program }: CatalogTool): string {
  return program.kind === 'upstream' ? `tool_execute ${name}` : shellNameOf(name);
}

function fitting(query: string, options: RouteOptions, { router, entries }: ToolCatalogue): ChoiceCard[] {
  return router
    .route(query, options)
    .flatMap(({ item, score }) => {
      const card = entries.get(item.id)?.card;
      return card === undefined ? [] : [{ ...card, score: Number(score.toPrecision(3)) }];
    })
    .sort(byScore);
}

/** The names of tools that may be what was searched for. To call a verb of the daemon is to search on. */
function choicesIn(cards: readonly ChoiceCard[], { entries }: ToolCatalogue): string[] {
  const manifests = cards.flatMap(({ id }) => entries.get(id)?.tool.manifest ?? []);
  return manifests.filter(({ isHost }) => !isHost).map(({ name }) => name);
}

function atPath(path: string, { graph, entries }: ToolCatalogue, { counter }: ToolVerbDeps): ChoiceCard[] {
  return graph
    .browse(path)
    .flatMap((node) => (node.item === null ? groupCard(node, counter) : (entries.get(node.item.id)?.card ?? [])));
}

/** By name, as it is called, or by id. A near miss is repaired only if it can mean one tool. */
function entryOf(asked: string, { entries, clientNames }: ToolCatalogue): ToolEntry {
  const listed = entries.get(clientNames.idOf(asked.trim()) ?? '');
  if (listed !== undefined) return listed;
  const name = toolOfShellName(asked.trim());
  const byName = new Map([...entries.values()].map((entry) => [entry.tool.manifest.name, entry]));
  for (const [wanted, known] of [
    [name, byName],
    [asked, entries],
  ] as const) {
    const selection = validateSelection(wanted, [...known.keys()]);
    const entry = selection.status === 'rejected' ? undefined : known.get(selection.id);
    if (entry !== undefined) return entry;
  }
  const near = nearestNames(name, [...byName.keys()]);
  throw new ContextdError('HYDRATE_FAILED', `no tool here has the id ${JSON.stringify(asked.slice(0, 100))}`, {
    remedy: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'Find it by what it does: `tool_browse`.',
  });
}

/** Turns an error of the caller into data of gateway surface §3.4. `subject`: the argument that the error is about. */
async function answered(call: ToolCall, subject: string, act: () => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await act();
  } catch (thrown) {
    if (!(thrown instanceof ContextdError) || ERROR_TABLE[thrown.code].retryable) throw thrown;
    const path = readOptionalString(call.input, subject) ?? '';
    const message = oneLine(thrown.message, MESSAGE_MAX_CHARS);
    const data: JsonObject = { error: thrown.code, message, path: oneLine(path, MESSAGE_MAX_CHARS) };
    return { data, failure: { ...toFailure(thrown), message } };
  }
}

/** The cards that sessions have seen, of their project's present catalogue. */
class SeenBySession {
  /** The session that was used last at the end. */
  readonly #sessions = new Map<string, { catalogue: ToolCatalogue; seen: SeenCards }>();

  of(session: SessionRef, catalogue: ToolCatalogue): SeenCards {
    const key = sessionKey(session);
    const known = this.#sessions.get(key);
    const current = known?.catalogue === catalogue ? known : { catalogue, seen: createSeenCards() };
    this.#sessions.delete(key);
    this.#sessions.set(key, current);
    for (const oldest of this.#sessions.keys()) if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(oldest);
    return current.seen;
  }
}
