import type { SessionRef } from '../../call/session.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { readOptionalString } from '../../sdk/input.ts';
import type { SessionEvent } from '../events/event.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import { type KnownMemory, warmStart } from './warm-start.ts';
import { readChanges } from './workspace.ts';

export interface SessionInitDeps {
  eventLog: Pick<StoredEventLog, 'read' | 'bounds' | 'before'>;
  /** The memories that a search of this call finds, the best first. */
  findMemories(session: SessionRef, task: string, call: ServiceCall): Promise<readonly KnownMemory[]>;
  countTokens(text: string): number;
}

/** Events of the session, and of the one before, that are looked at. */
const OWN_MAX = 500;
const PREVIOUS_MAX = 200;
/** Characters of a task. */
const TASK_MAX_CHARS = 4_000;

/**
 * `SessionInit`: `{task?, workspace?: {commits: [{at, id, subject}], files: [{at, path}]}}` → `{text}`: what an agent that
 * starts has to know, at most 630 tokens as JSON. Times are whole seconds. Throws if the log cannot be read.
 */
export async function initSession(
  session: SessionRef,
  request: JsonObject,
  call: ServiceCall,
  { eventLog, findMemories, countTokens }: SessionInitDeps,
): Promise<ServiceAnswer> {
  const task = (readOptionalString(request, 'task') ?? '').slice(0, TASK_MAX_CHARS);
  const [own, bounds, previous, memories] = await Promise.all([
    eventLog.read(session, { newest: OWN_MAX }),
    eventLog.bounds(session),
    previousOf(session, eventLog),
    task.trim() === '' ? [] : findMemories(session, task, call),
  ]);
  const workspace = readChanges(request.workspace);
  const text = warmStart({ own: withoutStarts(own), bounds, previous, memories, workspace, task }, countTokens);
  return { answer: { text } };
}

/** Asking how to go on is no work. */
function withoutStarts(events: readonly SessionEvent[]): SessionEvent[] {
  return events.filter((event) => event.kind !== 'call' || event.facts.tool !== 'session_init');
}

/** What the session of the project did that did something last, without this one. */
async function previousOf(session: SessionRef, eventLog: SessionInitDeps['eventLog']) {
  const before = await eventLog.before(session);
  if (before === null) return null;
  return { session: before.session, events: withoutStarts(await eventLog.read(before, { newest: PREVIOUS_MAX })) };
}
