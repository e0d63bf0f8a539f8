import type { JsonObject } from '../../core/json.ts';
import type { McpError, McpMessage } from '../../core/passing.ts';
import { errorBytes, errorIn, jsonBytes, messageBytes, messageIn, objectIn } from '../../protocol/passed-json.ts';
import type { Rpc } from '../../proxy/exchange.ts';
import { bytesOf, decodeFields, encodeBytes, encodeContext, encodeUint32 } from '../../proxy/messages.ts';
import type { CallContext } from './daemon-calls.ts';

// FollowServers, Pass and AnswerQuestion of tool.proto, by hand like the messages of the proxy.

/** PassedRequest. */
export interface RequestToPass extends McpMessage {
  /** As the daemon named it. */
  readonly client: string;
  readonly isLegacy: boolean;
  readonly capabilities: JsonObject;
  /** "" unless a tool is called. */
  readonly toolId: string;
}

/** PassedEvent. */
export type PassedEvent =
  | { kind: 'client'; client: string }
  | { kind: 'notice'; message: McpMessage }
  | { kind: 'question'; id: string; message: McpMessage }
  | { kind: 'withdrawn'; id: string }
  | { kind: 'result'; result: JsonObject }
  | { kind: 'error'; error: McpError }
  | { kind: 'unknown client' };

/** `earlier`: the name that the client had with the daemon before; '' if none. */
export function followServersRpc(context: CallContext, earlier: string): Rpc<PassedEvent> {
  return rpc(
    'FollowServers',
    [...encodeBytes(1, encodeContext(context)), ...encodeBytes(2, earlier)],
    decodePassedEvent,
  );
}

/** Throws RangeError for parameters that are nested too deeply to be written as text. */
export function passRpc(
  context: CallContext,
  { client, isLegacy, capabilities, toolId, ...message }: RequestToPass,
): Rpc<PassedEvent> {
  const fields = [
    ...encodeBytes(1, encodeContext(context)),
    ...encodeBytes(2, client),
    ...encodeUint32(3, isLegacy ? 1 : 0),
    ...encodeBytes(4, jsonBytes(capabilities)),
    ...encodeBytes(5, messageBytes(message)),
    ...encodeBytes(6, toolId),
  ];
  return rpc('Pass', fields, decodePassedEvent);
}

export function answerQuestionRpc(
  context: CallContext,
  id: string,
  answer: { result: JsonObject } | { error: McpError },
): Rpc<true> {
  const given =
    'result' in answer ? encodeBytes(3, jsonBytes(answer.result)) : encodeBytes(4, errorBytes(answer.error));
  return rpc(
    'AnswerQuestion',
    [...encodeBytes(1, encodeContext(context)), ...encodeBytes(2, id), ...given],
    () => true,
  );
}

function rpc<T>(method: string, fields: Buffer[], decode: (message: Buffer) => T): Rpc<T> {
  return { path: `/contextd.v1.ToolService/${method}`, message: Buffer.concat(fields), decode };
}

/** Throws RangeError if the bytes are not a PassedEvent. */
export function decodePassedEvent(message: Buffer): PassedEvent {
  const field = decodeFields(message).at(-1);
  switch (field?.number) {
    case 1:
      return { kind: 'client', client: textOf(field.value) };
    case 2:
      return { kind: 'notice', message: messageIn(bytesOf(field.value)) };
    case 3:
      return { kind: 'question', ...decodeQuestion(bytesOf(field.value)) };
    case 4:
      return { kind: 'withdrawn', id: textOf(field.value) };
    case 5:
      return { kind: 'result', result: objectIn(bytesOf(field.value)) };
    case 6:
      return { kind: 'error', error: errorIn(bytesOf(field.value)) };
    case 7:
      return { kind: 'unknown client' };
    default:
      throw new RangeError('an event of an unknown kind');
  }
}

function decodeQuestion(bytes: Buffer): { id: string; message: McpMessage } {
  let id = '';
  let message: McpMessage = { method: '', params: {} };
  for (const { number, value } of decodeFields(bytes)) {
    if (number === 1) id = textOf(value);
    else if (number === 2) message = messageIn(bytesOf(value));
  }
  return { id, message };
}

function textOf(value: number | Buffer): string {
  return bytesOf(value).toString('utf8');
}
