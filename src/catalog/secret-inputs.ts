import type { SecretPurpose } from '../call/outcome.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/**
 * The schema keyword for inputs in which `[SECRET_n]` may be replaced by its value (docs/scrubbing.md). At the root it has the
 * value "refused": a token in any other input refuses the call, because its characters would get where its value was meant
 * to go. Without it, such a token is text.
 */
export const SECRET_KEYWORD = 'x-contextd-secret';

const REFUSED = 'refused';

/**
 * Where the value goes: into a file of the project, or into the environment or standard input of a program that a person
 * listed.
 */
const SECRET_PURPOSES: readonly SecretPurpose[] = ['file', 'env', 'stdin'];

/** An input that accepts secrets. */
export interface SecretInput {
  /** Property names from the top; ANY stands for every key of an object and every item of a list. */
  path: readonly (string | typeof ANY)[];
  purpose: SecretPurpose;
}

export const ANY: unique symbol = Symbol('any');

/** A string of the arguments whose input accepts secrets. */
export interface SecretPlace {
  path: readonly string[];
  purpose: SecretPurpose;
  text: string;
}

/**
 * Finds the inputs of a schema that accept secrets: strings below `properties`, `additionalProperties` and `items`, at any
 * depth. Throws SCHEMA_INVALID if the keyword is in a place where it has no effect.
 */
export function findSecretInputs(tool: string, schema: JsonObject): SecretInput[] {
  const found: SecretInput[] = [];
  const { [SECRET_KEYWORD]: atRoot, ...inputs } = schema;
  if (atRoot !== undefined && atRoot !== REFUSED) throw secretKeywordFault(tool, `must be "${REFUSED}" at the root`);
  collect(tool, inputs, [], found);
  if (count(inputs) !== found.length)
    throw secretKeywordFault(
      tool,
      'has no effect here: use it only below "properties", "additionalProperties" and "items"',
    );
  if (found.some(({ purpose }) => purpose !== 'file') && !hasCommand(schema))
    throw secretKeywordFault(
      tool,
      '"env" and "stdin" need the required property "command", which is limited to one program',
    );
  return found;
}

/** Whether a token in an input that does not accept secrets refuses the call. */
export function refusesTokens(schema: JsonObject): boolean {
  return schema[SECRET_KEYWORD] === REFUSED;
}

/** A string of the arguments: a value, or the name of a property. */
interface TextPlace {
  path: readonly string[];
  text: string;
}

/** The strings of the arguments, and the names of their properties, whose inputs do not accept secrets. */
export function plainPlaces(inputs: readonly SecretInput[], input: JsonObject): TextPlace[] {
  const accepting = new Set(secretPlaces(inputs, input).map(({ path }) => JSON.stringify(path)));
  return textsOf(input, []).filter(({ path }) => !accepting.has(JSON.stringify(path)));
}

function textsOf(value: Json, path: readonly string[]): TextPlace[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    { path: [...path, key, ''], text: key },
    ...textsOf(inner, [...path, key]),
  ]);
}

/** The strings of the arguments whose inputs accept secrets. */
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
  if (purpose === undefined) throw secretKeywordFault(tool, `must be one of ${SECRET_PURPOSES.join(', ')}`);
  if (schema.type !== 'string') throw secretKeywordFault(tool, 'is only for inputs of the type "string"');
  return purpose;
}

/** Counts the keyword in the whole schema. A property may have the same name and is not counted. */
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

function secretKeywordFault(tool: string, fault: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `the argument schema of ${tool}: "${SECRET_KEYWORD}" ${fault}`, {
    remedy: 'Correct schema.json.',
  });
}
