import { isJsonObject, type JsonObject } from '../core/json.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { McpError, type McpMessage } from '../core/passing.ts';

// The texts of JSON in the messages that pass between an MCP client and servers (proto/contextd/v1/tool.proto). Everything throws
// RangeError for what cannot be read or written.

/** Levels of nesting. Code that reads a message recurses. */
const DEPTH_MAX = 256;

export function jsonBytes(value: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function objectIn(json: Buffer): JsonObject {
  const text = json.toString('utf8');
  if (isDeeperThan(DEPTH_MAX, text))
    throw new RangeError(`a message that is nested more than ${DEPTH_MAX} levels deep`);
  const value = parsed(text);
  if (!isJsonObject(value)) throw new RangeError('a message that is not a JSON object');
  return value;
}

export function messageBytes({ method, params }: McpMessage): Buffer {
  return jsonBytes({ method, params });
}

export function messageIn(json: Buffer): McpMessage {
  const { method, params } = objectIn(json);
  if (typeof method !== 'string') throw new RangeError('a message without a method');
  return { method, params: isJsonObject(params) ? params : {} };
}

export function errorBytes({ code, message, data }: McpError): Buffer {
  return Buffer.from(JSON.stringify({ code, message, data }));
}

export function errorIn(json: Buffer): McpError {
  const { code, message, data } = objectIn(json);
  if (typeof code !== 'number') throw new RangeError('an error without a code');
  return new McpError(code, String(message ?? ''), data);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
