import type { SessionEffect } from '../../call/effects.ts';
import type { SessionRef } from '../../call/session.ts';
import { EVENT_KINDS, type EventForm, type EventKind, type FormOf } from './event-kinds.ts';
import type { ReportedResult } from './test-result.ts';

/** How far an event may travel: from contextd's own words to text that is compiled into a context only on request. */
export const SENSITIVITIES = ['public', 'internal', 'confidential', 'restricted'] as const;
export type Sensitivity = (typeof SENSITIVITIES)[number];

/** A recorded tool call. Memory tools have the same facts. */
export interface CallEventFacts {
  readonly requestId: string;
  readonly tool: string;
  readonly effect: SessionEffect;
  /** First line of the command, or the object of the call, such as a path; '' if unknown. */
  readonly subject: string;
  /**
   * Equal for calls of the same tool in the same directory with the same complete command or path. '' if the call does
   * not show whether that succeeds: it only started a background job, or was ended from outside.
   */
  readonly sameness: string;
  /** Number in the session of the background job that ended; null if the event is about the call itself. */
  readonly job: number | null;
  /** False if the call was refused or was a dry run. */
  readonly hasRun: boolean;
  readonly exitCode: number | null;
  /** Exit statuses of parts of the command, in order: see `partStatuses`. Empty if only that of the whole is known. */
  readonly pipeStatus: readonly number[];
  /** Status of the first part that failed: see `failedStatus`. Null if none did. */
  readonly failedPart: number | null;
  /** Null for success. A command that exits with a status other than 0 has no error code. */
  readonly errorCode: string | null;
  /** The output line that best explains the failure, scrubbed; '' for success, or if there is no such line. */
  readonly errorLine: string;
  /** What the output of a command that does more than look says of its result; null if it says nothing. */
  readonly reported: ReportedResult | null;
  readonly durationMs: number;
  /** Tokens of the answer. */
  readonly tokensSpent: number;
  /** Paths in the project: recorded changes, or if those are unknown, the path that the tool reports. */
  readonly filesWritten: readonly string[];
  /** Protected paths that the call created and that were renamed. */
  readonly quarantined: readonly string[];
  /** Argument for `ctxd undo`; null if the call changed no file that can be restored. */
  readonly undo: string | null;
}

/** Facts that tell whether a call failed. */
type ResultFacts = Pick<CallEventFacts, 'errorCode' | 'exitCode' | 'pipeStatus' | 'failedPart' | 'reported'>;

/** Whether a call failed, or says that it did: with `| tail` or `|| true` behind it, the status of a failing test is 0. */
export function isFailure({ errorCode, exitCode, pipeStatus, failedPart, reported }: ResultFacts): boolean {
  const hasFailed = pipeStatus.length > 0 ? failedPart !== null : exitCode !== null && exitCode !== 0;
  return errorCode !== null || hasFailed || (reported !== null && reported.failed > 0);
}

/** In a few words: `ok`, `exit 1`, `TIMEOUT`, `exit 0, 1 failed`, `exits 2 0` for the parts of a pipeline. */
export function resultOf({ errorCode, exitCode, pipeStatus, failedPart, reported, hasRun }: CallEventFacts): string {
  const failed = reported === null || reported.failed === 0 ? [] : [`${reported.failed} failed`];
  if (errorCode !== null) return [errorCode, ...failed].join(', ');
  const isOfPart = pipeStatus.some((status) => status === failedPart);
  const exit = isOfPart ? `exits ${pipeStatus.join(' ')}` : `exit ${exitCode ?? 0}`;
  if (failed.length > 0) return [exit, ...failed].join(', ');
  if (failedPart !== null || (exitCode !== null && exitCode !== 0)) return exit;
  return hasRun ? 'ok' : 'not run';
}

/** An action of contextd itself, and its object. */
export interface ActionEventFacts {
  /** For example `opened`, `returned`, `saved`, `restored` or `undone`. */
  readonly action: string;
  /** Id of the branch, the checkpoint or the undo. */
  readonly id: string;
  /** The call that requested it; '' for a person or a hook. */
  readonly requestId: string;
}

/** The author of a message. */
export interface MessageEventFacts {
  /** For example `user`, `agent` or the name of a hook. */
  readonly role: string;
}

/** Form of facts → its type. Several kinds of events have facts of one form. */
export interface FactForms {
  readonly call: CallEventFacts;
  readonly action: ActionEventFacts;
  readonly message: MessageEventFacts;
}

interface EventOf<Kind extends EventKind> {
  /** Position in the log of its session, from 1, without gaps; branches share the log. */
  readonly seq: number;
  /** Includes the branch it belongs to. */
  readonly session: SessionRef;
  readonly kind: Kind;
  /** `seq` of the event on which this one depends. */
  readonly parent: number | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly sensitivity: Sensitivity;
  /** Number of tokens of `text`. */
  readonly tokens: number;
  /** Scrubbed; for a call one line of facts. */
  readonly text: string;
  readonly facts: FactForms[FormOf<Kind>];
  /** Id of the stored output. */
  readonly artifact: string | null;
}

/** Something that happened in a session. */
export type SessionEvent = { [Kind in EventKind]: EventOf<Kind> }[EventKind];

type EventOfForm<Form extends EventForm> = {
  [Kind in EventKind]: FormOf<Kind> extends Form ? EventOf<Kind> : never;
}[EventKind];

/** Narrows an event by the form of its facts. */
export function hasForm<Form extends EventForm>(event: SessionEvent, form: Form): event is EventOfForm<Form> {
  return EVENT_KINDS[event.kind].form === form;
}

/** An event to append: the log assigns its position and counts its tokens. */
export type NewEvent = {
  [Kind in EventKind]: Omit<EventOf<Kind>, 'seq' | 'tokens' | 'parent'> & {
    /** Default: the event whose output is `parentArtifact`. */
    readonly parent?: number;
    /** The output that this event shows. Default: none, so no parent. */
    readonly parentArtifact?: string;
  };
}[EventKind];

/** Maximum number of characters of a text that the log keeps. */
export const TEXT_MAX_CHARS = 8_000;
