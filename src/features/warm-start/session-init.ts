import type { SessionRef } from '../../call/session.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { readOptionalString } from '../../sdk/input.ts';
import type { StoredHead } from '../checkpoints/checkpoint-store.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { Contexts } from '../compile/contexts.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import { buildStart } from './start-build.ts';
import type { KnownCheckpoint, KnownMemory } from './warm-start.ts';

export interface SessionInitDeps {
  eventLog: Pick<StoredEventLog, 'read' | 'bounds' | 'before' | 'position'>;
  contexts: Pick<Contexts, 'rememberStart'>;
  checkpoints: Pick<Checkpoints, 'list' | 'note'>;
  /** The memories that a search of this call finds, the best first. */
  findMemories(session: SessionRef, task: string, call: ServiceCall): Promise<readonly KnownMemory[]>;
  /** Masks secrets in what is remembered. */
  maskText(text: string): string;
  countTokens(text: string): number;
}

/** Characters of a task. */
const TASK_MAX_CHARS = 4_000;

/**
 * `SessionInit`: `{task?, workspace?: {commits: [{at, id, subject}], files: [{at, path}]}}` → `{text}`: what an agent that
 * starts has to know, at most 630 tokens as JSON. Times are whole seconds. What it is made of is remembered, so that it can be
 * made again. Throws if the log cannot be read.
 */
export async function initSession(
  session: SessionRef,
  request: JsonObject,
  call: ServiceCall,
  deps: SessionInitDeps,
): Promise<ServiceAnswer> {
  const { eventLog, contexts, findMemories, maskText, countTokens } = deps;
  const task = (readOptionalString(request, 'task') ?? '').slice(0, TASK_MAX_CHARS);
  const [position, previous, memories] = await Promise.all([
    eventLog.position(session),
    previousOf(session, eventLog),
    task.trim() === '' ? [] : findMemories(session, task, call),
  ]);
  const checkpoints = await knownCheckpoints(session, previous?.session ?? null, deps);
  const workspace = request.workspace ?? {};
  const made = { task: maskText(task), position, previous, checkpoints, memories, workspace };
  const { text, events } = await buildStart(session, made, eventLog, countTokens);
  contexts.rememberStart(session, made, { text, events });
  return { answer: { text } };
}

/** The session of the project that did something last, without this one. */
async function previousOf(session: SessionRef, eventLog: SessionInitDeps['eventLog']) {
  const before = await eventLog.before(session);
  return before === null ? null : { session: before.session, position: await eventLog.position(before) };
}

/** Checkpoints of the session that are shown. */
const CHECKPOINTS_MAX = 3;

/** The newest of the session and branch; without any those of the session before, and the one that was imported last. */
async function knownCheckpoints(
  session: SessionRef,
  before: string | null,
  { checkpoints, maskText }: SessionInitDeps,
): Promise<KnownCheckpoint[]> {
  const own = (await checkpoints.list(session)).slice(0, CHECKPOINTS_MAX);
  const known = own.map((head) => knownOf(head, ''));
  if (before !== null && own.length === 0) {
    const earlier = await checkpoints.list({ project: session.project, session: before, branch: null });
    const imported = earlier.find(({ cause }) => cause === 'import') ?? [];
    const shown = new Set([...earlier.slice(0, CHECKPOINTS_MAX), imported].flat());
    known.push(...[...shown].map((head) => knownOf(head, before)));
  }
  const [newest, ...others] = known;
  if (newest === undefined) return [];
  const withNote = { ...newest, note: await checkpoints.note(session.project, newest.id) };
  return [withNote, ...others].map((one) => ({
    ...one,
    name: maskText(one.name),
    summary: maskText(one.summary),
    note: maskText(one.note),
  }));
}

function knownOf({ id, createdMs, name, summary }: StoredHead, session: string): KnownCheckpoint {
  return { id, session, atMs: createdMs, name, summary, note: '' };
}
