import { createHash } from 'node:crypto';
import type { AuditRecord } from '../../audit/record.ts';
import { DEFAULT_EFFECTS, type SessionEffect, sessionEffectOf } from '../../call/effects.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { RecordedCall } from '../../stores/recorded-call.ts';
import { errorLineOf } from './error-line.ts';
import { type CallEventFacts, isFailure, type NewEvent, resultOf, type Sensitivity } from './event.ts';
import { failedStatus, partStatuses } from './pipe-failure.ts';
import { isLooking } from './shell-command.ts';
import { reportedResult } from './test-result.ts';

/** Maximum number of characters of a subject and of a path. */
const SUBJECT_MAX_CHARS = 200;
/** Maximum number of quarantined paths in an event. */
const PATHS_MAX = 100;

/** The event of a call: its facts, and a one-line text of them. */
export function callEvent(call: RecordedCall): NewEvent {
  const { session, record, hasRun, data, texts, wasEnded, artifact, shows } = call;
  const whole = subjectOf(record);
  const subject = firstLine(whole);
  const effect = sessionEffectOf(record.effect) ?? DEFAULT_EFFECTS.session;
  const reported = hasRun && effect === 'command' && !isLooking(whole) ? reportedResult(texts) : null;
  const pipeStatus = hasRun ? partStatuses(record, whole, texts) : [];
  const known: CallEventFacts = {
    requestId: record.request_id,
    tool: record.tool,
    effect,
    subject,
    sameness: wasEnded || hasStartedJob(record) ? '' : samenessOf(record, whole),
    job: record.job ?? null,
    hasRun,
    exitCode: record.exit_code,
    pipeStatus,
    failedPart: failedStatus({ exitCode: record.exit_code, pipeStatus }, texts, reported),
    errorCode: record.error_code,
    errorLine: '',
    reported,
    durationMs: record.duration_ms,
    tokensSpent: record.tokens_returned ?? 0,
    filesWritten: filesWritten(record, effect, hasRun, data),
    quarantined: (record.quarantined ?? []).flatMap(pathOf).slice(0, PATHS_MAX),
    undo: undoOf(record),
  };
  const facts = isFailure(known) ? { ...known, errorLine: errorLineOf(texts) } : known;
  return {
    session,
    kind: effect === 'memory' ? 'memory' : 'call',
    at: call.endedMs ?? Date.parse(record.time),
    sensitivity: sensitivityOf(record),
    text: `${record.tool}${subject === '' ? '' : ` ${subject}`}${jobWords(facts)}: ${resultOf(facts)}`,
    facts,
    artifact,
    ...(shows === null ? {} : { parentArtifact: shows.split('/', 1)[0] ?? '' }),
  };
}

function jobWords({ job }: CallEventFacts): string {
  return job === null ? '' : ` (job ${job})`;
}

function hasStartedJob({ input, job, error_code: errorCode }: AuditRecord): boolean {
  return job === undefined && errorCode === null && isJsonObject(input) && input.background === true;
}

/** Properties that tell the subject of a call, by priority. */
const SUBJECTS = ['command', 'path', 'query', 'title', 'description', 'ref', 'id', 'name', 'task', 'job', 'action'];

function subjectOf({ input }: AuditRecord): string {
  if (typeof input === 'string') return input;
  const fields = isJsonObject(input) ? input : {};
  for (const name of SUBJECTS) {
    const value = fields[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}

function firstLine(text: string): string {
  const line = text.trim().split(/[\r\n\u2028\u2029]/, 1)[0] ?? '';
  const characters = [...line];
  const isCut = characters.length > SUBJECT_MAX_CHARS || line.length < text.trim().length;
  return isCut ? `${characters.slice(0, SUBJECT_MAX_CHARS - 1).join('')}…` : line;
}

function samenessOf({ tool, cwd = '', input }: AuditRecord, subject: string): string {
  const what = subject === '' ? input : subject;
  return createHash('sha256')
    .update(JSON.stringify([tool, cwd, what]))
    .digest('hex')
    .slice(0, 16);
}

/** Recorded file changes; if those are unknown, the path that the tool reports. */
function filesWritten(
  record: AuditRecord,
  effect: SessionEffect,
  hasRun: boolean,
  data: JsonObject,
): readonly string[] {
  const { files } = isJsonObject(record.files_changed) ? record.files_changed : {};
  if (Array.isArray(files)) return files.map((file) => String(file).slice(2, 2 + SUBJECT_MAX_CHARS));
  return hasRun && record.error_code === null && effect === 'edit' ? pathIn(data) : [];
}

function undoOf({ files_changed: changed }: AuditRecord): string | null {
  return isJsonObject(changed) && typeof changed.ref === 'string' ? changed.ref : null;
}

function pathIn({ path }: JsonObject): readonly string[] {
  return typeof path === 'string' ? [path.slice(0, SUBJECT_MAX_CHARS)] : [];
}

function pathOf(setAside: Json): string[] {
  return isJsonObject(setAside) && typeof setAside.path === 'string' ? [setAside.path.slice(0, SUBJECT_MAX_CHARS)] : [];
}

/** Texts of a call that touched a secret are masked, but still have restricted visibility. */
function sensitivityOf({ error_code, secrets_found, secrets_opened }: AuditRecord): Sensitivity {
  if (error_code === 'SCRUB_FAILED') return 'restricted';
  return secrets_found > 0 || secrets_opened !== undefined ? 'confidential' : 'internal';
}
