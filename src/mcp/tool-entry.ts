import type { Tool } from '@modelcontextprotocol/server';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { McpTool } from './tools.ts';

/**
 * Claude Code defers tools unless a tool asks to be loaded, and moves results of more than 50,000 characters into a file. The
 * budget of an answer is kept by the daemon, so that a person who raises it gets the whole answer.
 */
const META = { 'anthropic/alwaysLoad': true, 'anthropic/maxResultSizeChars': 500_000 } as const;

/** What a tool costs in every request of a client: name, purpose and schema, without what only contextd reads. */
export function toolEntry({ name, purpose, schemaJson }: McpTool): Tool {
  return { name, description: purpose, inputSchema: inputSchema(JSON.parse(schemaJson)), _meta: META };
}

/**
 * The options of every tool are taken beside its own arguments, so a schema that is closed at the top would be wrong. They
 * would cost a client 500 tokens if each schema spelled them out; the instructions name them once.
 */
function inputSchema(schema: Json): Tool['inputSchema'] {
  const { additionalProperties: _closed, ...open } = isJsonObject(schema) ? withoutOwnKeys(schema) : {};
  return { ...open, type: 'object' };
}

const OWN_KEY = /^(?:\$schema$|x-contextd-)/;

function withoutOwnKeys(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !OWN_KEY.test(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, isJsonObject(value) ? withoutOwnKeys(value) : value]));
}
