import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newArtifactId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { KeyedLock } from '../../core/lock.ts';
import type { Logger } from '../../core/log.ts';
import type { Contexts } from '../compile/contexts.ts';
import type { SessionEvent } from '../events/event.ts';
import type { EventLog } from '../events/event-log.ts';
import {
  type Checkpoint,
  type CheckpointCause,
  type CheckpointHead,
  renderBody,
  type SavedFiles,
  type TrailEntry,
  type Versions,
} from './checkpoint.ts';
import { contextOf } from './checkpoint-context.ts';
import { maskFile, readFile, renderFile } from './checkpoint-file.ts';
import type { CheckpointFiles, FilesReport } from './checkpoint-files.ts';
import { type CheckpointStore, type StoredHead, unknownCheckpoint } from './checkpoint-store.ts';
import { type IsToken, type RestoreLevel, restoredText, summaryOf } from './restored-text.ts';
import { factsOf } from './session-facts.ts';

/** Events that the facts of a checkpoint are made from, and those that it keeps itself. */
const READ_MAX = 5_000;
const TRAIL_MAX = 300;
const TRAIL_TEXT_MAX_CHARS = 400;
/** Events that `full` shows. */
const FULL_MAX = 20_000;
/** Milliseconds that a checkpoint waits for its files. A hook waits two seconds for the whole, and then it goes on without. */
const FILES_MAX_MS = { asked: 20_000, restore: 20_000, compaction: 1_000 };
/** Artifacts that one checkpoint keeps. */
const PINNED_MAX = 100;

/** A secret without a number: what is kept longer than its session has only these. */
const MASKED = /^\[SECRET:/;

export interface CheckpointsDeps {
  store: CheckpointStore;
  eventLog: Pick<EventLog, 'append' | 'read' | 'position'>;
  contexts: Pick<Contexts, 'build'>;
  files: CheckpointFiles;
  countTokens(text: string): number;
  /** The tokens in a text that the session gave out. */
  issuedIn(session: SessionRef, text: string): Promise<readonly string[]>;
  /** What the project runs with now. */
  versions(project: string): Promise<Versions>;
  clock: Clock;
  logger: Logger;
}

/** What is handed in beside the events. Masked. */
export interface NewCheckpoint {
  readonly name: string;
  readonly note: string;
  readonly cause: Exclude<CheckpointCause, 'import'>;
  /** The call that asks for it; '' if a person or a hook does. */
  readonly requestId: string;
}

/** What is wanted of the files: nothing, how they differ, or that they are put back. */
export type FilesWish = 'none' | 'report' | 'apply';

export interface RestoreRequest {
  readonly id: string;
  readonly level: RestoreLevel;
  readonly files: FilesWish;
}

export interface Restored {
  readonly checkpoint: CheckpointHead;
  readonly text: string;
  readonly files: FilesReport | null;
}

export type SavedCheckpoint = StoredHead & { readonly files: SavedFiles };

/** `applied`: its files were put back. */
type CheckpointAction = 'saved' | 'restored' | 'applied' | 'imported';

/** Saves what a session did so far, and gives it back to an agent that knows nothing of it. */
export class Checkpoints {
  readonly #deps: CheckpointsDeps;
  /** By project: lists of files come and go, and files are put back, one after the other. */
  readonly #lock = new KeyedLock();

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps;
  }

  /** Throws STORAGE_FULL; then nothing is saved. */
  save(session: SessionRef, request: NewCheckpoint): Promise<SavedCheckpoint> {
    return this.#lock.run(session.project, () => this.#save(session, request));
  }

  async #save(
    session: SessionRef,
    { name, note, cause, requestId }: NewCheckpoint,
    spared = '',
  ): Promise<SavedCheckpoint> {
    const { eventLog, store, clock, versions } = this.#deps;
    const createdMs = clock.now();
    const files = await this.#deps.files.save(session, FILES_MAX_MS[cause]);
    const position = await eventLog.position(session);
    const events = (await eventLog.read(session, { to: position, newest: READ_MAX })).filter(isShown);
    const checkpoint: Checkpoint = {
      id: newCheckpointId(),
      session,
      name,
      cause,
      position,
      createdMs,
      body: {
        note,
        files,
        facts: factsOf(events),
        madeWith: await versions(session.project),
        trail: events.slice(-TRAIL_MAX).map((event) => entryOf(event, TRAIL_TEXT_MAX_CHARS)),
      },
    };
    const head = { ...headOf(checkpoint), summary: summaryOf(checkpoint, await this.#tokensOf(checkpoint)) };
    try {
      await store.save(checkpoint, head.summary, artifactsOf(events), spared);
    } finally {
      await this.#forgetFiles(session.project);
    }
    this.#record(checkpoint, 'saved', requestId);
    return { ...head, files };
  }

  /** Those that no checkpoint needs any more. What cannot be removed now goes at the next save. */
  async #forgetFiles(project: string): Promise<void> {
    const { files, store, logger } = this.#deps;
    try {
      await files.keepOnly(project, await store.trees(project));
    } catch (cause) {
      logger.warn('checkpoints.files_not_released', { project, cause: String(cause) });
    }
  }

  list(session: SessionRef): Promise<StoredHead[]> {
    return this.#deps.store.list(session);
  }

  /** Its own, and on the base those of other sessions of the project, which it can read, the newest first. */
  async listReadable(session: SessionRef): Promise<StoredHead[]> {
    const own = await this.list(session);
    if (session.branch !== null) return own;
    const all = await this.#deps.store.listProject(session.project);
    return [...own, ...all.filter((head) => head.session.session !== session.session && head.session.branch === null)];
  }

  /** The note of a checkpoint of the project; '' for one that is not there. */
  note(project: string, id: string): Promise<string> {
    return this.#deps.store.note(project, id);
  }

  /**
   * Of another session of the project only the words are restored. Throws NOT_FOUND, VERSION_MISMATCH, INTEGRITY_FAILED,
   * PERMISSION_DENIED if another session's files are wanted; with `apply`, CONFLICT if anything but calls has changed a file
   * since, and then no file is written. `requestId`: as in NewCheckpoint.
   */
  async restore(
    session: SessionRef,
    { id, level, files, requestId }: RestoreRequest & { readonly requestId: string },
  ): Promise<Restored> {
    const checkpoint = await this.#readableIn(session, id, files);
    const report = await this.#files(checkpoint, files, requestId);
    const text = await this.#text(checkpoint, level, report);
    this.#record(checkpoint, report?.applied == null ? 'restored' : 'applied', requestId);
    return { checkpoint, text, files: report };
  }

  /** Own checkpoints, and for the agent that takes over those of other sessions, without what only they can open. */
  async #readableIn(session: SessionRef, id: string, files: FilesWish): Promise<Checkpoint> {
    const checkpoint = await this.#deps.store.read(session.project, id);
    const { session: owner } = checkpoint;
    if (owner.session === session.session && owner.branch === session.branch) return checkpoint;
    if (owner.branch !== null || session.branch !== null) throw unknownCheckpoint(id);
    if (files !== 'none') throw filesOfAnother(id);
    return { ...checkpoint, session, position: 0 };
  }

  /** As `restore`, for a person: of any session of the project, and only recorded if it writes files. */
  async show(project: string, { id, level, files }: RestoreRequest): Promise<Restored> {
    const checkpoint = await this.#deps.store.read(project, id);
    const report = await this.#files(checkpoint, files, '');
    if (report?.applied != null) this.#record(checkpoint, 'applied', '');
    return { checkpoint, text: await this.#text(checkpoint, level, report), files: report };
  }

  async #files(checkpoint: Checkpoint, wanted: FilesWish, requestId: string): Promise<FilesReport | null> {
    const { files } = this.#deps;
    if (wanted === 'none') return null;
    return this.#lock.run(checkpoint.session.project, async () => {
      const planned = await files.plan(checkpoint);
      if (wanted === 'report' || planned.length === 0) return files.report(checkpoint, planned, null);
      await files.checkAll(checkpoint, planned);
      const { session, id } = checkpoint;
      const note = `before the files of ${id} were put back`;
      const first = await this.#save(session, { name: '', note, cause: 'restore', requestId }, id);
      const done = await files.apply(checkpoint, requestId);
      return files.report(checkpoint, done.files, { savedFirst: first.id, undo: done.undo });
    });
  }

  /** With every event that the log still has. `mask` gets a name and a body, and the session whose secrets are in them. */
  async export(
    project: string,
    id: string,
    mask: (value: Json, issuer: SessionRef) => Promise<Json>,
  ): Promise<{ checkpoint: Checkpoint; file: string }> {
    const checkpoint = await this.#deps.store.read(project, id);
    const trail = await this.#allEvents(checkpoint);
    const whole = { ...checkpoint, body: { ...checkpoint.body, trail: trail.slice(-READ_MAX) } };
    const masked = await maskFile(whole, (value) => mask(value, checkpoint.session));
    return { checkpoint, file: renderFile(masked) };
  }

  /** Throws SCHEMA_INVALID, VERSION_MISMATCH, INTEGRITY_FAILED, STORAGE_FULL. */
  async import(session: SessionRef, text: string, mask: (value: Json) => Promise<Json>): Promise<StoredHead> {
    const { name, createdMs, body } = await maskFile(readFile(text), mask);
    const checkpoint: Checkpoint = {
      id: newCheckpointId(),
      session,
      name,
      cause: 'import',
      position: 0,
      // The clock of another machine must not keep it on top of every list.
      createdMs: Math.min(createdMs, this.#deps.clock.now()),
      body,
    };
    const head = { ...headOf(checkpoint), summary: summaryOf(checkpoint, await this.#tokensOf(checkpoint)) };
    await this.#deps.store.save(checkpoint, head.summary, []);
    this.#record(checkpoint, 'imported', '');
    return head;
  }

  /** With the project. */
  forget(project: string): Promise<void> {
    return this.#deps.store.forget(project);
  }

  listProject(project: string): Promise<StoredHead[]> {
    return this.#deps.store.listProject(project);
  }

  async #text(checkpoint: Checkpoint, level: RestoreLevel, files: FilesReport | null): Promise<string> {
    const { versions, countTokens } = this.#deps;
    const now = await versions(checkpoint.session.project);
    const events = level === 'full' ? await this.#allEvents(checkpoint) : [];
    const isToken = await this.#tokensOf(checkpoint, events, files);
    const ofContext = (budgetTokens: number): Promise<string> => contextOf(checkpoint, budgetTokens, this.#deps);
    return restoredText(checkpoint, level, { events, contextOf: ofContext, now, files, isToken, countTokens });
  }

  /** An imported one, and one of another session, hold no tokens of the session that reads. */
  async #tokensOf(
    { session, position, name, body }: Checkpoint,
    events: readonly TrailEntry[] = [],
    files: FilesReport | null = null,
  ): Promise<IsToken> {
    const shown = [...events.map(({ text }) => text), ...(files?.files ?? []).map(({ path }) => path)];
    const text = position === 0 ? '' : [name, renderBody(body), ...shown].join('\n');
    const issued = new Set(await this.#deps.issuedIn(session, text));
    return (token) => issued.has(token) || MASKED.test(token);
  }

  /** From the log as long as it has more than the checkpoint itself. */
  async #allEvents({ session, position, body: { trail } }: Checkpoint): Promise<readonly TrailEntry[]> {
    if (position === 0) return trail;
    const events = (await this.#deps.eventLog.read(session, { to: position, newest: FULL_MAX })).filter(isShown);
    return events.length < trail.length ? trail : events.map((event) => entryOf(event, Number.POSITIVE_INFINITY));
  }

  #record({ id, session, name }: CheckpointHead, action: CheckpointAction, requestId: string): void {
    const facts = { action, id, requestId };
    const text = name === '' ? `checkpoint ${id} ${action}` : `checkpoint ${id} ${action}: ${name}`;
    const at = this.#deps.clock.now();
    this.#deps.eventLog.append({
      session,
      kind: 'checkpoint',
      at,
      sensitivity: 'internal',
      text,
      facts,
      artifact: null,
    });
  }
}

function filesOfAnother(id: string): ContextdError {
  return new ContextdError('PERMISSION_DENIED', `the files of checkpoint ${id} belong to another session`, {
    remedy: `Restore it without \`files\`, or ask a person to run \`ctxd checkpoint restore ${id} --files apply\`.`,
  });
}

/** An output that could not be searched is withheld, and so is what is known of its call. */
function isShown({ sensitivity }: SessionEvent): boolean {
  return sensitivity !== 'restricted';
}

/** `cp_` and 50 random bits. Short, because an agent pays for each character. */
function newCheckpointId(): string {
  return `cp_${newArtifactId().slice(4, 14)}`;
}

function headOf({ id, session, name, cause, position, createdMs }: Checkpoint): CheckpointHead {
  return { id, session, name, cause, position, createdMs };
}

function entryOf({ seq, at, kind, text }: SessionEvent, maxChars: number): TrailEntry {
  return { seq, at, kind, text: text.length <= maxChars ? text : text.slice(0, maxChars) };
}

/** The newest first: these are the ones that an agent would look at again. */
function artifactsOf(events: readonly SessionEvent[]): string[] {
  const all = events.flatMap(({ artifact }) => (artifact === null ? [] : [artifact]));
  return [...new Set(all.reverse())].slice(0, PINNED_MAX);
}
