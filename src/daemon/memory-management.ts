import type { AddedMemory, Management, MemoryItem } from '../call/management.ts';
import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { newRequestId } from '../core/ids.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { type Memory, type MemoryDraft, outcomeOf, readDraft } from '../memory/item.ts';
import type { Memories, MemoryAuthor } from '../memory/memories.ts';
import { checkId, filterOf, NOTE_MAX_CHARS } from '../memory/memory-services.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { ProjectStore } from '../stores/projects.ts';
import { requireProject } from './approval-management.ts';
import { maskForKeeping } from './kept-text.ts';
import type { Sharing } from './sharing.ts';

export interface MemoryManagementDeps {
  memories: Memories;
  projects: Pick<ProjectStore, 'find'>;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'forget'>;
  sharing: Sharing;
  auditLog: Pick<AuditLog, 'append'>;
  clock: Clock;
}

type MemoryManagement = Pick<
  Management,
  | 'searchMemories'
  | 'listMemories'
  | 'getMemories'
  | 'addMemories'
  | 'rateMemory'
  | 'forgetMemories'
  | 'promoteMemory'
  | 'syncMemories'
>;

/** Evidence of persons counts once for each memory, as that of a session does. */
const PERSON = 'person';
/** Characters of a source. */
const SOURCE_MAX_CHARS = 300;

/** What a person may do with memories. Every change is recorded. */
export function createMemoryManagement(deps: MemoryManagementDeps): MemoryManagement {
  const { memories, projects, clock } = deps;
  // No agent can guess it, so no agent's secrets are in it.
  const own = newRequestId(clock.now());
  const sessionOf = (root: string): SessionRef => ({ project: root, session: own, branch: null });
  return {
    async searchMemories({ root, query, limit, tags, outcome, scope, max_age_days }) {
      await requireProject(root, projects);
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
      await requireProject(root, projects);
      return listOf(await memories.list(root, after_id, limit, with_content));
    },
    async getMemories({ root, ids }) {
      await requireProject(root, projects);
      return listOf(await memories.read(root, ids.map(checkId)));
    },
    async addMemories({ root, drafts_json, source }) {
      await requireProject(root, projects);
      if (source.length > SOURCE_MAX_CHARS)
        throw new ContextdError('ARGS_INVALID', `the source has ${source.length} characters of ${SOURCE_MAX_CHARS}`);
      return { results: await addAll(sessionOf(root), drafts_json, source, deps) };
    },
    async rateMemory({ root, id, outcome, note }) {
      await requireProject(root, projects);
      const [memory] = await memories.read(root, [checkId(id)]);
      const rated = outcome === '' ? memory : await rate(sessionOf(root), { id, outcome, note }, deps);
      const feedback = await memories.feedbackOn(id);
      return {
        memory: rated === undefined ? null : itemOf(rated),
        feedback: feedback.map((one) => ({
          ...{ outcome: one.outcome, note: one.note, request_id: one.requestId, at_ms: one.atMs },
        })),
      };
    },
    async forgetMemories({ root, ids }) {
      await requireProject(root, projects);
      const checked = ids.map(checkId);
      await memories.read(root, checked);
      await record(root, 'memory forget', { ids: checked }, deps);
      return listOf(await memories.forget(root, checked));
    },
    async promoteMemory({ root, ids }) {
      await requireProject(root, projects);
      const checked = ids.map(checkId);
      await memories.read(root, checked);
      await record(root, 'memory promote', { ids: checked }, deps);
      const promoted: Memory[] = [];
      for (const id of checked) promoted.push(await memories.promote(root, id));
      return listOf(promoted);
    },
    async syncMemories({ root, action }) {
      if (root !== '') await requireProject(root, projects);
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

/** A draft that cannot be read is refused alone; the others are stored together. */
async function addAll(
  session: SessionRef,
  draftsJson: readonly string[],
  source: string,
  deps: MemoryManagementDeps,
): Promise<AddedMemory[]> {
  const masked = await maskAll(session, draftsJson.map(objectOf), deps);
  const read = masked.map(draftOf);
  const drafts = read.filter((one) => typeof one !== 'string');
  const results = await storeAll(session.project, drafts, source, deps.memories);
  return read.map((one) =>
    typeof one === 'string' ? added('refused', { fault: one }) : (results.shift() ?? refused()),
  );
}

async function storeAll(
  root: string,
  drafts: readonly MemoryDraft[],
  source: string,
  memories: Memories,
): Promise<AddedMemory[]> {
  const author: MemoryAuthor = { origin: source === '' ? 'person' : 'import', owner: '', source, requestId: '' };
  if (source !== '') {
    const news = await memories.storeAll(root, drafts, author);
    return news.map((isNew) => added(isNew ? 'stored' : 'unchanged', {}));
  }
  const results: AddedMemory[] = [];
  for (const draft of drafts) {
    const { state, id, contradicts } = await memories.store(root, draft, author);
    results.push(added(state, { id, contradicts: [...contradicts] }));
  }
  return results;
}

/** Null if it is not a JSON object. */
function objectOf(json: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The draft, or why it cannot be stored. */
function draftOf(value: JsonObject | null): MemoryDraft | string {
  if (value === null) return 'it is not a JSON object';
  try {
    return readDraft(value);
  } catch (thrown) {
    return ContextdError.from(thrown).message;
  }
}

/** Masked as the output of a tool is. Nothing is left of the session in which that was done. */
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

async function record(
  root: string,
  tool: string,
  input: JsonObject,
  { auditLog, clock }: MemoryManagementDeps,
): Promise<void> {
  await auditLog.append({
    time: new Date(clock.now()).toISOString(),
    request_id: newRequestId(clock.now()),
    ...{ session: '', project: root, door: 'ctxd', kind: 'person', tool, input },
    ...{ output_sha256: '', output_bytes: 0, duration_ms: 0, secrets_found: 0, secret_rules: [] },
    ...{ exit_code: null, error_code: null },
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

function itemOf({ isQuarantined, createdMs, updatedMs, usedMs, ...memory }: Memory): MemoryItem {
  return {
    ...memory,
    tags: [...memory.tags],
    provenance: [...memory.provenance],
    contradicts: [...memory.contradicts],
    quarantined: isQuarantined,
    created_ms: createdMs,
    updated_ms: updatedMs,
    used_ms: usedMs ?? 0,
  };
}
