import type { SessionRef } from '../../call/session.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SessionEvent } from '../events/event.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import { type KnownCheckpoint, type KnownMemory, warmStart } from './warm-start.ts';
import { readChanges } from './workspace.ts';

/** What a warm start is made of besides the events of its session: enough to make it again. */
export interface StartRequest {
  /** Masked. */
  readonly task: string;
  /** The newest event of the session and of its branches that it knows; 0 for none. */
  readonly position: number;
  /** The session before, up to this position; null for the first session. */
  readonly previous: { readonly session: string; readonly position: number } | null;
  readonly checkpoints: readonly KnownCheckpoint[];
  readonly memories: readonly KnownMemory[];
  /** As the tool found it, masked. */
  readonly workspace: Json;
}

export interface StartBuild {
  readonly text: string;
  /** Events that were read. */
  readonly events: number;
}

/** Events of the session, and of the one before, that are looked at. */
const OWN_MAX = 500;
const PREVIOUS_MAX = 200;

/** Makes a warm start of the log as it was. Throws if the log cannot be read. */
export async function buildStart(
  session: SessionRef,
  { task, position, previous, checkpoints, memories, workspace }: StartRequest,
  eventLog: Pick<StoredEventLog, 'read' | 'bounds'>,
  countTokens: (text: string) => number,
): Promise<StartBuild> {
  const before = previous === null ? null : { project: session.project, session: previous.session, branch: null };
  const [own, bounds, earlier] = await Promise.all([
    eventLog.read(session, { to: position, newest: OWN_MAX }),
    eventLog.bounds(session, position),
    before === null ? [] : eventLog.read(before, { to: previous?.position ?? 0, newest: PREVIOUS_MAX }),
  ]);
  const facts = {
    own: withoutStarts(own),
    bounds,
    checkpoints,
    memories,
    workspace: readChanges(workspace),
    task,
    previous: before === null ? null : { session: before.session, events: withoutStarts(earlier) },
  };
  return { text: warmStart(facts, countTokens), events: own.length + bounds.length + earlier.length };
}

/** Asking how to go on is no work. */
function withoutStarts(events: readonly SessionEvent[]): SessionEvent[] {
  return events.filter((event) => event.kind !== 'call' || event.facts.effect !== 'start');
}

/** The kind of the stored request, and how a replay names a warm start. */
export const START_KIND = 'session_init';

export function renderStart(request: StartRequest): string {
  return JSON.stringify({ kind: START_KIND, ...request });
}

/** Null for a request of another kind. */
export function readStart(json: string): StartRequest | null {
  const value: unknown = JSON.parse(json);
  if (!isJsonObject(value) || value.kind !== START_KIND) return null;
  const { task, position, previous, checkpoints, memories, workspace } = value;
  return {
    task: String(task ?? ''),
    position: Number(position ?? 0),
    previous: isJsonObject(previous)
      ? { session: String(previous.session), position: Number(previous.position) }
      : null,
    checkpoints: (Array.isArray(checkpoints) ? checkpoints : []).filter(isJsonObject).map(checkpointOf),
    memories: (Array.isArray(memories) ? memories : []).filter(isJsonObject).map(memoryOf),
    workspace: workspace ?? {},
  };
}

function checkpointOf({ id, session, atMs, name, summary, note }: JsonObject): KnownCheckpoint {
  const texts = { id: String(id), session: String(session), name: String(name), summary: String(summary) };
  return { ...texts, note: String(note ?? ''), atMs: Number(atMs) };
}

function memoryOf({ id, title, outcome }: JsonObject): KnownMemory {
  return { id: String(id), title: String(title), outcome: String(outcome) };
}
