import { createHash } from 'node:crypto';
import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import type { WarningCode } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { readOptionalInteger, readOptionalString, readString, readStringList } from '../../sdk/input.ts';
import { invalid, MEMORY_ID_PATTERN, MEMORY_LIMITS, outcomeOf, readDraft } from './item.ts';
import type { Memories, MemoryAuthor } from './memories.ts';
import { detailsInWords, detailsOf, referencesInWords, referencesOf, rounded } from './memory-answers.ts';
import type { Retrievals } from './retrievals.ts';
import type { MemoryFilter } from './rows.ts';
import { SEARCH_MAX } from './search.ts';
import { PROJECT_TAG_CHARS } from './statements.ts';

export interface MemoryServiceDeps {
  memories: Pick<Memories, 'search' | 'use' | 'store' | 'giveFeedback'>;
  retrievals: Pick<Retrievals, 'divide' | 'settle' | 'noteReads'>;
  /** Number of tokens of a text. */
  countTokens(text: string): number;
  clock: Clock;
}

const SEARCH_DEFAULT = 5;
/** An answer may have at most 16 texts. */
const READ_MAX = 12;
/** For agents, which cannot fix the server. `ctxd memory sync status` shows the cause. */
const STALE = 'the shared store did not answer; what others stored last may be missing';
const DAY_MS = 86_400_000;

/**
 * `MemorySearch`: `{query, limit?, tags?, outcome?, scope?, max_age_days?}` → `{memories: [{id, title, outcome,
 * confidence, from, age, contradicts?, description?}], left_out?, degraded?}`, best first, at most 340 tokens. A call in
 * words gets `text` in place of `memories`, with what others wrote quoted. Contents only through MemoryGet. Any
 * text is a valid query. Warns with
 * STALE_CACHE if the shared store did not answer, with FALLBACK_USED if the embedding model did not. Ids are in the refs of a core tool's answer. Memories
 * held out from the session are silently missing. Throws ARGS_INVALID.
 */
export async function searchMemories(
  session: SessionRef,
  request: JsonObject,
  { isCore, form }: Pick<ServiceCall, 'isCore' | 'form'>,
  { memories, retrievals, countTokens, clock }: MemoryServiceDeps,
  only: Pick<MemoryFilter, 'confirmedOnly'> = {},
): Promise<ServiceAnswer> {
  const limit = readOptionalInteger(request, 'limit') ?? SEARCH_DEFAULT;
  if (limit < 1 || limit > SEARCH_MAX) throw invalid('limit', `must be a whole number from 1 to ${SEARCH_MAX}`);
  const filter = { ...filterOf(request, clock.now()), ...only };
  const {
    memories: found,
    degraded,
    wordsOnly,
  } = await memories.search(session.project, {
    query: readString(request, 'query'),
    limit,
    filter,
  });
  const fitting = referencesOf(found, { countTokens, nowMs: clock.now() });
  const leftOut = found.length - fitting.length;
  // The outcome of the work is known only for searches by agents.
  const ids = isCore ? fitting.map(({ id }) => id) : [];
  const heldOut = await retrievals.divide(sessionTag(session), ids);
  const shown = fitting.filter(({ id }) => !heldOut.has(id));
  const references = shown.map(({ reference }) => reference);
  return {
    answer: {
      ...(isCore && form === 'text' ? { text: referencesInWords(references) } : { memories: references }),
      ...(leftOut === 0 ? {} : { left_out: leftOut }),
      ...(isCore ? {} : degradedIn(degraded, wordsOnly)),
    },
    warnings: warningsOf(degraded, wordsOnly),
    refs: isCore ? shown.map(({ id }) => id) : [],
  };
}

/** For the program of another tool, which does not see the warnings of its call. */
function degradedIn(shared: string | null, wordsOnly: string | null): JsonObject {
  const reasons = warningsOf(shared, wordsOnly).map(([, message]) => message);
  return reasons.length === 0 ? {} : { degraded: reasons.join('; ') };
}

function warningsOf(shared: string | null, wordsOnly: string | null): (readonly [WarningCode, string])[] {
  return [
    ...(shared === null ? [] : [['STALE_CACHE', STALE] as const]),
    ...(wordsOnly === null
      ? []
      : [['FALLBACK_USED', `searched by words only: ${wordsOnly.slice(0, WHY_MAX_CHARS)}`] as const]),
  ];
}

/** Maximum number of characters of the reason for a search by words only. */
const WHY_MAX_CHARS = 160;

/**
 * `MemoryGet`: `{ids}`, at most 12 → `{memories: [...]}` with all details. A call in words gets `text` too, and all that others
 * wrote is quoted. Throws NOT_FOUND.
 */
export async function getMemories(
  session: SessionRef,
  request: JsonObject,
  { isCore, form }: Pick<ServiceCall, 'isCore' | 'form'>,
  { memories, retrievals, clock }: MemoryServiceDeps,
): Promise<ServiceAnswer> {
  const ids = [...new Set(readStringList(request, 'ids'))];
  if (ids.length === 0 || ids.length > READ_MAX) throw invalid('ids', `must name 1 to ${READ_MAX} memories`);
  for (const id of ids) checkId(id);
  const used = await memories.use(session.project, ids);
  await retrievals.noteReads(sessionTag(session), ids);
  const details = used.map((memory) => detailsOf(memory, clock.now()));
  return { answer: isCore && form === 'text' ? detailsInWords(details) : { memories: details } };
}

/**
 * `MemoryStore`: `{title, content, description?, tags?, outcome?, task?, context?, replaces?}` → `{id, state, contradicts?,
 * replaces?, replaced_by?}`. `replaces`: an id or several. The memory belongs to the project of the call, and to the tool if that is an installed one. Throws ARGS_INVALID.
 */
export async function storeMemory(
  session: SessionRef,
  request: JsonObject,
  call: ServiceCall,
  { memories, retrievals }: MemoryServiceDeps,
): Promise<ServiceAnswer> {
  const { replaces, ...fields } = request;
  const draft = readDraft(fields);
  const older = replacesOf(replaces);
  const stored = await memories.store(session.project, draft, authorOf(call), older);
  if (call.isCore) await retrievals.settle(sessionTag(session), draft.outcome);
  const { state, id, contradicts, replacedBy } = stored;
  const links: JsonObject = {
    ...(contradicts.length === 0 ? {} : { contradicts: [...contradicts] }),
    ...(older.length === 0 ? {} : { replaces: older }),
    // The same words as a lesson that does not hold any more.
    ...(replacedBy === undefined || older.includes(replacedBy) ? {} : { replaced_by: replacedBy }),
  };
  return { answer: { id, state, ...links } };
}

/** `MemoryFeedback`: `{id, outcome, note?}` → `{id, confidence, quarantined?}`. Throws ARGS_INVALID, NOT_FOUND. */
export async function rateMemory(
  session: SessionRef,
  request: JsonObject,
  { requestId }: ServiceCall,
  { memories, retrievals }: MemoryServiceDeps,
): Promise<ServiceAnswer> {
  const id = checkId(readString(request, 'id'));
  const outcome = outcomeOf(request.outcome);
  const note = readOptionalString(request, 'note') ?? '';
  if (note.length > NOTE_MAX_CHARS) throw invalid('note', `has ${note.length} characters of at most ${NOTE_MAX_CHARS}`);
  const evidence = { session: sessionTag(session), requestId };
  const memory = await memories.giveFeedback(session.project, { id, outcome, note }, evidence);
  await retrievals.settle(evidence.session, outcome);
  return {
    answer: { id, confidence: rounded(memory.confidence), ...(memory.isQuarantined ? { quarantined: true } : {}) },
  };
}

export const NOTE_MAX_CHARS = 2_000;

/** The ids of older memories: one, a list, or none. Throws ARGS_INVALID. */
export function replacesOf(value: Json | undefined): string[] {
  const ids = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  const isList = Array.isArray(ids) && ids.length <= REPLACES_MAX && ids.every((id) => typeof id === 'string');
  if (!isList) throw invalid('replaces', `must be the id of a memory, or a list of at most ${REPLACES_MAX}`);
  return [...new Set(ids.map(checkId))];
}

/** Maximum number of older memories that one takes the place of. */
const REPLACES_MAX = 12;

/** Throws ARGS_INVALID. */
export function checkId(id: string): string {
  if (MEMORY_ID_PATTERN.test(id)) return id;
  throw new ContextdError('ARGS_INVALID', `not the id of a memory: ${JSON.stringify(id.slice(0, 40))}`, {
    remedy: 'Pass an id as a search gives it, such as mem_0123456789.',
  });
}

/** Identifies a session in the evidence by a hash, because its name may be anything. Starts with the project's tag. */
export function sessionTag(session: SessionRef): string {
  const hexOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  return `${hexOf(session.project).slice(0, PROJECT_TAG_CHARS)}${hexOf(sessionKey(session)).slice(0, 24)}`;
}

/** Reads `tags`, `outcome`, `scope` and `max_age_days`. Throws ARGS_INVALID. */
export function filterOf(request: JsonObject, nowMs: number): MemoryFilter {
  const { outcome, scope } = request;
  const days = readOptionalInteger(request, 'max_age_days');
  if (days !== undefined && days < 1) throw invalid('max_age_days', 'must be a whole number from 1');
  if (scope !== undefined && scope !== 'project' && scope !== 'global')
    throw invalid('scope', 'must be project or global');
  return {
    tags: request.tags === undefined ? [] : distinctTags(readStringList(request, 'tags')),
    outcome: outcome === undefined ? null : outcomeOf(outcome),
    scope: scope ?? null,
    sinceMs: days === undefined ? 0 : nowMs - days * DAY_MS,
  };
}

/** Throws ARGS_INVALID for more tags than an item can have. */
function distinctTags(tags: readonly string[]): string[] {
  const distinct = [...new Set(tags.map((tag) => tag.trim().toLowerCase()))];
  if (distinct.length > MEMORY_LIMITS.tags)
    throw invalid('tags', `has ${distinct.length} tags, a memory has at most ${MEMORY_LIMITS.tags}`);
  return distinct;
}

function authorOf({ tool, isCore, requestId }: ServiceCall): MemoryAuthor {
  return { origin: isCore ? 'model' : 'tool', owner: isCore ? '' : tool, source: '', requestIds: [requestId] };
}
