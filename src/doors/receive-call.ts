import { posix } from 'node:path';
import type { CallAnswer, CallRequest, Dispatch, Refuse } from '../call/request.ts';
import { ContextdError } from '../core/errors.ts';
import { newRequestId, REQUEST_ID_PATTERN } from '../core/ids.ts';
import { INPUT_MAX_BYTES } from '../core/limits.ts';
import type { Logger } from '../core/log.ts';
import { isBelow } from '../core/paths.ts';
import { isSurface } from '../core/surfaces.ts';

/** Maximum characters of the fields of a call. A longer field is cut and the call is refused. */
const FIELD_MAX_CHARS = { tool: 128, project_root: 4096, session_id: 4096, branch: 128, cwd: 4096 } as const;

/** Of version 00. A later version may add to it. */
const TRACE_PARENT_CHARS = 55;

/** A call as its caller wrote it. Nothing in it has been checked. */
export interface GivenCall
  extends Pick<CallRequest, 'principal' | 'form' | 'clientShell' | 'wholeText' | 'isAskedAgain' | 'traceParent'> {
  requestId: string;
  tool: string;
  projectRoot: string;
  session: string;
  branch: string;
  /** Of an MCP client. Any other text than the name of a surface is ignored. */
  surface?: string;
  cwd: string;
  inputJson: Buffer;
  /** Null: no words were given. */
  inputText: Buffer | null;
}

export interface ReceivedCall {
  /** Safe to record, even if the call is refused. */
  request: CallRequest;
  /** Why the door refuses the call, or undefined. */
  fault: ContextdError | undefined;
}

/** Checks the shape and size of a call. Every door uses this; dispatch decides what the call means. */
export function receive(given: GivenCall, signal: AbortSignal, nowMs: number): ReceivedCall {
  const projectRoot = given.projectRoot.slice(0, FIELD_MAX_CHARS.project_root);
  const request: CallRequest = {
    requestId: REQUEST_ID_PATTERN.test(given.requestId) ? given.requestId : newRequestId(nowMs),
    principal: given.principal,
    tool: given.tool.slice(0, FIELD_MAX_CHARS.tool),
    projectRoot,
    sessionHint: given.session.slice(0, FIELD_MAX_CHARS.session_id),
    branchHint: given.branch.slice(0, FIELD_MAX_CHARS.branch),
    inputJson: given.inputJson.subarray(0, INPUT_MAX_BYTES),
    inputText: given.inputText?.subarray(0, INPUT_MAX_BYTES) ?? null,
    form: given.form,
    cwd: insideOr(projectRoot, given.cwd),
    signal,
    ...(isSurface(given.surface) ? { surface: given.surface } : {}),
    ...(given.clientShell === undefined ? {} : { clientShell: given.clientShell }),
    ...(given.wholeText === undefined ? {} : { wholeText: given.wholeText }),
    ...(given.traceParent === undefined ? {} : { traceParent: given.traceParent.slice(0, TRACE_PARENT_CHARS) }),
    ...(given.isAskedAgain === true ? { isAskedAgain: true } : {}),
  };
  return { request, fault: sizeFault(given) };
}

/** A directory outside the project means its root: a call never leaves the project because of where it is made. */
function insideOr(root: string, cwd: string): string {
  const isPlain = cwd.length <= FIELD_MAX_CHARS.cwd && !cwd.includes('\0') && posix.normalize(cwd) === cwd;
  return isPlain && isBelow(root, cwd) ? cwd.replace(/\/$/, '') : root;
}

function sizeFault(given: GivenCall): ContextdError | undefined {
  const size = given.inputJson.length + (given.inputText?.length ?? 0) + Buffer.byteLength(given.wholeText ?? '');
  if (size > INPUT_MAX_BYTES) {
    return new ContextdError('PAYLOAD_TOO_LARGE', `the arguments have ${size} bytes, the limit is ${INPUT_MAX_BYTES}`, {
      remedy: 'Put large content into a file of the workspace and pass its path.',
      details: { size, limit: INPUT_MAX_BYTES },
    });
  }
  const { tool, projectRoot: project_root, session: session_id, branch, cwd } = given;
  const fields: Readonly<Record<string, string>> = { tool, project_root, session_id, branch, cwd };
  for (const [name, limit] of Object.entries(FIELD_MAX_CHARS)) {
    const length = fields[name]?.length ?? 0;
    if (length > limit) return fieldTooLong(name, length, limit);
  }
  return undefined;
}

function fieldTooLong(name: string, size: number, limit: number): ContextdError {
  return new ContextdError('ARGS_INVALID', `${name} has ${size} characters, the limit is ${limit}`, {
    remedy: `Pass a shorter ${name}.`,
    details: { field: name, size, limit },
  });
}

export interface AnswerDeps {
  dispatch: Dispatch;
  refuse: Refuse;
  logger: Logger;
}

/**
 * Dispatch answers every failure itself. If it throws anyway, the caller still gets an envelope. A stopping daemon
 * throws DAEMON_UNAVAILABLE, which is passed through: the call may be sent again.
 */
export async function answerReceived({ request, fault }: ReceivedCall, deps: AnswerDeps): Promise<CallAnswer> {
  if (fault !== undefined) return deps.refuse(request, fault);
  try {
    return await deps.dispatch(request);
  } catch (thrown) {
    if (thrown instanceof ContextdError && thrown.code === 'DAEMON_UNAVAILABLE') throw thrown;
    deps.logger.error('call.unanswered', { request_id: request.requestId }, thrown);
    return await deps.refuse(request, ContextdError.from(thrown));
  }
}
