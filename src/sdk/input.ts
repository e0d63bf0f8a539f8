import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/**
 * These functions read arguments that schema.json has already checked. They check again, because a tool must not depend on
 * its caller, and throw ARGS_INVALID with the JSON pointer.
 */
export function readString(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value === 'string') return value;
  throw invalid(name, 'must be a string');
}

/** A string that can be written as text in every encoding of Unicode: half of a pair of UTF-16 is refused with its offset. */
export function readText(input: JsonObject, name: string): string {
  const text = readString(input, name);
  if (text.isWellFormed()) return text;
  const at = text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
  const half = text.charCodeAt(at).toString(16);
  throw invalid(
    name,
    `has half of a character at offset ${at}: \\u${half}`,
    'Write the whole character: both halves, or itself.',
  );
}

export function readOptionalString(input: JsonObject, name: string): string | undefined {
  return input[name] === undefined ? undefined : readString(input, name);
}

export function readOptionalInteger(input: JsonObject, name: string): number | undefined {
  const value = input[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw invalid(name, 'must be a whole number');
}

/** Reads an object of strings; empty if it is absent. */
export function readStringMap(input: JsonObject, name: string): Record<string, string> {
  const value = input[name];
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw invalid(name, 'must be an object');
  const entries = Object.entries(value).map(([key, item]): [string, string] => {
    if (typeof item === 'string') return [key, item];
    throw invalid(`${name}/${key}`, 'must be a string');
  });
  return Object.fromEntries(entries);
}

export function invalid(name: string, fault: string, remedy?: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `/${name} ${fault}`, {
    ...(remedy === undefined ? {} : { remedy }),
    details: { faults: [{ pointer: `/${name}`, fault }] },
  });
}

/** Reads a list of strings. */
export function readStringList(input: JsonObject, name: string): string[] {
  return readList(input, name).map((item, index) => {
    if (typeof item === 'string') return item;
    throw invalid(`${name}/${index}`, 'must be a string');
  });
}

/** Reads a list of objects. */
export function readObjectList(input: JsonObject, name: string): JsonObject[] {
  return readList(input, name).map((item, index) => {
    if (isJsonObject(item)) return item;
    throw invalid(`${name}/${index}`, 'must be an object');
  });
}

function readList(input: JsonObject, name: string): readonly Json[] {
  const value = input[name];
  if (Array.isArray(value)) return value;
  throw invalid(name, 'must be a list');
}
