import { createHash } from 'node:crypto';
import type { AuditLog, AuditRecord, StartFacts } from '../../audit/log.ts';
import type { SessionEffect } from '../../call/effects.ts';
import { foundFields } from '../../call/facts.ts';
import type { Clock } from '../../core/clock.ts';
import { ERROR_TABLE } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { connectionRecord } from '../../runner/call-facts.ts';
import type { Journal } from '../../stores/journal.ts';
import type { OpenJobs } from '../../stores/open-jobs.ts';
import { errorCodeOf, type JobEnd, type JobSpec } from './job.ts';
import type { JobOutput } from './job-output.ts';

export interface JobRecordDeps {
  journal: Journal;
  auditLog: AuditLog;
  openJobs: Pick<OpenJobs, 'add'>;
  /** Masks secrets in what the agent wrote. */
  maskText(text: string): string;
  clock: Clock;
}

/** A job is a command, whatever started it. */
const JOB_EFFECT: SessionEffect = 'command';
/** Characters of a command that the log keeps. */
const KEPT_CHARS = 2_048;

/**
 * Records a job as it records a call: in the journal while it runs, with its start and its end in the audit log. If the
 * daemon dies meanwhile, the next daemon writes the end, INTERRUPTED.
 */
export async function recordStart(spec: JobSpec, artifact: string, deps: JobRecordDeps): Promise<void> {
  const { id, tool, session, number, startedMs } = spec;
  await deps.journal.begin({ requestId: id, tool, session });
  await deps.auditLog.begin(factsOf(spec, deps));
  const command = shownCommand(spec, deps);
  await deps.openJobs.add(session, { id, number, command, startedMs, artifact });
}

/** Returns the record of the end. */
export async function recordEnd(
  spec: JobSpec,
  end: JobEnd,
  output: JobOutput,
  deps: JobRecordDeps,
): Promise<AuditRecord> {
  const errorCode = errorCodeOf(end);
  const { text } = output;
  const record: AuditRecord = {
    ...factsOf(spec, deps),
    output_sha256: createHash('sha256').update(text).digest('hex'),
    output_bytes: Buffer.byteLength(text),
    duration_ms: Math.round(end.durationMs),
    run_ms: Math.round(end.durationMs),
    secrets_found: output.rules.size,
    secret_rules: [...output.rules],
    exit_code: end.exitCode ?? (errorCode === null ? null : ERROR_TABLE[errorCode].exitCode),
    error_code: errorCode,
    ...(text === '' ? {} : { artifact: true }),
    ...(end.denied.length > 0 ? { denied: end.denied.map((one) => masked({ ...one }, deps)) } : {}),
    ...(end.connections.length > 0
      ? { connections: end.connections.map((one) => masked({ ...connectionRecord(one) }, deps)) }
      : {}),
    ...foundFields(end.quarantined),
  };
  await deps.auditLog.end(record);
  await deps.journal.finish(spec.id, errorCode);
  return record;
}

/** Names and paths come from the command. */
function masked(fact: JsonObject, { maskText }: JobRecordDeps): JsonObject {
  return Object.fromEntries(
    Object.entries(fact).map(([key, value]) => [key, typeof value === 'string' ? maskText(value) : value]),
  );
}

function shownCommand({ command }: JobSpec, { maskText }: Pick<JobRecordDeps, 'maskText'>): string {
  const masked = maskText(command);
  return masked.length <= KEPT_CHARS ? masked : `${masked.slice(0, KEPT_CHARS)}… (${command.length} characters)`;
}

function factsOf(spec: JobSpec, { maskText }: Pick<JobRecordDeps, 'maskText'>): StartFacts {
  const { id, number, session, tool, cwd, startedMs } = spec;
  const input: JsonObject = { command: shownCommand(spec, { maskText }), background: true };
  return {
    time: new Date(startedMs).toISOString(),
    request_id: id,
    session: maskText(session.session),
    project: session.project,
    cwd: maskText(cwd),
    door: 'job',
    tool,
    effect: JOB_EFFECT,
    input,
    job: number,
  };
}
