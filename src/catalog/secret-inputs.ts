import type { SecretPurpose } from '../call/outcome.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** Where a schema says that `[SECRET_n]` in this input may become its value (design §3 step 4). */
export const SECRET_KEYWORD = 'x-contextd-secret';

/**
 * What becomes of the value: it is written into a file of the project, or a program that a person listed gets it in
 * its environment or on its standard input.
 */
const SECRET_PURPOSES: readonly SecretPurpose[] = ['file', 'env', 'stdin'];
/** An input that opted in. */
export interface SecretInput {
  /** Property names from the top; ANY stands for every key of an object and every item of a list. */
  path: readonly (string | typeof ANY)[];
  purpose: SecretPurpose;
}

export const ANY: unique symbol = Symbol('any');

/** A string of an arguments object that opted in. */
export interface SecretPlace {
  path: readonly string[];
  purpose: SecretPurpose;
  text: string;
}

/**
 * The inputs of a schema that opted in: strings below `properties`, `additionalProperties` and `items`, at any depth.
 * SCHEMA_INVALID for the keyword where it has no effect, since a reader would believe that it has one.
 */
export function findSecretInputs(tool: string, schema: JsonObject): SecretInput[] {
  const found: SecretInput[] = [];
  collect(tool, schema, [], found);
  if (count(schema) !== found.length)
    throw misplaced(tool, 'stands where it has no effect: below "properties", "additionalProperties" and "items" only');
  if (found.some(({ purpose }) => purpose !== 'file') && !hasCommand(schema))
    throw misplaced(tool, '"env" and "stdin" need the required property "command", which is held to one program');
  return found;
}

/** The strings of an input that stand where its schema opted in. */
export function secretPlaces(inputs: readonly SecretInput[], input: JsonObject): SecretPlace[] {
  return inputs.flatMap(({ path, purpose }) => textsAt(input, path, []).map((place) => ({ ...place, purpose })));
}

function collect(tool: string, schema: JsonObject, path: SecretInput['path'], found: SecretInput[]): void {
  if (SECRET_KEYWORD in schema) found.push({ path, purpose: purposeOf(tool, schema) });
  const { properties, additionalProperties, items } = schema;
  if (isJsonObject(properties))
    for (const [name, property] of Object.entries(properties))
      if (isJsonObject(property)) collect(tool, property, [...path, name], found);
  for (const each of [additionalProperties, items]) if (isJsonObject(each)) collect(tool, each, [...path, ANY], found);
}

function purposeOf(tool: string, schema: JsonObject): SecretPurpose {
  const purpose = SECRET_PURPOSES.find((known) => known === schema[SECRET_KEYWORD]);
  if (purpose === undefined) throw misplaced(tool, `must be one of ${SECRET_PURPOSES.join(', ')}`);
  if (schema.type !== 'string') throw misplaced(tool, 'is for inputs of the type "string"');
  return purpose;
}

/** How often the keyword stands in a schema at all; a property may bear its name. */
function count(value: Json, isNames = false): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item: Json) => sum + count(item), 0);
  if (!isJsonObject(value)) return 0;
  const own = !isNames && SECRET_KEYWORD in value ? 1 : 0;
  return Object.entries(value).reduce((sum, [key, item]) => sum + count(item, !isNames && key === 'properties'), own);
}

function hasCommand({ properties, required }: JsonObject): boolean {
  const command = isJsonObject(properties) ? properties.command : undefined;
  return isJsonObject(command) && command.type === 'string' && Array.isArray(required) && required.includes('command');
}

function textsAt(value: Json, path: SecretInput['path'], at: readonly string[]): { path: string[]; text: string }[] {
  const [step, ...rest] = path;
  if (step === undefined) return typeof value === 'string' ? [{ path: [...at], text: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value).filter(([key]) => step === ANY || key === step);
  return entries.flatMap(([key, inner]) => textsAt(inner, rest, [...at, key]));
}

function misplaced(tool: string, fault: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `the argument schema of ${tool}: "${SECRET_KEYWORD}" ${fault}`, {
    remedy: 'Correct schema.json.',
  });
}
