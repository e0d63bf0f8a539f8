import { createHash } from 'node:crypto';
import { isJsonObject } from '../../core/json.ts';

/**
 * `hash8` of a tool (gateway surface §1.3): its name as the server reports it, and the names of the top-level properties and
 * the required ones of its schema. Types and descriptions do not count, so that an edit of prose keeps the id. Anything in
 * `properties` or `required` that names nothing counts as missing.
 */
export function toolHash8(upstreamName: string, inputSchema: unknown): string {
  return hash8(`${upstreamName}\n${canonicalShape(inputSchema)}`);
}

/** `hash8` of a resource (§9.2): its URI. */
export function resourceHash8(uri: string): string {
  return hash8(`resource\n${uri}`);
}

/** `hash8` of a prompt (§9.2): its name and its argument names, in whatever order they are declared. */
export function promptHash8(name: string, argumentNames: readonly string[]): string {
  return hash8(`prompt\n${name}\n${canonicalList(argumentNames)}`);
}

/**
 * The shape of a schema, byte for byte what Python's `json.dumps(…, sort_keys=True, separators=(",", ":"))` writes: only
 * ASCII, and sorted by code point, which `sort()` is not (U+FF5E comes before an emoji, whose UTF-16 units are lower).
 */
export function canonicalShape(inputSchema: unknown): string {
  const schema = isJsonObject(inputSchema) ? inputSchema : {};
  const properties = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  return `{"properties":${canonicalList(properties)},"required":${canonicalList(required)}}`;
}

function canonicalList(names: readonly string[]): string {
  return `[${[...names].sort(byCodePoint).map(asciiString).join(',')}]`;
}

/** A JSON string of ASCII. JSON.stringify writes the same escapes for controls, and lone surrogates in lower case too. */
function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function byCodePoint(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; ) {
    const point = a.codePointAt(at) ?? 0;
    const difference = point - (b.codePointAt(at) ?? 0);
    if (difference !== 0) return difference;
    at += point > 0xffff ? 2 : 1;
  }
  return a.length - b.length;
}

/** A lone surrogate counts as U+FFFD, because it has no UTF-8. */
function hash8(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 8);
}
