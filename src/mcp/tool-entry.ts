import type { Tool } from '@modelcontextprotocol/server';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { foreignLine } from '../text/foreign-line.ts';
import type { McpTool } from './tools.ts';

/**
 * Claude Code defers tools unless a tool asks to be loaded, and moves results of more than 50,000 characters into a file. The
 * budget of an answer is kept by the daemon, so that a person who raises it gets the whole answer.
 */
const META = { 'anthropic/alwaysLoad': true, 'anthropic/maxResultSizeChars': 500_000 } as const;

/**
 * What a tool costs in every request of a client: name, purpose and schema, without what only contextd reads. A client puts it
 * into its prompt, and the author of an installed tool wrote it: like on a card, no text of it opens a tag or looks like contextd.
 */
export function toolEntry({ name, purpose, schemaJson }: Pick<McpTool, 'name' | 'purpose' | 'schemaJson'>): Tool {
  const schema = schemaJson === '' ? {} : JSON.parse(schemaJson);
  return { name, description: foreignLine(purpose), inputSchema: inputSchema(schema), _meta: META };
}

/** A tool as its author describes it, for clients that choose by themselves what they load. Its texts are shown as in `toolEntry`. */
export function foreignEntry(tool: McpTool): Tool {
  const { _meta, ...entry } = toolEntry(tool);
  const { title, outputSchema, ...declared }: Partial<Pick<Tool, 'title' | 'annotations' | 'outputSchema'>> =
    tool.definitionJson === '' ? {} : JSON.parse(tool.definitionJson);
  return {
    ...entry,
    ...declared,
    // A tool of a server takes no options beside its own arguments, so its schema stays as it is.
    inputSchema: wholeSchema(tool.schemaJson === '' ? {} : JSON.parse(tool.schemaJson)),
    ...(title === undefined ? {} : { title: foreignLine(title) }),
    ...(outputSchema === undefined ? {} : { outputSchema: wholeSchema(JSON.parse(JSON.stringify(outputSchema))) }),
  };
}

/**
 * The options of every tool are taken beside its own arguments, so a schema that is closed at the top would be wrong. They
 * would cost a client 500 tokens if each schema spelled them out; the instructions name them once. Bounds would cost 130 more: the
 * daemon checks a call against the whole schema and says which bound a value breaks.
 */
function inputSchema(schema: Json): Tool['inputSchema'] {
  const { additionalProperties: _closed, ...open } = isJsonObject(schema) ? shownSchema(schema, isBound) : {};
  return { ...open, type: 'object' };
}

function wholeSchema(schema: JsonObject): Tool['inputSchema'] {
  const { $schema } = schema;
  return { ...(typeof $schema === 'string' ? { $schema } : {}), ...shownSchema(schema, () => false), type: 'object' };
}

const OWN_KEY = /^(?:\$schema$|x-contextd-)/;
/** Keywords that explain. */
const TEXTS: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
/** Keywords with values of the tool's arguments, which cannot be written differently. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose keys are names that the author chose. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

const SIZES: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum']);

/** Whether a keyword of a schema is left out of what a client is shown. */
type Leaves = (keyword: string, schema: JsonObject) => boolean;

/** A pattern says how a value is written, unless a description does. */
function isBound(keyword: string, schema: JsonObject): boolean {
  if (keyword === 'pattern') return typeof schema.description === 'string';
  return SIZES.has(keyword) || (keyword === 'additionalProperties' && schema[keyword] === false);
}

function shownSchema(schema: JsonObject, leaves: Leaves): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !OWN_KEY.test(key) && !leaves(key, schema));
  return Object.fromEntries(kept.map(([key, value]) => [key, shownValue(key, value, leaves)]));
}

function shownValue(key: string, value: Json, leaves: Leaves): Json {
  if (VALUES.has(key)) return value;
  if (typeof value === 'string') return TEXTS.has(key) ? foreignLine(value) : value;
  if (!NAMED.has(key) || !isJsonObject(value)) return shownSchemas(value, leaves);
  return Object.fromEntries(Object.entries(value).map(([name, named]) => [name, shownSchemas(named, leaves)]));
}

/** A schema or a list of schemas. */
function shownSchemas(value: Json, leaves: Leaves): Json {
  if (Array.isArray(value)) return value.map((one) => shownSchemas(one, leaves));
  return isJsonObject(value) ? shownSchema(value, leaves) : value;
}
