import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { invalid, readOptionalString, readString } from '../../sdk/input.ts';
import type { ArtifactStore } from '../../stores/artifacts.ts';
import { quote } from '../events/quote.ts';
import type { FilesReport } from './checkpoint-files.ts';
import type { Checkpoints, FilesWish } from './checkpoints.ts';
import { LEVELS, type RestoreLevel } from './restored-text.ts';
import { oneLine } from './session-facts.ts';

export interface CheckpointServiceDeps {
  checkpoints: Pick<Checkpoints, 'save' | 'list' | 'listReadable' | 'restore' | 'note'>;
  artifacts: Pick<ArtifactStore, 'put'>;
  countTokens(text: string): number;
}

const NAME_MAX_CHARS = 80;
const NOTE_MAX_CHARS = 8_000;
/** Tokens of the list as JSON; the rest of the line has the others of 500. */
const LIST_MAX_TOKENS = 340;

/** `CheckpointSave`: `{name?, note?}` → `{checkpoint_id, position, files_not_kept?}`. Throws ARGS_INVALID, STORAGE_FULL. */
export async function saveCheckpoint(
  session: SessionRef,
  request: JsonObject,
  { requestId }: Pick<ServiceCall, 'requestId'>,
  { checkpoints }: CheckpointServiceDeps,
): Promise<ServiceAnswer> {
  const { id, position, files } = await checkpoints.save(session, { ...readNew(request), cause: 'asked', requestId });
  const notKept = files.tree === null ? { files_not_kept: files.why } : {};
  return { answer: { checkpoint_id: id, position, ...notKept } };
}

/** Reads `name` and `note`. Throws ARGS_INVALID for one that is too long. */
export function readNew(request: JsonObject): { name: string; note: string } {
  const name = oneLine(readOptionalString(request, 'name') ?? '', Number.POSITIVE_INFINITY);
  const note = (readOptionalString(request, 'note') ?? '').trim();
  if (name.length > NAME_MAX_CHARS) throw invalid('name', `has ${name.length} characters of at most ${NAME_MAX_CHARS}`);
  if (note.length > NOTE_MAX_CHARS) throw invalid('note', `has ${note.length} characters of at most ${NOTE_MAX_CHARS}`);
  return { name, note };
}

/** Words as they are; what could be more than words is quoted. */
function shownName(name: string): string {
  return /^[\p{L}\p{N}][\p{L}\p{N} .,:;_+#/()-]*$/u.test(name) ? name : quote(name, NAME_MAX_CHARS);
}

/**
 * `CheckpointList` → `{checkpoints: [{id, session?, name?, saved, summary}], left_out?}`: its own, then those of other sessions,
 * which name it; the newest first, within 340 tokens.
 */
export async function listCheckpoints(
  session: SessionRef,
  { checkpoints, countTokens }: CheckpointServiceDeps,
): Promise<ServiceAnswer> {
  const all = await checkpoints.listReadable(session);
  let left = LIST_MAX_TOKENS;
  const shown: JsonObject[] = [];
  for (const { id, name, createdMs, summary, session: owner } of all) {
    const saved = new Date(createdMs).toISOString().slice(0, 16);
    const of = owner.session === session.session ? {} : { session: owner.session };
    const item = { id, ...of, ...(name === '' ? {} : { name: shownName(name) }), saved, summary };
    const cost = countTokens(`${JSON.stringify(item)},`);
    // One that is too long hides no other.
    if (cost > left) continue;
    left -= cost;
    shown.push(item);
  }
  const leftOut = all.length - shown.length;
  return { answer: { checkpoints: shown, ...(leftOut === 0 ? {} : { left_out: leftOut }) } };
}

/**
 * `CheckpointRestore`: `{id, level?, files?}` → `{id, name?, level, files?: {changed, stay, saved_first?, undo?}}`. A core
 * tool shows the text, another gets it as `content`. Throws ARGS_INVALID, NOT_FOUND, VERSION_MISMATCH, INTEGRITY_FAILED,
 * CONFLICT; PERMISSION_DENIED if another tool wants files put back.
 */
export async function restoreCheckpoint(
  session: SessionRef,
  request: JsonObject,
  { requestId, tool, isCore }: Pick<ServiceCall, 'requestId' | 'tool' | 'isCore'>,
  { checkpoints, artifacts }: CheckpointServiceDeps,
): Promise<ServiceAnswer> {
  const level = levelOf(readOptionalString(request, 'level') ?? '');
  const files = filesOf(readOptionalString(request, 'files') ?? '');
  if (files === 'apply' && !isCore) throw notForTools();
  const restored = await checkpoints.restore(session, { id: readString(request, 'id'), level, files, requestId });
  const { id, name } = restored.checkpoint;
  const answer = { id, ...(name === '' ? {} : { name: shownName(name) }), level, ...figuresOf(restored.files) };
  if (!isCore) return { answer: { ...answer, content: restored.text } };
  // Masked when it was recorded. Secrets that became known since are masked when it is shown.
  const texts = [{ field: 'content', text: restored.text }];
  const { id: artifact, committed } = artifacts.put(session, requestId, tool, texts, 0);
  await committed;
  return { answer, shows: artifact, standardView: 'head' };
}

function figuresOf(report: FilesReport | null): JsonObject {
  if (report === null) return {};
  const { changed, stay, applied } = report;
  if (applied === null) return { files: { changed, stay } };
  const undo = applied.undo === '' ? {} : { undo: applied.undo };
  return { files: { changed, stay, saved_first: applied.savedFirst, ...undo } };
}

function notForTools(): ContextdError {
  return new ContextdError('PERMISSION_DENIED', 'a tool cannot put the files of a checkpoint back', {
    remedy: 'Call checkpoint_restore with `files: "apply"`, or ask for a report.',
  });
}

/** "" is the default (CE-2.3). Throws ARGS_INVALID. */
export function levelOf(text: string): RestoreLevel {
  const level = LEVELS.find((one) => one === (text === '' ? 'context' : text));
  if (level === undefined) throw invalid('level', `must be ${LEVELS.join(', ')}`);
  return level;
}

/** "" is `none`. Throws ARGS_INVALID. */
export function filesOf(text: string): FilesWish {
  if (text === '') return 'none';
  if (text === 'report' || text === 'apply') return text;
  throw invalid('files', 'must be report or apply');
}
