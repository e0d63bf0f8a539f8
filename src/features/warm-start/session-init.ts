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
  checkpoints: Pick<Checkpoints, 'listReadable' | 'note'>;
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
  const checkpoints = await knownCheckpoints(session, previous?.session, deps);
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

/**
 * The newest of the session and branch; without any those of the session that worked before, or else of any other, and of these
 * the one that was imported last.
 */
async function knownCheckpoints(
  session: SessionRef,
  before: string | undefined,
  { checkpoints, maskText }: SessionInitDeps,
): Promise<KnownCheckpoint[]> {
  const readable = await checkpoints.listReadable(session);
  const of = (owner: string | undefined) => readable.filter((head) => head.session.session === owner);
  const own = of(session.session);
  const others = own.length > 0 ? [] : of(before).length > 0 ? of(before) : readable;
  const imported = others.find(({ cause }) => cause === 'import') ?? [];
  const shown = new Set([...own.slice(0, CHECKPOINTS_MAX), ...others.slice(0, CHECKPOINTS_MAX), imported].flat());
  const known = [...shown].map((head) => knownOf(head, own.length > 0 ? '' : head.session.session));
  const [newest, ...older] = known;
  if (newest === undefined) return [];
  const withNote = { ...newest, note: await checkpoints.note(session.project, newest.id) };
  return [withNote, ...older].map((one) => ({
    ...one,
    name: maskText(one.name),
    summary: maskText(one.summary),
    note: maskText(one.note),
  }));
}

function knownOf({ id, createdMs, name, summary }: StoredHead, session: string): KnownCheckpoint {
  return { id, session, atMs: createdMs, name, summary, note: '' };
}
