import type { AuditLog, AuditRecord } from '../../audit/log.ts';
import { SESSION_EFFECTS, sessionEffectOf } from '../../call/effects.ts';
import type { Clock } from '../../core/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { type ArtifactStore, readStreams } from '../../stores/artifacts.ts';
import { lastErrorBlock } from '../../tokens/views/errors.ts';
import { isFailure } from '../events/event.ts';
import { failedStatus, partStatuses } from '../events/pipe-failure.ts';
import { isLooking } from '../events/shell-command.ts';
import { reportedResult } from '../events/test-result.ts';
import { maskAlone } from '../shared/kept-text.ts';
import type { RecordedCall } from './distill/lessons.ts';

export interface RecordedCallsDeps {
  auditLog: Pick<AuditLog, 'find'>;
  artifacts: ArtifactStore;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'forget'>;
  clock: Clock;
}

/** Characters of an error, and of the input of a tool. */
const ERROR_MAX_CHARS = 1_500;
const DETAIL_MAX_CHARS = 1_200;
/** Bytes of an output that are searched for an error: its end. */
const SEARCHED_MAX_BYTES = 1024 * 1024;
/** Calls that were not carried out or not carried to their end: they say nothing about the work. */
const NOT_CARRIED_OUT: ReadonlySet<string> = new Set(['CANCELLED', 'INTERRUPTED', 'RATE_LIMITED', 'ARGS_INVALID']);

/** The calls of a project by their ids, the oldest first, masked so that they can outlive their sessions. */
export async function readRecordedCalls(
  project: string,
  requestIds: readonly string[],
  deps: RecordedCallsDeps,
): Promise<RecordedCall[]> {
  const records = await deps.auditLog.find(project, { requestIds });
  const calls: RecordedCall[] = [];
  for (const [session, own] of bySession(records)) {
    const read = await Promise.all(own.map((record) => readCall(record, deps)));
    calls.push(...(await masked(project, session, read, deps)));
  }
  const order = new Map(records.map(({ request_id }, place) => [request_id, place]));
  return calls.sort((a, b) => (order.get(a.requestId) ?? 0) - (order.get(b.requestId) ?? 0));
}

function bySession(records: readonly AuditRecord[]): Map<string, AuditRecord[]> {
  const sessions = new Map<string, AuditRecord[]>();
  for (const record of records) {
    const { error_code: code, session, job } = record;
    const effect = sessionEffectOf(record.effect);
    if (effect === null || !SESSION_EFFECTS[effect].teaches) continue;
    if (job !== undefined || (code !== null && NOT_CARRIED_OUT.has(code))) continue;
    sessions.set(session, [...(sessions.get(session) ?? []), record]);
  }
  return sessions;
}

async function readCall(record: AuditRecord, deps: RecordedCallsDeps): Promise<RecordedCall> {
  const action = actionOf(record);
  const { error_code: code, exit_code: exitCode, pipe_status: measured = [] } = record;
  const mayHide = action.kind === 'command' && !isLooking(action.subject);
  const hasStatus = code !== null || (exitCode ?? 0) !== 0 || measured.length > 0;
  const output = hasStatus || mayHide ? await outputOfCall(record, deps) : '';
  const pipeStatus = partStatuses(record, action.subject, [output]);
  const reported = mayHide ? reportedResult([output]) : null;
  const failedPart = failedStatus({ exitCode, pipeStatus }, [output], reported);
  const hasFailed = isFailure({ errorCode: code, exitCode, pipeStatus, failedPart, reported });
  const error = hasFailed ? errorIn(output, record) : '';
  const changesFiles = isJsonObject(record.files_changed);
  return {
    requestId: record.request_id,
    session: record.session,
    ...action,
    isFailure: hasFailed,
    changesFiles,
    error,
  };
}

function actionOf({ tool, effect, input }: AuditRecord): Pick<RecordedCall, 'kind' | 'subject' | 'detail'> {
  const fields = isJsonObject(input) ? input : {};
  if (effect === 'command' && typeof fields.command === 'string')
    return { kind: 'command', subject: fields.command, detail: '' };
  if (effect === 'edit' && typeof fields.path === 'string')
    return { kind: 'edit', subject: fields.path, detail: changeOf(fields).slice(0, DETAIL_MAX_CHARS) };
  return { kind: 'other', subject: tool, detail: JSON.stringify(input).slice(0, DETAIL_MAX_CHARS) };
}

function changeOf({ edits, patch, content }: JsonObject): string {
  if (typeof patch === 'string') return patch;
  if (typeof content === 'string') return content;
  if (!Array.isArray(edits)) return '';
  return edits
    .flatMap((edit: Json) => (isJsonObject(edit) ? [`${signed('-', edit.old)}\n${signed('+', edit.new)}`] : []))
    .join('\n');
}

function signed(sign: string, text: Json | undefined): string {
  return typeof text === 'string' ? text.replace(/^/gm, sign) : sign;
}

/** What the call printed; '' if nothing is stored. */
async function outputOfCall(record: AuditRecord, { artifacts }: RecordedCallsDeps): Promise<string> {
  const session = { project: record.project, session: record.session, branch: null };
  const id = await artifacts.ofCall(session, record.request_id);
  return id === null ? '' : await outputOf(artifacts, session, id);
}

/** What the output says of the failure, as an answer shows it; the code if nothing is stored. */
function errorIn(output: string, record: AuditRecord): string {
  const block = lastErrorBlock(output, ERROR_MAX_CHARS);
  if (block !== null) return output.slice(block.start, block.end);
  if (output.trim() !== '') return output.trimEnd().slice(-ERROR_MAX_CHARS).split('\n').slice(-8).join('\n');
  return record.error_code ?? '';
}

/** Its end, if it is long. Empty if it has expired. */
async function outputOf(
  artifacts: ArtifactStore,
  session: { project: string; session: string; branch: null },
  id: string,
): Promise<string> {
  try {
    const { bytes } = await artifacts.info(session, id);
    if (bytes <= SEARCHED_MAX_BYTES)
      return (await readStreams(artifacts, session, id)).map(({ text }) => text).join('\n');
    return (await artifacts.read(session, id, bytes - SEARCHED_MAX_BYTES, bytes)).toString('utf8');
  } catch {
    return '';
  }
}

/** The names of secrets are those of the session of the calls. */
async function masked(
  project: string,
  session: string,
  calls: readonly RecordedCall[],
  deps: RecordedCallsDeps,
): Promise<RecordedCall[]> {
  const texts = calls.map(({ subject, detail, error }) => ({ subject, detail, error }));
  const kept = await maskAlone(project, texts, deps, { project, session, branch: null });
  return calls.map((call, place) => ({ ...call, ...kept[place] }));
}
