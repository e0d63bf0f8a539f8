import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** The JSON Schema types of a value given as a flag. */
const JSON_TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/** The values that are allowed. */
export interface Shape {
  /** Empty: any type. */
  types: readonly JsonType[];
  /** The values of an `enum` or `const` whose values are all scalars; null: any value of the types. */
  choices: readonly (string | number | boolean | null)[] | null;
}

export interface Property extends Shape {
  name: string;
  /** The shape of an array's elements. */
  items: Shape;
}

/** By the name in the JSON input. */
export type Properties = ReadonlyMap<string, Property>;

/** The largest schema.json that is read for flags, bytes. */
export const SCHEMA_MAX_BYTES = 256 * 1024;

const ANYTHING: Shape = { types: [], choices: null };

/** Options of every tool, which are in no schema. A view is a word, or an object as JSON. */
export const COMMON_OPTIONS: Properties = new Map(
  [
    property('max_tokens', { type: 'integer' }),
    property('view', { type: ['string', 'object'] }),
    property('continuation', { type: 'string' }),
    property('timeout_ms', { type: 'integer' }),
    property('dry_run', { type: 'boolean' }),
    property('branch', { type: 'string' }),
  ].map((option) => [option.name, option]),
);

/**
 * Reads the top-level properties of a tool's schema.json. The file is in the project, so only names and types are taken
 * from it; the daemon checks the arguments against its own copy. Throws ARGS_INVALID if the file is missing, too large or
 * not a schema: only flags need it.
 */
export function readProperties(toolDir: string, tool: string): Properties {
  const path = join(toolDir, 'schema.json');
  const schema = parseObject(readSchema(path, tool), path, tool);
  const declared = own(schema, 'properties');
  if (!isJsonObject(declared)) return new Map();
  return new Map(Object.entries(declared).map(([name, value]) => [name, property(name, value)]));
}

/** True if the tool can be called without any input: the schema requires no property, or has a default for the primary one. */
export function needsNoInput(toolDir: string, tool: string): boolean {
  const path = join(toolDir, 'schema.json');
  const schema = parseObject(readSchema(path, tool), path, tool);
  const [declared, required] = [own(schema, 'properties'), own(schema, 'required')];
  const [primary, names] = [own(schema, 'x-contextd-primary'), Array.isArray(required) ? required : []];
  const described = isJsonObject(declared) && typeof primary === 'string' ? own(declared, primary) : undefined;
  const hasDefault = isJsonObject(described) && own(described, 'default') !== undefined;
  return names.every((name) => hasDefault && name === primary);
}

function property(name: string, schema: Json): Property {
  const items = isJsonObject(schema) ? shapeOf(own(schema, 'items')) : ANYTHING;
  return { name, ...shapeOf(schema), items };
}

/** Reads one level only: deeper values are given as JSON. */
function shapeOf(schema: Json | undefined): Shape {
  if (!isJsonObject(schema)) return ANYTHING;
  const listed = listChoices(schema);
  const choices = listed.filter(isScalar);
  const types = typesOf(own(schema, 'type'));
  return {
    types: types.length > 0 ? types : [...new Set(listed.map(typeOf))],
    choices: choices.length > 0 && choices.length === listed.length ? choices : null,
  };
}

function listChoices(schema: JsonObject): readonly Json[] {
  const listed = own(schema, 'enum');
  if (Array.isArray(listed)) return listed;
  const only = own(schema, 'const');
  return only === undefined ? [] : [only];
}

function own(schema: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

function isScalar(value: Json): value is string | number | boolean | null {
  return value === null || typeof value !== 'object';
}

function typesOf(type: Json | undefined): JsonType[] {
  const named: readonly Json[] = Array.isArray(type) ? type : [type ?? null];
  return JSON_TYPES.filter((known) => named.includes(known));
}

/** The narrowest type of a value; every integer is a number too. */
export function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'object';
}

function readSchema(path: string, tool: string): string {
  try {
    return readBounded(path, tool);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw unusable(path, tool, `cannot be read (${error.code})`);
  }
}

function readBounded(path: string, tool: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw unusable(path, tool, 'is not a file');
    if (stat.size > SCHEMA_MAX_BYTES) {
      throw unusable(path, tool, `has ${stat.size} bytes, the limit is ${SCHEMA_MAX_BYTES}`);
    }
    const bytes = Buffer.alloc(stat.size);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
}

/** Drops the parser's own message, which would quote the file. */
function parseObject(text: string, path: string, tool: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable(path, tool, 'is not JSON');
  }
  if (isJsonObject(value)) return value;
  throw unusable(path, tool, 'is not a JSON object');
}

function unusable(path: string, tool: string, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `flags cannot be read: ${path} ${fault}`, {
    remedy: `Run \`ctxd init\` in the project to make it again, or give the input as JSON: ${tool} '{"…":…}'.`,
    details: { path },
  });
}

/** The most values of a list in a message. */
const CHOICES_MAX = 12;

const TYPE_NAMES: Record<JsonType, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a JSON array, or one element each time the flag is given',
  null: 'null',
};

/** Describes the values a flag takes, for a message. */
export function describeShape({ types, choices }: Shape): string {
  if (choices !== null) {
    const shown = choices.slice(0, CHOICES_MAX).map((choice) => JSON.stringify(choice).slice(0, 80));
    return `one of ${shown.join(', ')}${choices.length > CHOICES_MAX ? ', …' : ''}`;
  }
  return types.length === 0 ? 'a value' : types.map((type) => TYPE_NAMES[type]).join(' or ');
}

/**
 * Converts the text of one flag to JSON text; null if the text does not fit. A text that begins with `[` or `{` is JSON if
 * an array or an object is allowed. Otherwise the text is taken literally if a string is allowed.
 */
export function readText(text: string, property: Property): string | null {
  const whole = readShape(text, property);
  if (whole !== null || !property.types.includes('array') || text.trimStart().startsWith('[')) return whole;
  return readArray([text], property);
}

/** Converts several texts to a JSON array, one element each; null if a text does not fit. */
export function readArray(texts: readonly string[], { items }: Property): string | null {
  const elements: string[] = [];
  for (const text of texts) {
    const element = readShape(text, items);
    if (element === null) return null;
    elements.push(element);
  }
  return `[${elements.join(',')}]`;
}

function readShape(text: string, shape: Shape): string | null {
  if (shape.choices !== null) return readChoice(text, shape.choices);
  if (shape.types.length === 0) return parse(text) === undefined ? JSON.stringify(text) : text;
  const mayBeNested = shape.types.includes('object') || shape.types.includes('array');
  if (mayBeNested && /^\s*[[{]/.test(text)) return readJson(text, shape);
  if (shape.types.includes('string')) return JSON.stringify(text);
  return readJson(text, shape);
}

function readChoice(text: string, choices: readonly unknown[]): string | null {
  if (choices.includes(text)) return JSON.stringify(text);
  const value = parse(text);
  return typeof value !== 'string' && choices.includes(value) ? text : null;
}

function readJson(text: string, { types }: Shape): string | null {
  const value = parse(text);
  if (value === undefined || !isExact(value, types)) return null;
  const type = typeOf(value);
  return types.includes(type) || (type === 'integer' && types.includes('number')) ? text : null;
}

/** False for a whole number that JavaScript would round, and for a number beyond the largest one. */
function isExact(value: unknown, types: readonly JsonType[]): boolean {
  if (typeof value !== 'number') return true;
  return types.includes('number') ? Number.isFinite(value) : Number.isSafeInteger(value);
}

/** Returns undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
