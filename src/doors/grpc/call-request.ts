import { posix } from 'node:path';
import type { CallRequest } from '../../call/request.ts';
import { ContextdError, isErrorCode } from '../../core/errors.ts';
import { newRequestId, REQUEST_ID_PATTERN } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { INPUT_MAX_BYTES } from '../../core/limits.ts';
import { isBelow } from '../../core/paths.ts';
import { CallForm, type ExecuteRequest__Output, type RefusalReport__Output } from '../../protocol/generated/tool.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import type { Caller } from './identities.ts';

/** Maximum characters of the fields of a call. A longer field is cut and the call is refused. */
const FIELD_MAX_CHARS = { tool: 128, project_root: 4096, session_id: 4096, branch: 128, cwd: 4096 } as const;

interface ReceivedCall {
  /** Safe to record, even if the call is refused. */
  request: CallRequest;
  /** Why the door refuses the call, or undefined. */
  fault: ContextdError | undefined;
}

/** Turns a message of the wire into a call. Dispatch decides what it means. */
export function receiveCall(
  wire: ExecuteRequest__Output,
  signal: AbortSignal,
  client: Caller,
  nowMs: number,
): ReceivedCall {
  const context = wire.context;
  const requestId = context?.request_id ?? '';
  const projectRoot = (context?.project_root ?? '').slice(0, FIELD_MAX_CHARS.project_root);
  const request: CallRequest = {
    requestId: REQUEST_ID_PATTERN.test(requestId) ? requestId : newRequestId(nowMs),
    principal: { door: 'grpc', client },
    tool: wire.tool.slice(0, FIELD_MAX_CHARS.tool),
    projectRoot,
    sessionHint: (context?.session_id ?? '').slice(0, FIELD_MAX_CHARS.session_id),
    branchHint: (context?.branch ?? '').slice(0, FIELD_MAX_CHARS.branch),
    inputJson: wire.input_json.subarray(0, INPUT_MAX_BYTES),
    inputText: wire.input_text.length === 0 ? null : wire.input_text.subarray(0, INPUT_MAX_BYTES),
    form: wire.form === CallForm.CALL_FORM_TEXT ? 'text' : 'json',
    cwd: insideOr(projectRoot, wire.cwd),
    signal,
  };
  const fault = unreadableFault(wire) ?? versionFault(context?.protocol_version ?? 0) ?? sizeFault(wire);
  return { request, fault };
}

/** A directory outside the project means its root: a call never leaves the project because of where it is made. */
function insideOr(root: string, cwd: string): string {
  const isPlain = cwd.length <= FIELD_MAX_CHARS.cwd && !cwd.includes('\0') && posix.normalize(cwd) === cwd;
  return isPlain && isBelow(root, cwd) ? cwd.replace(/\/$/, '') : root;
}

/** Proxy and daemon are installed together, but a daemon may outlive an upgrade. */
export function versionFault(spoken: number): ContextdError | undefined {
  if (spoken === PROTOCOL_VERSION) return undefined;
  return new ContextdError(
    'VERSION_MISMATCH',
    `the caller speaks protocol version ${spoken}, this daemon version ${PROTOCOL_VERSION}`,
    {
      remedy: 'Run `ctxd server restart`; if that does not help, run ./install.sh again.',
      details: { caller: spoken, daemon: PROTOCOL_VERSION },
    },
  );
}

function sizeFault(wire: ExecuteRequest__Output): ContextdError | undefined {
  const size = wire.input_json.length + wire.input_text.length;
  if (size > INPUT_MAX_BYTES) {
    return new ContextdError('PAYLOAD_TOO_LARGE', `the arguments have ${size} bytes, the limit is ${INPUT_MAX_BYTES}`, {
      remedy: 'Put large content into a file of the workspace and pass its path.',
      details: { size, limit: INPUT_MAX_BYTES },
    });
  }
  const { project_root, session_id, branch } = wire.context ?? {};
  const fields = { tool: wire.tool, project_root, session_id, branch, cwd: wire.cwd };
  for (const [name, limit] of Object.entries(FIELD_MAX_CHARS)) {
    const length = fieldLength(fields, name);
    if (length > limit) return fieldTooLong(name, length, limit);
  }
  return undefined;
}

function fieldLength(fields: Readonly<Record<string, string | undefined>>, name: string): number {
  return fields[name]?.length ?? 0;
}

function fieldTooLong(name: string, size: number, limit: number): ContextdError {
  return new ContextdError('ARGS_INVALID', `${name} has ${size} characters, the limit is ${limit}`, {
    remedy: `Pass a shorter ${name}.`,
    details: { field: name, size, limit },
  });
}

/** A call that the proxy refused, and the error with which it answered. */
interface ReportedRefusal {
  request: CallRequest;
  why: ContextdError;
}

/**
 * Checks the shape of a report. Throws ARGS_INVALID if it has no call or an error code that is not in docs/errors.md.
 */
export function receiveRefusal(
  wire: RefusalReport__Output,
  signal: AbortSignal,
  client: Caller,
  nowMs: number,
): ReportedRefusal {
  const code = wire.error_code;
  if (wire.call === null || !isErrorCode(code)) {
    throw new ContextdError('ARGS_INVALID', 'the report names no call, or no error code of docs/errors.md', {
      remedy: 'Run ./install.sh again: proxy and daemon are of different versions.',
    });
  }
  const { request } = receiveCall(wire.call, signal, client, nowMs);
  const why = new ContextdError(code, wire.message, {
    ...(wire.remedy === '' ? {} : { remedy: wire.remedy }),
    details: detailsOf(wire.details_json),
  });
  return { request: { ...request, principal: { door: 'proxy', client } }, why };
}

function detailsOf(json: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Stands for a message that is not an ExecuteRequest, so that it is answered and recorded like a call. */
const UNREADABLE: ExecuteRequest__Output = {
  tool: '',
  input_json: Buffer.alloc(0),
  context: null,
  form: CallForm.CALL_FORM_JSON,
  cwd: '',
  input_text: Buffer.alloc(0),
};

interface Decoding {
  requestDeserialize(bytes: Buffer): ExecuteRequest__Output;
}

/** The method with a decoder that does not throw. gRPC's own error answer would not be recorded. */
export function withAnyRequest<Method extends Decoding>(method: Method): Method {
  return {
    ...method,
    requestDeserialize(bytes: Buffer): ExecuteRequest__Output {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return UNREADABLE;
      }
    },
  };
}

/** Undefined if the message could be decoded. */
function unreadableFault(wire: ExecuteRequest__Output): ContextdError | undefined {
  if (wire !== UNREADABLE) return undefined;
  return new ContextdError('ARGS_INVALID', 'the message of the call is not an ExecuteRequest', {
    remedy: 'Encode it as proto/contextd/v1/tool.proto says.',
  });
}
