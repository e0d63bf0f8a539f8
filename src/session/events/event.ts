import type { SessionRef } from '../../call/session.ts';

/** How far an event may travel: from contextd's own words to text that no compiled context holds unless it is asked to. */
export const SENSITIVITIES = ['public', 'internal', 'confidential', 'restricted'] as const;
export type Sensitivity = (typeof SENSITIVITIES)[number];

/** A call of a tool, as it was recorded. Memory tools have the same facts. */
export interface CallEventFacts {
  readonly requestId: string;
  readonly tool: string;
  /** First line of the command, or what the tool worked on, such as a path; '' if nothing says it. */
  readonly subject: string;
  /**
   * Equal for calls of the same tool in the same directory with the same whole command or path. '' if the call says nothing
   * of whether that succeeds: it only started a background job, or ended because somebody ended it.
   */
  readonly sameness: string;
  /** The background job that ended, by its number in the session; null: the event is of the call itself. */
  readonly job: number | null;
  /** False if the call was refused or was a dry run. */
  readonly hasRun: boolean;
  readonly exitCode: number | null;
  /** Null for success. A command that exits with another status than 0 has no error code. */
  readonly errorCode: string | null;
  /** The line of its output that says best why it failed; '' for success, and if there is no such line. Scrubbed. */
  readonly errorLine: string;
  readonly durationMs: number;
  /** Of the answer. */
  readonly tokensSpent: number;
  /** Paths in the project, as the tool shows them. */
  readonly filesWritten: readonly string[];
  /** Protected paths that the call made and that were renamed. */
  readonly quarantined: readonly string[];
  /** What `ctxd undo` takes; null if the call changed no file that can be restored. */
  readonly undo: string | null;
}

/** What contextd itself did: its name, and what it was done to. */
export interface ActionEventFacts {
  /** Such as `opened`, `returned`, `saved`, `restored` or `undone`. */
  readonly action: string;
  /** The id of the branch, the checkpoint or the undo. */
  readonly id: string;
  /** The call that asked for it; '' if a person or a hook did. */
  readonly requestId: string;
}

/** Who handed a message in. */
export interface MessageEventFacts {
  /** Such as `user`, `agent` or the name of a hook. */
  readonly role: string;
}

/** The facts of an event by its kind. */
export interface EventFacts {
  readonly call: CallEventFacts;
  readonly memory: CallEventFacts;
  readonly branch: ActionEventFacts;
  readonly checkpoint: ActionEventFacts;
  readonly undo: ActionEventFacts;
  readonly message: MessageEventFacts;
}

export type EventKind = keyof EventFacts;

interface EventOf<Kind extends EventKind> {
  /** Position in the log of its session, from 1, without gaps; branches share the log. */
  readonly seq: number;
  /** With the branch that it belongs to. */
  readonly session: SessionRef;
  readonly kind: Kind;
  /** The `seq` of the event that this one depends on. */
  readonly parent: number | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly sensitivity: Sensitivity;
  /** Of `text`. */
  readonly tokens: number;
  /** Scrubbed; for a call one line of facts. */
  readonly text: string;
  readonly facts: EventFacts[Kind];
  /** The stored output. */
  readonly artifact: string | null;
}

/** Something that happened in a session. */
export type SessionEvent = { [Kind in EventKind]: EventOf<Kind> }[EventKind];

/** An event as it is handed in: the log gives it its place and counts it. */
export type NewEvent = {
  [Kind in EventKind]: Omit<EventOf<Kind>, 'seq' | 'tokens' | 'parent'> & {
    /** Default: the event whose output is `parentArtifact`. */
    readonly parent?: number;
    /** The output that this event shows. Default: none, so no parent. */
    readonly parentArtifact?: string;
  };
}[EventKind];

/** Characters of a text that the log keeps. */
export const TEXT_MAX_CHARS = 8_000;

/** Tools that look at the record or change it, and say nothing of the work itself. */
export const RECORD_TOOLS: readonly string[] = [
  ...['tool_view', 'jobs', 'session_init', 'branch', 'return'],
  ...['checkpoint_save', 'checkpoint_list', 'checkpoint_restore'],
];
