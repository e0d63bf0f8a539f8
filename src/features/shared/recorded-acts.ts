import { type AuditLog, type AuditRecord, PERSON_DOOR, type StartFacts } from '../../audit/log.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type {
  ActNotes,
  ActRecord,
  PersonAct,
  Requests,
  RpcHandlers,
  RpcMethods,
  RpcName,
} from '../../protocol/management-contract.ts';
import { actOf, rpcMethods } from '../../protocol/management-rpcs.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';

export interface RecordedActsDeps {
  auditLog: Pick<AuditLog, 'begin' | 'end'>;
  scrubber: Pick<Scrubber, 'maskText'>;
  clock: Clock;
}

/**
 * The rpcs, each of which is on record if MANAGEMENT_RPCS calls it an act: its start before its handler runs, and its end
 * with what came of it, also if it failed. Throws AUDIT_FAILED if the start cannot be recorded; then nothing was done.
 */
export function recordedMethods(handlers: RpcHandlers, deps: RecordedActsDeps): RpcMethods {
  return rpcMethods((name) => (request) => {
    const act = actOf(name, request);
    const project = projectOf(request);
    if (act === null) return handlers[name](request, UNRECORDED);
    return recordAct({ project, ...act }, (record) => handlers[name](request, record), deps);
  });
}

/** The only writer of records of what a person did. */
export async function recordAct<T>(
  { command, input, project = '' }: PersonAct,
  carryOut: (record: ActRecord) => Promise<T>,
  { auditLog, scrubber, clock }: RecordedActsDeps,
): Promise<T> {
  const masked = <V extends Json>(value: V): V =>
    JSON.parse(JSON.stringify(value), (_key, part) => (typeof part === 'string' ? scrubber.maskText(part) : part));
  const startedMs = clock.now();
  const requestId = newRequestId(startedMs);
  const notes: ActNotes = {};
  const start: StartFacts = {
    time: new Date(startedMs).toISOString(),
    request_id: requestId,
    session: '',
    project,
    door: PERSON_DOOR,
    tool: command,
    input: masked(input),
  };
  const end = (error_code: string | null): AuditRecord => ({
    ...start,
    project: notes.project ?? project,
    session: scrubber.maskText(notes.session ?? ''),
    kind: 'person',
    input: masked({ ...input, ...notes.input }),
    ...(notes.files_changed === undefined ? {} : { files_changed: notes.files_changed }),
    output_sha256: '',
    output_bytes: 0,
    duration_ms: clock.now() - startedMs,
    secrets_found: 0,
    secret_rules: [],
    exit_code: null,
    error_code,
  });
  const note = (more: ActNotes): void => {
    Object.assign(notes, more, { input: { ...notes.input, ...more.input } });
  };
  await auditLog.begin(start);
  try {
    const answer = await carryOut({ requestId, note });
    await auditLog.end(end(null));
    return answer;
  } catch (thrown) {
    await auditLog.end(end(ContextdError.from(thrown).code));
    throw thrown;
  }
}

/** For requests that only read. */
const UNRECORDED: ActRecord = { requestId: '', note: () => undefined };

function projectOf(request: Requests[RpcName]): string {
  const { root }: { root?: unknown } = isJsonObject(request) ? request : {};
  return typeof root === 'string' ? root : '';
}
