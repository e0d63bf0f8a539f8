import { decodeFields, encodeBytes, encodeUint32 } from './protobuf.ts';

/** The methods of tool.proto this client calls. */
export const EXECUTE_PATH = '/contextd.v1.ToolService/Execute';
export const REPORT_REFUSAL_PATH = '/contextd.v1.ToolService/ReportRefusal';
export const EXECUTE_WITH_PROGRESS_PATH = '/contextd.v1.ToolService/ExecuteWithProgress';

/** ExecuteRequest and its CallContext (proto/contextd/v1/tool.proto). */
export interface ExecuteRequest {
  tool: string;
  inputJson: Buffer;
  requestId: string;
  projectRoot: string;
  /** Empty: the session of the project and day. */
  sessionId: string;
  protocolVersion: number;
}

/** A call that the proxy refused, and the error it answered with. */
export interface RefusalReport {
  call: ExecuteRequest;
  errorCode: string;
  message: string;
  remedy: string;
  detailsJson: Buffer;
}

export interface ExecuteResponse {
  /** Exactly the line to print, without its newline. */
  envelopeJson: Buffer;
  exitCode: number;
  /** One line for stderr; empty on success. */
  errorLine: string;
}

/** One of a stream; the answer is the last. */
export type ExecuteEvent = { kind: 'progress'; text: string } | { kind: 'answer'; response: ExecuteResponse };

export function encodeExecuteRequest(request: ExecuteRequest): Buffer {
  const context = Buffer.concat([
    ...encodeBytes(1, request.requestId),
    ...encodeBytes(2, request.projectRoot),
    ...encodeBytes(3, request.sessionId),
    ...encodeUint32(4, request.protocolVersion),
  ]);
  return Buffer.concat([
    ...encodeBytes(1, request.tool),
    ...encodeBytes(2, request.inputJson),
    ...encodeBytes(3, context),
  ]);
}

export function encodeRefusalReport({ call, errorCode, message, remedy, detailsJson }: RefusalReport): Buffer {
  return Buffer.concat([
    ...encodeBytes(1, encodeExecuteRequest(call)),
    ...encodeBytes(2, errorCode),
    ...encodeBytes(3, message),
    ...encodeBytes(4, remedy),
    ...encodeBytes(5, detailsJson),
  ]);
}

/** Unknown fields are skipped, as protobuf asks. Throws RangeError when it is not an ExecuteResponse. */
export function decodeExecuteResponse(message: Buffer): ExecuteResponse {
  const response: ExecuteResponse = { envelopeJson: Buffer.alloc(0), exitCode: 0, errorLine: '' };
  for (const { number, value } of decodeFields(message)) {
    if (number === 1) response.envelopeJson = bytesOf(value);
    else if (number === 2) response.exitCode = numberOf(value);
    else if (number === 3) response.errorLine = bytesOf(value).toString('utf8');
  }
  return response;
}

/** Null for an event of a kind that is not known. Throws RangeError when it is not an ExecuteEvent. */
export function decodeExecuteEvent(message: Buffer): ExecuteEvent | null {
  let event: ExecuteEvent | null = null;
  for (const { number, value } of decodeFields(message)) {
    if (number === 1) event = { kind: 'progress', text: decodeProgress(bytesOf(value)) };
    else if (number === 2) event = { kind: 'answer', response: decodeExecuteResponse(bytesOf(value)) };
  }
  return event;
}

function decodeProgress(message: Buffer): string {
  const text = decodeFields(message).findLast(({ number }) => number === 1);
  return text === undefined ? '' : bytesOf(text.value).toString('utf8');
}

function bytesOf(value: number | Buffer): Buffer {
  if (typeof value === 'number') throw new RangeError('a number where bytes belong');
  return value;
}

function numberOf(value: number | Buffer): number {
  if (typeof value !== 'number') throw new RangeError('bytes where a number belongs');
  return value;
}
