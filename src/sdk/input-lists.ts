import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { invalid } from './input.ts';

/** A list of strings; ARGS_INVALID with the JSON pointer for anything else. */
export function readStringList(input: JsonObject, name: string): string[] {
  return readList(input, name).map((item, index) => {
    if (typeof item === 'string') return item;
    throw invalid(`${name}/${index}`, 'must be a string');
  });
}

/** A list of objects; ARGS_INVALID with the JSON pointer for anything else. */
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
