import type { SessionRef } from '../../call/session.ts';
import type { GatewaySettings } from '../../config/gateway-schema.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ToolOutput } from '../../protocol/tool-output.ts';
import type { HostVerb } from '../../runner/host-backend.ts';
import type { ToolCall } from '../../runner/runner.ts';
import { readString } from '../../sdk/input.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { UpstreamServers } from '../../upstream/contract.ts';
import type { KeptPart } from '../execution/keep-part.ts';
import { attempted } from '../execution/retry.ts';
import { shortened } from '../execution/server-backend.ts';
import type { Keeping } from '../execution/server-output.ts';
import { type BrowseWords, browsed, cardsOutput } from '../routing/browse.ts';
import { SeenBySession } from '../routing/seen-by-session.ts';
import { checkedTexts } from './declared.ts';
import type { PrimitiveCatalogue, PrimitiveCatalogues } from './primitive-catalogues.ts';
import { promptOutput, resourceOutput } from './read-output.ts';
import { didYouMean, idOf, quoted, targetOf } from './resource-target.ts';

export interface PrimitiveVerbDeps {
  catalogues: Pick<PrimitiveCatalogues, 'of'>;
  servers: Pick<UpstreamServers, 'read' | 'getPrompt'>;
  config: Pick<GatewaySettings, 'retry' | 'cache_stable'>;
  /** Stores a part of an answer as an artifact of the session, scrubbed, and returns its id. */
  keep(call: { session: SessionRef; requestId: string; tool: string }, part: KeptPart): Promise<string>;
  counter: TokenCounter;
  clock: Clock;
  timer: Timer;
  /** Between 0 and 1. */
  random(): number;
}

type Verb = 'resource_browse' | 'resource_read' | 'prompt_browse' | 'prompt_get';

const RESOURCE_WORDS: BrowseWords = {
  plural: 'resources',
  example: "Say what you look for, `resource_browse 'release notes'`, or look around: `resource_browse --path /`.",
};

const PROMPT_WORDS: BrowseWords = {
  plural: 'prompts',
  example: "Say what you want to do, `prompt_browse 'review a change'`, or look around: `prompt_browse --path /`.",
};

/**
 * The four verbs for resources and prompts of MCP servers (gateway surface §9.4). Throwing is answered in the shape of §3.4 by
 * dispatch: ARGS_INVALID, PATH_INVALID, PATH_NOT_FOUND, RESOURCE_NOT_FOUND, PROMPT_NOT_FOUND, and what servers fail with.
 */
export function createPrimitiveVerbs(deps: PrimitiveVerbDeps): Record<Verb, HostVerb> {
  const browser = (kind: 'resources' | 'prompts', words: BrowseWords): HostVerb => {
    const sessions = new SeenBySession();
    return async (call) => {
      const catalogue: PrimitiveCatalogue<object> = (await deps.catalogues.of(call.session.project))[kind];
      const { cards } = await browsed(call, catalogue, words, deps.counter);
      const shown = deps.config.cache_stable ? sessions.of(call.session, catalogue).arrange(cards) : cards;
      return cardsOutput(call, shown, nothingFits(call.tool, words, catalogue));
    };
  };
  return {
    resource_browse: browser('resources', RESOURCE_WORDS),
    resource_read: (call) => readResource(call, deps),
    prompt_browse: browser('prompts', PROMPT_WORDS),
    prompt_get: (call) => getPrompt(call, deps),
  };
}

function nothingFits(verb: string, { plural }: BrowseWords, { entries }: PrimitiveCatalogue<object>): string {
  if (entries.size === 0) return `The MCP servers of this project have no ${plural}.`;
  return `None of the ${plural} has a word of it. Use other words, or look around: \`${verb} --path /\`.`;
}

async function readResource(call: ToolCall, deps: PrimitiveVerbDeps): Promise<ToolOutput> {
  const { id: asked, values } = selected(call.input, 'resource_id', 'variables');
  const { resource, uri } = targetOf(asked, values, await deps.catalogues.of(call.session.project));
  const result = await fetched(call, deps, (limits) =>
    deps.servers.read(call.session.project, { resource, uri, ...limits }),
  );
  const { data, ...output } = await resourceOutput(resource.id, result, keeping(call, deps));
  return { ...output, data: { resource_id: resource.id, ...data } };
}

async function getPrompt(call: ToolCall, deps: PrimitiveVerbDeps): Promise<ToolOutput> {
  const { id: asked, values } = selected(call.input, 'prompt_id', 'args');
  const { prompts } = await deps.catalogues.of(call.session.project);
  const entry = prompts.entries.get(idOf(asked, prompts.entries) ?? '');
  if (entry === undefined)
    throw new ContextdError('PROMPT_NOT_FOUND', `no prompt here has the id ${quoted(asked)}`, {
      remedy: didYouMean(asked, prompts.entries) ?? 'Find it by what it is for: `prompt_browse`.',
    });
  const { id } = entry.prompt;
  const args = checkedTexts(values, entry.declared, { id, key: 'args' });
  const result = await fetched(call, deps, (limits) =>
    deps.servers.getPrompt(call.session.project, { prompt: entry.prompt, args, ...limits }),
  );
  return promptOutput(id, result, keeping(call, deps));
}

function keeping(call: ToolCall, { keep }: PrimitiveVerbDeps): Keeping {
  return { keep: (part) => keep(call, part), signal: call.signal };
}

/** An id and an object of values: beside each other, or as words of a command line. Throws ARGS_INVALID. */
function selected(input: JsonObject, idKey: string, valuesKey: string): { id: string; values: Json | undefined } {
  const given = readString(input, idKey).trim();
  const values = input[valuesKey];
  const [, id, json = ''] = /^(\S+)\s+(\{[\s\S]*)$/.exec(given) ?? [];
  if (id === undefined || values !== undefined) return { id: given, values };
  try {
    const parsed: Json = JSON.parse(json);
    if (isJsonObject(parsed)) return { id, values: parsed };
  } catch {
    // Reported below.
  }
  throw new ContextdError('ARGS_INVALID', `the words behind the ${idKey} are not a JSON object`, {
    remedy: `Put them into single quotes, or pass them as --${valuesKey}.`,
  });
}

interface Limits {
  signal: AbortSignal;
  timeoutMs: number;
}

/** Asks a server, again after failures on the way if the settings allow it: reading changes nothing. */
async function fetched<T>(
  { signal, timeoutMs }: ToolCall,
  { clock, timer, random, config }: PrimitiveVerbDeps,
  ask: (limits: Limits) => Promise<T>,
): Promise<T> {
  const endsAt = clock.monotonic() + timeoutMs;
  const start = (): Promise<T> => ask({ signal, timeoutMs: Math.max(1, Math.ceil(endsAt - clock.monotonic())) });
  try {
    const work = { start, end() {}, signal, endsAt };
    return (await attempted(work, config.retry, { clock, timer, random })).value;
  } catch (thrown) {
    throw shortened(ContextdError.from(thrown));
  }
}
