import type { AnswerForm } from '../core/envelope.ts';
import type { Surface } from '../core/surfaces.ts';

/** The methods of tool.proto that the proxy calls. */
export const EXECUTE_PATH = '/contextd.v1.ToolService/Execute';
export const REPORT_REFUSAL_PATH = '/contextd.v1.ToolService/ReportRefusal';
export const ANSWER_HOOK_PATH = '/contextd.v1.ToolService/AnswerHook';
export const EXECUTE_WITH_PROGRESS_PATH = '/contextd.v1.ToolService/ExecuteWithProgress';

/** ExecuteRequest and its CallContext (proto/contextd/v1/tool.proto). */
export interface ExecuteRequest {
  tool: string;
  inputJson: Buffer;
  requestId: string;
  projectRoot: string;
  /** Empty: the daemon uses the session of the project and day. */
  sessionId: string;
  /** Empty: the base of the session, unless the arguments name a branch. */
  branch: string;
  protocolVersion: number;
  form: AnswerForm;
  /** Where the caller stands; empty: the project's root. */
  cwd: string;
  /** Plain text for the tool's primary property; empty if not given. */
  inputText: Buffer;
  /** `mcp`: passed on from an MCP client. `shell`: a command of a client whose shell this program is. */
  door: keyof typeof DOORS;
  /** Door `shell`: stdout and stderr of the caller are one. Default: false. */
  isMerged?: boolean;
  /** Door `shell`: the text of which the command is the first part. Default: the command is all of it. */
  wholeText?: string;
  /** Asks for the answer of a call whose connection was lost. Default: false. */
  isAskedAgain?: boolean;
  /** Of an MCP client: what it sees of contextd. */
  surface?: Surface;
}

/** A call that the proxy refused, with the error it printed. */
export interface RefusalReport {
  call: ExecuteRequest;
  errorCode: string;
  message: string;
  remedy: string;
  detailsJson: Buffer;
}

export interface ExecuteResponse {
  /** The line to print, without its newline. */
  envelopeJson: Buffer;
  exitCode: number;
  /** One line for stderr; empty on success. */
  errorLine: string;
  /** Text form: what to print. */
  textStdout: Buffer;
  textStderr: Buffer;
  /** Door `shell`: the working directory in which the command ended; empty if unknown. */
  directory: string;
}

/** One event of a stream. The last event is the answer. */
export type ExecuteEvent = { kind: 'progress'; text: string } | { kind: 'answer'; response: ExecuteResponse };

/** CallDoor. */
const DOORS = { own: 0, mcp: 1, shell: 2 } as const;
/** CallForm. */
const FORMS = { json: 0, text: 1, content: 2 } as const satisfies Record<AnswerForm, number>;

export function encodeExecuteRequest(request: ExecuteRequest): Buffer {
  return Buffer.concat([
    ...encodeBytes(1, request.tool),
    ...encodeBytes(2, request.inputJson),
    ...encodeBytes(3, encodeContext(request)),
    ...encodeUint32(4, FORMS[request.form]),
    ...encodeBytes(5, request.cwd),
    ...encodeBytes(6, request.inputText),
    ...encodeUint32(7, request.isMerged === true ? 1 : 0),
    ...encodeUint32(8, request.isAskedAgain === true ? 1 : 0),
    ...encodeBytes(9, request.wholeText ?? ''),
  ]);
}

/** CallContext. */
export type CallContext = Pick<
  ExecuteRequest,
  'requestId' | 'projectRoot' | 'sessionId' | 'protocolVersion' | 'branch' | 'door' | 'surface'
>;

export function encodeContext(context: CallContext): Buffer {
  return Buffer.concat([
    ...encodeBytes(1, context.requestId),
    ...encodeBytes(2, context.projectRoot),
    ...encodeBytes(3, context.sessionId),
    ...encodeUint32(4, context.protocolVersion),
    ...encodeBytes(5, context.branch),
    ...encodeUint32(6, DOORS[context.door]),
    ...encodeBytes(8, context.surface ?? ''),
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

/** ClientHookRequest. */
export function encodeHookRequest({ eventJson, ...context }: CallContext & { eventJson: Buffer }): Buffer {
  return Buffer.concat([...encodeBytes(1, encodeContext(context)), ...encodeBytes(2, eventJson)]);
}

/** What the hook prints. Throws RangeError if the bytes are not a ClientHookAnswer. */
export function decodeHookAnswer(message: Buffer): string {
  const output = decodeFields(message).findLast(({ number }) => number === 1);
  return output === undefined ? '' : bytesOf(output.value).toString('utf8');
}

/** Skips unknown fields, as protobuf requires. Throws RangeError if the bytes are not an ExecuteResponse. */
export function decodeExecuteResponse(message: Buffer): ExecuteResponse {
  const response: ExecuteResponse = {
    envelopeJson: EMPTY,
    exitCode: 0,
    errorLine: '',
    textStdout: EMPTY,
    textStderr: EMPTY,
    directory: '',
  };
  for (const { number, value } of decodeFields(message)) {
    if (number === 1) response.envelopeJson = bytesOf(value);
    else if (number === 2) response.exitCode = numberOf(value);
    else if (number === 3) response.errorLine = bytesOf(value).toString('utf8');
    else if (number === 4) response.textStdout = bytesOf(value);
    else if (number === 5) response.textStderr = bytesOf(value);
    else if (number === 6) response.directory = bytesOf(value).toString('utf8');
  }
  return response;
}

const EMPTY = Buffer.alloc(0);

/** Returns null for an unknown kind of event. Throws RangeError if the bytes are not an ExecuteEvent. */
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

export function bytesOf(value: number | Buffer): Buffer {
  if (typeof value === 'number') throw new RangeError('a number in place of bytes');
  return value;
}

function numberOf(value: number | Buffer): number {
  if (typeof value !== 'number') throw new RangeError('bytes in place of a number');
  return value;
}

/** The wire types of protobuf that the messages of tool.proto use. */
const WIRE = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

/** Encodes a `bytes` or `string` field; omits an empty one, as proto3 does. */
export function encodeBytes(field: number, value: Buffer | string): Buffer[] {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  if (bytes.length === 0) return [];
  return [encodeVarint(field * 8 + WIRE.lengthDelimited), encodeVarint(bytes.length), bytes];
}

/** Encodes a `uint32` field; omits 0. */
export function encodeUint32(field: number, value: number): Buffer[] {
  return value === 0 ? [] : [encodeVarint(field * 8 + WIRE.varint), encodeVarint(value)];
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

export interface Field {
  number: number;
  /** The number of a varint field; the bytes of a length-delimited one. */
  value: number | Buffer;
}

/** Decodes the fields of a message in order. Throws RangeError if the message is truncated or not protobuf. */
export function decodeFields(message: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const key = readVarint(message, at);
    const number = Math.floor(key.value / 8);
    if (number === 0) throw new RangeError('field number 0');
    const field = readValue(message, key.next, key.value % 8);
    fields.push({ number, value: field.value });
    at = field.next;
  }
  return fields;
}

interface Read<T> {
  value: T;
  next: number;
}

function readValue(message: Buffer, at: number, wireType: number): Read<number | Buffer> {
  switch (wireType) {
    case WIRE.varint:
      return readVarint(message, at);
    case WIRE.fixed64:
      return readSlice(message, at, 8);
    case WIRE.lengthDelimited: {
      const length = readVarint(message, at);
      return readSlice(message, length.next, length.value);
    }
    case WIRE.fixed32:
      return readSlice(message, at, 4);
    default:
      throw new RangeError(`wire type ${wireType}`);
  }
}

function readSlice(message: Buffer, at: number, length: number): Read<Buffer> {
  const next = at + length;
  if (next > message.length) throw new RangeError('a message ends inside a field');
  return { value: message.subarray(at, next), next };
}

/** Reads up to ten bytes. Numbers above 2^53 are not exact; no field of ours is that large. */
function readVarint(message: Buffer, start: number): Read<number> {
  let value = 0;
  for (let at = start, scale = 1; at < start + 10; at++, scale *= 128) {
    const byte = message[at];
    if (byte === undefined) throw new RangeError('a message ends inside a number');
    value += (byte & 127) * scale;
    if (byte < 128) return { value, next: at + 1 };
  }
  throw new RangeError('a number of more than ten bytes');
}
