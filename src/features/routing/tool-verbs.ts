import type { CatalogTool } from '../../catalog/catalog.ts';
import { ContextdError, ERROR_TABLE } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { shellNameOf, toolOfShellName } from '../../core/shell-names.ts';
import type { ChoiceCard } from '../../gateway/cards/card.ts';
import { idsLike } from '../../gateway/ids/near-ids.ts';
import { validateSelection } from '../../gateway/selection.ts';
import { type ToolOutput, toFailure } from '../../protocol/tool-output.ts';
import type { HostVerb } from '../../runner/host-backend.ts';
import type { ToolCall } from '../../runner/runner.ts';
import { readOptionalString, readString } from '../../sdk/input.ts';
import { oneLine } from '../../text/one-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { browsed, cardsOutput } from './browse.ts';
import { SeenBySession } from './seen-by-session.ts';
import type { ToolCatalogue, ToolCatalogues, ToolEntry } from './tool-catalogues.ts';
import type { ToolHabits } from './tool-habits.ts';
import type { ToolMeanings } from './tool-meanings.ts';
import { waitingFault } from './waiting-tools.ts';

export interface ToolVerbDeps {
  catalogues: Pick<ToolCatalogues, 'of' | 'notStarted'>;
  counter: TokenCounter;
  /** Whether cards that a session has seen come first and stay as they were (gateway surface §5). */
  isCacheStable: boolean;
  /** Null: words alone decide. */
  meanings: Pick<ToolMeanings, 'of'> | null;
  /** Learns what is executed after a browse. */
  habits: Pick<ToolHabits, 'offered'>;
}

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

const WORDS = {
  plural: 'tools',
  example: "Say what you want to do, `tool_browse 'run a command'`, or look around: `tool_browse --path /`.",
};

async function browse(call: ToolCall, deps: ToolVerbDeps, sessions: SeenBySession): Promise<ToolOutput> {
  const catalogue = await deps.catalogues.of(call.session.project);
  const { project } = call.session;
  const meaningOf = async (text: string) => deps.meanings?.of(project, text, catalogue.items);
  const { query, cards } = await browsed(call, catalogue, { ...WORDS, meaningOf }, deps.counter);
  if (query !== undefined) deps.habits.offered(call.session, query, choicesIn(cards, catalogue));
  return cardsOutput(
    call,
    deps.isCacheStable ? sessions.of(call.session, catalogue).arrange(cards) : cards,
    NOTHING_FITS,
  );
}

const NOTHING_FITS = 'No tool has a word of it. Use other words, or look around: `tool_browse --path /`.';

async function hydrate(call: ToolCall, deps: ToolVerbDeps, sessions: SeenBySession): Promise<ToolOutput> {
  const asked = readString(call.input, 'tool_id');
  const catalogue = await deps.catalogues.of(call.session.project);
  const { tool, schema, card } = entryOf(asked, catalogue, () =>
    deps.catalogues.notStarted(call.session.project, asked.trim()),
  );
  if (deps.isCacheStable) sessions.of(call.session, catalogue).add(card);
  const toolMd = tool.toolMd.trimEnd();
  const { name } = tool.manifest;
  if (call.form === 'text')
    return { data: { text: `${inWords(toolMd, tool, call)}\n\n${howToCall(tool, call)}: ${JSON.stringify(schema)}` } };
  return { data: { tool_id: card.id, name, call: callOf(tool), schema, tool_md: toolMd } };
}

/** The document of a server's tool is the server's own. */
function inWords(toolMd: string, { origin }: CatalogTool, { words }: ToolCall): string {
  return words == null || origin !== 'core' ? toolMd : words.advice(toolMd);
}

function howToCall(tool: CatalogTool, { words }: ToolCall): string {
  if (words == null) return `${callOf(tool)} JSON`;
  return `${words.call(tool.manifest.name, {})}, with these arguments`;
}

/** What to type before the arguments of a tool. A tool of a server has no program of its own. */
function callOf({ manifest: { name }, program }: CatalogTool): string {
  return program.kind === 'upstream' ? `tool_execute ${name}` : shellNameOf(name);
}

/** The names of tools that may be what was searched for. To call a verb of the daemon is to search on. */
function choicesIn(cards: readonly ChoiceCard[], { entries }: ToolCatalogue): string[] {
  const manifests = cards.flatMap(({ id }) => entries.get(id)?.tool.manifest ?? []);
  return manifests.filter(({ isHost }) => !isHost).map(({ name }) => name);
}

/** Ids that an error names. */
const NEAR_MAX = 3;

/** By name, as it is called, or by id. A near miss is repaired only if it can mean one tool. */
function entryOf(asked: string, catalogue: ToolCatalogue, notStarted: () => ContextdError | undefined): ToolEntry {
  const { items, entries, clientNames } = catalogue;
  const listed = entries.get(clientNames.idOf(asked.trim()) ?? '');
  if (listed !== undefined) return listed;
  const ofServer = entries.has(asked) ? undefined : (waitingFault(asked.trim(), catalogue) ?? notStarted());
  if (ofServer !== undefined) throw ofServer;
  const name = toolOfShellName(asked.trim());
  const byName = new Map<string, ToolEntry>();
  const seen = new Set<string>();
  for (const { id, name: own } of items) {
    const entry = entries.get(id);
    if (seen.has(own)) byName.delete(own);
    else if (entry !== undefined) byName.set(own, entry);
    seen.add(own);
  }
  for (const [wanted, known] of [
    [name, byName],
    [asked, entries],
  ] as const) {
    const selection = validateSelection(wanted, [...known.keys()]);
    const entry = selection.status === 'rejected' ? undefined : known.get(selection.id);
    if (entry !== undefined) return entry;
  }
  // An id belongs to a server, whose tools come first.
  const near = asked.includes(':')
    ? idsLike(asked.trim(), [...entries.keys()]).slice(0, NEAR_MAX)
    : nearestNames(name, [...byName.keys()]);
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
