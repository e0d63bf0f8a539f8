import { ContextdError } from '../core/errors.ts';
import { newRequestId, REQUEST_ID_PATTERN } from '../core/ids.ts';
import { INPUT_MAX_BYTES } from '../core/limits.ts';
import type { ExecuteRequest__Output } from '../protocol/generated/contextd/v1/ExecuteRequest.ts';
import { PROTOCOL_VERSION } from '../protocol/versions.ts';
import type { CallRequest } from './door.ts';
import { unreadableFault } from './unreadable-request.ts';

/** Characters that the fields of a call may have; what is longer is cut and the call refused. */
const FIELD_MAX_CHARS = { tool: 128, project_root: 4096, session_id: 4096 } as const;

export interface ReceivedCall {
  /** Safe to hand on, to be recorded, even when the call is refused. */
  request: CallRequest;
  /** Why the door turns the call away; undefined when it does not. */
  fault: ContextdError | undefined;
}

/** A message of the wire as a call. What it means is dispatch's question. */
export function receiveCall(wire: ExecuteRequest__Output, signal: AbortSignal, nowMs: number): ReceivedCall {
  const context = wire.context;
  const requestId = context?.request_id ?? '';
  const request: CallRequest = {
    requestId: REQUEST_ID_PATTERN.test(requestId) ? requestId : newRequestId(nowMs),
    door: 'grpc',
    tool: wire.tool.slice(0, FIELD_MAX_CHARS.tool),
    projectRoot: (context?.project_root ?? '').slice(0, FIELD_MAX_CHARS.project_root),
    sessionHint: (context?.session_id ?? '').slice(0, FIELD_MAX_CHARS.session_id),
    inputJson: wire.input_json.subarray(0, INPUT_MAX_BYTES),
    signal,
  };
  const fault = unreadableFault(wire) ?? versionFault(context?.protocol_version ?? 0) ?? sizeFault(wire);
  return { request, fault };
}

/** Proxy and daemon come in one package, but a daemon may outlive an upgrade. */
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
  const size = wire.input_json.length;
  if (size > INPUT_MAX_BYTES) {
    return new ContextdError('PAYLOAD_TOO_LARGE', `the arguments have ${size} bytes, the limit is ${INPUT_MAX_BYTES}`, {
      remedy: 'Put large content into a file of the workspace and pass its path.',
      details: { size, limit: INPUT_MAX_BYTES },
    });
  }
  const fields = { tool: wire.tool, project_root: wire.context?.project_root, session_id: wire.context?.session_id };
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
