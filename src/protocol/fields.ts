import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { FrameError } from './frame-codec.ts';

/** How deep a value from another process may be nested: whatever walks it later recurses. */
const MAX_DEPTH = 32;
const MAX_NODES = 100_000;

/** Reads the fields of one JSON object that came from another process. Each reader throws FrameError naming the field. */
export class Fields {
  readonly #where: string;
  readonly #object: JsonObject;

  constructor(where: string, value: unknown) {
    if (!isJsonObject(value)) throw new FrameError(`${where} is not a JSON object`);
    this.#where = where;
    this.#object = value;
  }

  /** Own properties only: a field named `__proto__` or `toString` is as absent as any other. */
  has(name: string): boolean {
    return Object.hasOwn(this.#object, name);
  }

  /** Throws unless every field is one of `names`. */
  only(...names: string[]): this {
    const unknown = Object.keys(this.#object).find((name) => !names.includes(name));
    if (unknown !== undefined) throw new FrameError(`${this.#where} has the unknown field ${quote(unknown)}`);
    return this;
  }

  string(name: string, maxChars = Number.POSITIVE_INFINITY): string {
    const value = this.#get(name);
    if (typeof value === 'string' && value.length <= maxChars) return value;
    throw this.#wrong(name, maxChars === Number.POSITIVE_INFINITY ? 'a string' : `a string of at most ${maxChars}`);
  }

  nullableString(name: string): string | null {
    return this.#get(name) === null ? null : this.string(name);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const value = this.#get(name);
    const found = values.find((known) => known === value);
    if (found !== undefined) return found;
    throw this.#wrong(name, `one of ${values.join(', ')}`);
  }

  integer(name: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#get(name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw this.#wrong(name, `a whole number from ${min} to ${max}`);
  }

  boolean(name: string): boolean {
    const value = this.#get(name);
    if (typeof value === 'boolean') return value;
    throw this.#wrong(name, 'true or false');
  }

  list(name: string, maxItems: number): readonly unknown[] {
    const value = this.#get(name);
    if (Array.isArray(value) && value.length <= maxItems) return value;
    throw this.#wrong(name, `a list of at most ${maxItems}`);
  }

  strings(name: string, maxItems: number): string[] {
    return this.list(name, maxItems).map((item) => {
      if (typeof item === 'string') return item;
      throw this.#wrong(name, 'a list of strings');
    });
  }

  /** The field as it is, for a parser that checks it itself. */
  value(name: string): unknown {
    return this.#get(name);
  }

  nested(name: string): Fields {
    return new Fields(`${this.#where}.${name}`, this.#get(name));
  }

  /** A JSON object of any shape and size, from a side that is trusted. */
  anyObject(name: string): JsonObject {
    const value = this.#get(name);
    if (isJsonObject(value)) return value;
    throw this.#wrong(name, 'a JSON object');
  }

  /** A JSON object of any shape, at most 32 deep and 100,000 values large. */
  object(name: string): JsonObject {
    const value = this.#get(name);
    if (isJsonObject(value) && isBounded(value)) return value;
    throw this.#wrong(name, `a JSON object at most ${MAX_DEPTH} deep and ${MAX_NODES} values large`);
  }

  /** A JSON object whose values are all strings. */
  stringMap(name: string): Record<string, string> {
    const entries = Object.entries(this.object(name)).map(([key, value]): [string, string] => {
      if (typeof value === 'string') return [key, value];
      throw this.#wrong(name, 'an object of strings');
    });
    return Object.fromEntries(entries);
  }

  #get(name: string): unknown {
    return this.has(name) ? this.#object[name] : undefined;
  }

  #wrong(name: string, expected: string): FrameError {
    return new FrameError(`${this.#where}.${name} is not ${expected}`);
  }
}

function isBounded(root: Json): boolean {
  let nodes = 0;
  const visit = (value: Json, depth: number): boolean => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) return false;
    if (value === null || typeof value !== 'object') return true;
    return Object.values(value).every((child: Json) => visit(child, depth + 1));
  };
  return visit(root, 0);
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}
