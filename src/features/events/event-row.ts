import { DEFAULT_EFFECTS, sessionEffectOf } from '../../call/effects.ts';
import type { SessionRef } from '../../call/session.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { integerOf, type Row, textOf } from '../../stores/sqlite.ts';
import {
  type ActionEventFacts,
  type CallEventFacts,
  type FactForms,
  type MessageEventFacts,
  SENSITIVITIES,
  type Sensitivity,
  type SessionEvent,
} from './event.ts';
import { EVENT_KINDS, type EventForm, type EventKind, isEventKind } from './event-kinds.ts';
import type { ReportedResult } from './test-result.ts';

/** An event as its row holds it. Throws INTERNAL_ERROR if a column has another type. */
export function toEvent({ project, session }: Pick<SessionRef, 'project' | 'session'>, row: Row): SessionEvent {
  const common = {
    seq: integerOf(row, 'seq'),
    session: { project, session, branch: row.branch === null ? null : textOf(row, 'branch') },
    parent: row.parent === null ? null : integerOf(row, 'parent'),
    at: integerOf(row, 'at_ms'),
    sensitivity: sensitivityIn(textOf(row, 'sensitivity')),
    tokens: integerOf(row, 'tokens'),
    text: textOf(row, 'text'),
    artifact: row.artifact === null ? null : textOf(row, 'artifact'),
  };
  return eventOf(kindIn(textOf(row, 'kind')), common, factsIn(textOf(row, 'facts')));
}

function eventOf(kind: EventKind, common: Omit<SessionEvent, 'kind' | 'facts'>, facts: JsonObject): SessionEvent {
  // The form of a kind pairs it with its facts.
  return { ...common, kind, facts: READ_FACTS[EVENT_KINDS[kind].form](facts) } as SessionEvent;
}

/** A later version may know more kinds: what it wrote is read as a message of contextd. */
function kindIn(text: string): EventKind {
  return isEventKind(text) ? text : 'message';
}

/** Unknown is the most sensitive. */
function sensitivityIn(text: string): Sensitivity {
  return SENSITIVITIES.find((one) => one === text) ?? 'restricted';
}

function factsIn(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}

function callFacts(facts: JsonObject): CallEventFacts {
  return {
    requestId: stringIn(facts, 'requestId'),
    tool: stringIn(facts, 'tool'),
    effect: sessionEffectOf(facts.effect) ?? DEFAULT_EFFECTS.session,
    subject: stringIn(facts, 'subject'),
    sameness: stringIn(facts, 'sameness'),
    job: typeof facts.job === 'number' ? facts.job : null,
    hasRun: facts.hasRun === true,
    exitCode: typeof facts.exitCode === 'number' ? facts.exitCode : null,
    pipeStatus: Array.isArray(facts.pipeStatus) ? facts.pipeStatus.filter((one) => typeof one === 'number') : [],
    failedPart: typeof facts.failedPart === 'number' ? facts.failedPart : null,
    errorCode: typeof facts.errorCode === 'string' ? facts.errorCode : null,
    errorLine: stringIn(facts, 'errorLine'),
    reported: isJsonObject(facts.reported) ? reportedIn(facts.reported) : null,
    durationMs: numberIn(facts, 'durationMs'),
    tokensSpent: numberIn(facts, 'tokensSpent'),
    filesWritten: stringsIn(facts, 'filesWritten'),
    quarantined: stringsIn(facts, 'quarantined'),
    undo: typeof facts.undo === 'string' ? facts.undo : null,
  };
}

function reportedIn(facts: JsonObject): ReportedResult {
  return { failed: numberIn(facts, 'failed'), passed: numberIn(facts, 'passed'), names: stringsIn(facts, 'names') };
}

function actionFacts(facts: JsonObject): ActionEventFacts {
  const [action, id, requestId] = [stringIn(facts, 'action'), stringIn(facts, 'id'), stringIn(facts, 'requestId')];
  return { action, id, requestId };
}

function messageFacts(facts: JsonObject): MessageEventFacts {
  return { role: stringIn(facts, 'role') };
}

const READ_FACTS: { readonly [Form in EventForm]: (facts: JsonObject) => FactForms[Form] } = {
  call: callFacts,
  action: actionFacts,
  message: messageFacts,
};

function stringIn(facts: JsonObject, name: string): string {
  const value = facts[name];
  return typeof value === 'string' ? value : '';
}

function numberIn(facts: JsonObject, name: string): number {
  const value = facts[name];
  return typeof value === 'number' ? value : 0;
}

function stringsIn(facts: JsonObject, name: string): readonly string[] {
  const value = facts[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
