import type { AuditLog } from '../../audit/log.ts';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type {
  AddedMemory__Output as AddedMemory,
  LearnRequest__Output as LearnRequest,
  MemoryItem__Output as MemoryItem,
  MemoryReport__Output as MemoryReport,
  PendingLessons__Output as PendingLessons,
} from '../../protocol/generated/management.ts';
import type { ActRecord, RpcHandlers } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { maskForKeeping } from '../shared/kept-text.ts';
import type { Distiller } from './distill/distiller.ts';
import { type Memory, type MemoryDraft, outcomeOf, readDraft } from './item.ts';
import type { Trials } from './lift.ts';
import type { Memories, MemoryAuthor } from './memories.ts';
import { checkId, filterOf, NOTE_MAX_CHARS, replacesOf, sessionTag } from './memory-services.ts';
import type { KindLift, MemoryLift as KnownLift, Retrievals } from './retrievals.ts';
import type { Sharing } from './sharing.ts';
import { FOREIGN_SOURCE } from './sync/shared-items.ts';

export interface MemoryManagementDeps {
  memories: Memories;
  retrievals: Pick<Retrievals, 'share' | 'report' | 'reportKinds' | 'settle'>;
  distiller: Pick<Distiller, 'distill' | 'pending'>;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'forget'>;
  sharing: Sharing;
  auditLog: Pick<AuditLog, 'find'>;
  clock: Clock;
}

type MemoryManagement = Pick<
  RpcHandlers,
  | 'searchMemories'
  | 'listMemories'
  | 'getMemories'
  | 'addMemories'
  | 'rateMemory'
  | 'forgetMemories'
  | 'promoteMemory'
  | 'reportMemories'
  | 'learnFromCalls'
  | 'listLessons'
  | 'syncMemories'
>;

/** Session under which people's evidence is recorded: it counts once per memory, like that of any session. */
const PERSON = 'person';
/** Maximum number of characters of a source. */
const SOURCE_MAX_CHARS = 300;
const TASK_MAX_CHARS = 4_000;

/** A person's operations on memories. */
export function createMemoryManagement(deps: MemoryManagementDeps): MemoryManagement {
  const { memories, clock } = deps;
  // Random, so that no session of an agent, with its secrets, has this id.
  const own = newRequestId(clock.now());
  const sessionOf = (root: string): SessionRef => ({ project: root, session: own, branch: null });
  return {
    async searchMemories({ root, query, limit, tags, outcome, scope, max_age_days }) {
      const asked: JsonObject = {
        tags,
        ...(outcome === '' ? {} : { outcome }),
        ...(scope === '' ? {} : { scope }),
        ...(max_age_days === 0 ? {} : { max_age_days }),
      };
      const {
        memories: found,
        degraded,
        wordsOnly,
      } = await memories.search(root, {
        query,
        limit,
        filter: filterOf(asked, clock.now()),
      });
      return { ...listOf(found), degraded: degradedText(degraded, wordsOnly) };
    },
    async listMemories({ root, after_id, limit, with_content }) {
      return listOf(await memories.list(root, after_id, limit, with_content));
    },
    async getMemories({ root, ids }) {
      return listOf(await memories.read(root, ids.map(checkId)));
    },
    async addMemories({ root, drafts_json, source }) {
      if (source.length > SOURCE_MAX_CHARS)
        throw new ContextdError('ARGS_INVALID', `the source has ${source.length} characters of ${SOURCE_MAX_CHARS}`);
      if (source.startsWith(FOREIGN_SOURCE))
        throw new ContextdError('ARGS_INVALID', `a source that begins with ${FOREIGN_SOURCE} names another machine`, {
          remedy: 'Rename the file.',
        });
      return { results: await addAll(sessionOf(root), drafts_json, source, deps) };
    },
    async rateMemory({ root, id, outcome, note }) {
      const [memory] = await memories.read(root, [checkId(id)]);
      const rated = outcome === '' ? memory : await rate(sessionOf(root), { id, outcome, note }, deps);
      const feedback = await memories.feedbackOn(id);
      return {
        memory: rated === undefined ? null : itemOf(rated),
        feedback: feedback.map((one) => ({
          outcome: one.outcome,
          note: one.note,
          request_id: one.requestId,
          at_ms: one.atMs,
        })),
      };
    },
    async forgetMemories({ root, ids }) {
      const checked = ids.map(checkId);
      await memories.read(root, checked);
      return listOf(await memories.forget(root, checked));
    },
    async promoteMemory({ root, ids }) {
      const checked = ids.map(checkId);
      await memories.read(root, checked);
      const promoted: Memory[] = [];
      for (const id of checked) promoted.push(await memories.promote(root, id));
      return listOf(promoted);
    },
    async reportMemories({ root, ids }) {
      const checked = ids.map(checkId);
      if (checked.length > 0) await memories.read(root, checked);
      const lifts = await deps.retrievals.report(root, checked);
      const kinds = checked.length > 0 ? [] : await deps.retrievals.reportKinds(root);
      return { holdout: deps.retrievals.share, memories: lifts.map(liftOf), kinds: kinds.map(kindOf) };
    },
    async learnFromCalls(request, record) {
      const id = await learn(sessionOf(request.root), request, record, deps);
      const { lessons } = await lessonsOf(request.root, deps);
      return { lessons: lessons.filter((lesson) => lesson.id === id) };
    },
    async listLessons({ root }) {
      return lessonsOf(root, deps);
    },
    async syncMemories({ root, action }) {
      return deps.sharing.carryOut(root, action);
    },
  };
}

function degradedText(shared: string | null, wordsOnly: string | null): string {
  return [
    ...(shared === null ? [] : [`searched this machine only: ${shared}`]),
    ...(wordsOnly === null ? [] : [`searched by words only: ${wordsOnly}`]),
  ].join('; ');
}

/** A draft that cannot be read is refused on its own; the others are stored together. */
async function addAll(
  session: SessionRef,
  draftsJson: readonly string[],
  source: string,
  deps: MemoryManagementDeps,
): Promise<AddedMemory[]> {
  const masked = await maskAll(session, draftsJson.map(objectOf), deps);
  const read = masked.map((value) => draftOf(value, source));
  const drafts = read.filter((one) => typeof one !== 'string');
  const results = await storeAll(session.project, drafts, source, deps.memories);
  return read.map((one) =>
    typeof one === 'string' ? added('refused', { fault: one }) : (results.shift() ?? refused()),
  );
}

async function storeAll(
  root: string,
  drafts: readonly LinkedDraft[],
  source: string,
  memories: Memories,
): Promise<AddedMemory[]> {
  const author: MemoryAuthor = { origin: source === '' ? 'person' : 'import', owner: '', source, requestIds: [] };
  if (source !== '') {
    const stored = await memories.storeAll(
      root,
      drafts.map(({ draft }) => draft),
      author,
    );
    for (const [index, { id }] of stored.entries()) {
      const replaces = drafts[index]?.replaces ?? [];
      if (replaces.length > 0) await memories.replace(root, replaces, id);
    }
    return stored.map(({ id, isNew }) => added(isNew ? 'stored' : 'unchanged', { id }));
  }
  const results: AddedMemory[] = [];
  for (const { draft, replaces } of drafts) {
    const { state, id, contradicts } = await memories.store(root, draft, author, replaces);
    results.push(added(state, { id, contradicts: [...contradicts] }));
  }
  return results;
}

/** Null if the text is not a JSON object. */
function objectOf(json: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A draft and the ids of the memories that it takes the place of. */
interface LinkedDraft {
  readonly draft: MemoryDraft;
  readonly replaces: readonly string[];
}

/** The draft, or why it cannot be stored. */
function draftOf(value: JsonObject | null, source: string): LinkedDraft | string {
  if (value === null) return 'it is not a JSON object';
  try {
    const { replaces, ...draft } = value;
    return { draft: readDraft(draft, source === '' ? 'refuse' : 'strip'), replaces: replacesOf(replaces) };
  } catch (thrown) {
    return ContextdError.from(thrown).message;
  }
}

/** Masks drafts like the output of a tool, then forgets the session that this used. */
async function maskAll(
  session: SessionRef,
  drafts: readonly (JsonObject | null)[],
  deps: MemoryManagementDeps,
): Promise<readonly (JsonObject | null)[]> {
  try {
    return await maskForKeeping(session, drafts, deps.scrubber);
  } finally {
    deps.scrubber.forget(session);
  }
}

async function rate(
  session: SessionRef,
  { id, outcome, note }: { id: string; outcome: string; note: string },
  deps: MemoryManagementDeps,
): Promise<Memory> {
  if (note.length > NOTE_MAX_CHARS)
    throw new ContextdError('ARGS_INVALID', `the note has ${note.length} characters of ${NOTE_MAX_CHARS}`);
  const { note: kept } = await maskForKeeping(session, { note }, deps.scrubber);
  deps.scrubber.forget(session);
  const rating = { id, outcome: outcomeOf(outcome), note: kept };
  return deps.memories.giveFeedback(session.project, rating, { session: PERSON, requestId: '' });
}

/** Queues the calls and returns the id of the entry. An outcome also settles the retrievals of the calls' sessions. */
async function learn(
  own: SessionRef,
  request: LearnRequest,
  record: ActRecord,
  deps: MemoryManagementDeps,
): Promise<string> {
  const { root, request_ids, session, task } = request;
  if (task.length > TASK_MAX_CHARS)
    throw new ContextdError('ARGS_INVALID', `the task has ${task.length} characters of ${TASK_MAX_CHARS}`);
  const outcome = request.outcome === '' ? null : outcomeOf(request.outcome);
  const calls = await deps.auditLog.find(root, request_ids.length > 0 ? { requestIds: request_ids } : { session });
  const requestIds = calls.map(({ request_id }) => request_id);
  const missing = request_ids.filter((id) => !requestIds.includes(id));
  if (missing.length > 0 || requestIds.length === 0) throw noCalls(missing);
  const [kept] = await maskAll(own, [{ task }], deps);
  const id = await deps.distiller.distill({ project: root, requestIds, task: String(kept?.task ?? ''), outcome });
  record.note({ input: { calls: requestIds.length, id } });
  if (outcome === null) return id;
  for (const name of new Set(calls.map((call) => call.session)))
    await deps.retrievals.settle(sessionTag({ ...own, session: name }), outcome);
  return id;
}

async function lessonsOf(root: string, { distiller }: MemoryManagementDeps): Promise<PendingLessons> {
  const pending = await distiller.pending(root);
  return {
    lessons: pending.map(({ id, task, requestIds, askedMs, fault }) => ({
      id,
      task,
      calls: requestIds.length,
      asked_ms: askedMs,
      state: fault === '' ? 'waiting' : 'failed',
      fault,
    })),
  };
}

function noCalls(missing: readonly string[]): ContextdError {
  const what = missing.length === 0 ? 'such calls' : `call ${missing.slice(0, 5).join(', ')}`;
  return new ContextdError('NOT_FOUND', `the audit log of the last 31 days has no ${what} of this project`, {
    remedy: '`ctxd audit tail` shows the calls with their ids and sessions.',
    details: { missing: [...missing] },
  });
}

function added(state: string, more: Partial<AddedMemory>): AddedMemory {
  return { id: '', contradicts: [], fault: '', ...more, state };
}

function refused(): AddedMemory {
  throw new Error('fewer memories were stored than drafts were read');
}

function listOf(memories: readonly Memory[]) {
  return { memories: memories.map(itemOf), degraded: '' };
}

function kindOf({ shown, heldOut, ...rest }: KindLift): MemoryReport['kinds'][number] {
  return { ...rest, shown_success: successOf(shown), held_out_success: successOf(heldOut) };
}

function successOf({ count, good }: Trials): number {
  return count === 0 ? 0 : good / count;
}

function liftOf({ id, title, shown, heldOut, lift, low, high, verdict }: KnownLift): MemoryReport['memories'][number] {
  return {
    id,
    title,
    shown: shown.count,
    held_out: heldOut.count,
    shown_open: shown.open,
    held_out_open: heldOut.open,
    shown_success: successOf(shown),
    held_out_success: successOf(heldOut),
    lift,
    low,
    high,
    verdict,
  };
}

function itemOf({ isQuarantined, replacedBy, createdMs, updatedMs, usedMs, ...memory }: Memory): MemoryItem {
  return {
    ...memory,
    tags: [...memory.tags],
    provenance: [...memory.provenance],
    contradicts: [...memory.contradicts],
    replaces: [...memory.replaces],
    replaced_by: replacedBy,
    quarantined: isQuarantined,
    created_ms: createdMs,
    updated_ms: updatedMs,
    used_ms: usedMs ?? 0,
  };
}
