import type { CallRequest } from '../../call/request.ts';
import type { AnswerForm } from '../../core/envelope.ts';
import { ContextdError, isErrorCode } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import {
  CallDoor,
  CallForm,
  type ExecuteRequest__Output,
  type RefusalReport__Output,
} from '../../protocol/generated/tool.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { type ReceivedCall, receive } from '../receive-call.ts';
import type { Caller } from './identities.ts';

/** Turns a message of the wire into a call. Dispatch decides what it means. */
export function receiveCall(
  wire: ExecuteRequest__Output,
  signal: AbortSignal,
  client: Caller,
  nowMs: number,
): ReceivedCall {
  const context = wire.context;
  const door = DOORS[context?.door ?? CallDoor.CALL_DOOR_OWN] ?? 'grpc';
  const given = {
    requestId: context?.request_id ?? '',
    principal: { door, client },
    ...(door === 'shell' ? { clientShell: { isMerged: wire.is_merged } } : {}),
    ...(door === 'shell' && wire.whole_text !== '' ? { wholeText: wire.whole_text } : {}),
    ...(wire.is_asked_again ? { isAskedAgain: true } : {}),
    tool: wire.tool,
    projectRoot: context?.project_root ?? '',
    session: context?.session_id ?? '',
    branch: context?.branch ?? '',
    surface: context?.surface ?? '',
    inputJson: wire.input_json,
    inputText: wire.input_text.length === 0 ? null : wire.input_text,
    form: formOf(wire.form),
    cwd: wire.cwd,
  } as const;
  const { request, fault } = receive(given, signal, nowMs);
  return { request, fault: unreadableFault(wire) ?? versionFault(context?.protocol_version ?? 0) ?? fault };
}

/** A door that this version does not know counts as the caller's own. */
const DOORS: Readonly<Partial<Record<CallDoor, 'grpc' | 'mcp' | 'shell'>>> = {
  [CallDoor.CALL_DOOR_OWN]: 'grpc',
  [CallDoor.CALL_DOOR_MCP]: 'mcp',
  [CallDoor.CALL_DOOR_SHELL]: 'shell',
};

function formOf(form: CallForm): AnswerForm {
  if (form === CallForm.CALL_FORM_CONTENT) return 'content';
  return form === CallForm.CALL_FORM_TEXT ? 'text' : 'json';
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
  is_merged: false,
  is_asked_again: false,
  whole_text: '',
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
