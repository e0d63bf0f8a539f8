import type { AuditLog } from '../../audit/log.ts';
import { NO_END } from '../../audit/record.ts';
import { recordOfFacts } from '../../call/fact-operations.ts';
import { type FileChanges, NO_FACTS } from '../../call/outcome.ts';
import type { Clock } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import { isBelow } from '../../core/paths.ts';
import { toRaw } from '../../fs/raw-path.ts';
import type { Scrubber, SecretUse } from '../../scrub/scrubber.ts';
import type { RecordedCall } from '../../stores/recorded-call.ts';
import type { Undo } from '../undo/undo.ts';
import type { HookCall } from './hook-event.ts';
import { realPlace } from './judge-call.ts';

export interface RecordDeps {
  /** Null if changes are not kept at all. */
  undo: Pick<Undo, 'look' | 'take'> | null;
  auditLog: Pick<AuditLog, 'append'>;
  scrubber: Pick<Scrubber, 'maskText'>;
  /** Must return at once and never throw. */
  onCallEnded(call: RecordedCall): void;
  clock: Clock;
  logger: Logger;
}

/** Milliseconds that a call waits for the first snapshot of its project. */
const WAIT_MAX_MS = 20_000;

/** Call before a client's tool writes: what has changed until now belongs to others. A failure stops no edit. */
export async function watchFiles({ session, event }: HookCall, { undo, logger }: RecordDeps): Promise<void> {
  if (undo === null || pathsInside(event.paths, session.project).length === 0) return;
  try {
    await within(WAIT_MAX_MS, undo.look(session.project), () => {
      throw new ContextdError('TIMEOUT', `the files were not read within ${WAIT_MAX_MS} ms`);
    });
  } catch (cause) {
    logger.warn('undo.not_kept', { project: session.project, why: String(cause) });
  }
}

/** Call after a client's tool has written. Null if nothing changed, or changes cannot be kept. */
export async function takeFiles(call: HookCall, { undo, clock }: RecordDeps): Promise<FileChanges | null> {
  const { session, event, requestId } = call;
  const paths = pathsInside(event.paths, session.project);
  if (undo === null || paths.length === 0) return null;
  const id = { requestId, tool: event.tool, session: session.session };
  return undo.take(session.project, id, paths.map(toRaw), clock.now() - event.durationMs);
}

/** Relative to the project, with links resolved: what undo knows. */
function pathsInside(paths: readonly string[], root: string): string[] {
  return paths
    .map(realPlace)
    .filter((path) => isBelow(root, path))
    .map((path) => path.slice(root.length + 1));
}

interface Ended {
  errorCode: ErrorCode | null;
  secrets: readonly SecretUse[];
  fileChanges: FileChanges | null;
}

/** Puts the call into the audit log and the log of the session. Throws AUDIT_FAILED. */
export async function recordHookCall(call: HookCall, ended: Ended, deps: RecordDeps): Promise<void> {
  const { session, event, requestId } = call;
  const { errorCode, secrets, fileChanges } = ended;
  const mask = (text: string): string => deps.scrubber.maskText(text);
  const input = inputOf(call, mask);
  const record = {
    time: new Date(deps.clock.now() - event.durationMs).toISOString(),
    request_id: requestId,
    session: mask(session.session),
    project: session.project,
    door: 'hook',
    tool: mask(event.tool).slice(0, 100),
    effect: event.does === 'write' ? 'edit' : 'look',
    input,
    ...NO_END,
    duration_ms: event.durationMs,
    exit_code: errorCode === null ? 0 : ERROR_TABLE[errorCode].exitCode,
    error_code: errorCode,
    secrets_found: secrets.length,
    secret_rules: [...new Set(secrets.map(({ rule }) => rule))],
    ...recordOfFacts({ ...NO_FACTS, fileChanges }, mask),
  };
  await deps.auditLog.append(record);
  const hasRun = errorCode === null;
  deps.onCallEnded({ session, record, hasRun, data: input, texts: [], wasEnded: false, artifact: null, shows: null });
}

/** The path alone: contents are in the files, and in what undo keeps. */
function inputOf({ event, session }: HookCall, mask: (text: string) => string): JsonObject {
  const [path] = event.paths;
  if (path === undefined) return {};
  return { path: mask(isBelow(session.project, path) ? path.slice(session.project.length + 1) : path) };
}
