import type { SessionRef } from '../../call/session.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { readOptionalString } from '../../sdk/input.ts';
import type { Contexts } from '../compile/contexts.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import { buildStart } from './start-build.ts';
import type { KnownMemory } from './warm-start.ts';

export interface SessionInitDeps {
  eventLog: Pick<StoredEventLog, 'read' | 'bounds' | 'before' | 'position'>;
  contexts: Pick<Contexts, 'rememberStart'>;
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
  { eventLog, contexts, findMemories, maskText, countTokens }: SessionInitDeps,
): Promise<ServiceAnswer> {
  const task = (readOptionalString(request, 'task') ?? '').slice(0, TASK_MAX_CHARS);
  const [position, previous, memories] = await Promise.all([
    eventLog.position(session),
    previousOf(session, eventLog),
    task.trim() === '' ? [] : findMemories(session, task, call),
  ]);
  const made = { task: maskText(task), position, previous, memories, workspace: request.workspace ?? {} };
  const { text, events } = await buildStart(session, made, eventLog, countTokens);
  contexts.rememberStart(session, made, { text, events });
  return { answer: { text } };
}

/** The session of the project that did something last, without this one. */
async function previousOf(session: SessionRef, eventLog: SessionInitDeps['eventLog']) {
  const before = await eventLog.before(session);
  return before === null ? null : { session: before.session, position: await eventLog.position(before) };
}
