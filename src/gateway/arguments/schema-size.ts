import { isJsonObject, type Json } from '../../core/json.ts';

/** Bounds of a schema that no person has checked. */
export interface SchemaLimits {
  /** Bytes as JSON. */
  maxBytes: number;
  /** Levels of nesting. */
  maxDepth: number;
  /** Properties at all levels together. */
  maxProperties: number;
}

/** Keywords whose keys are names of properties. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties']);

/** What exceeds the limits, as the end of a sentence; null for a schema within them. Takes time in proportion to `maxBytes` at most. */
export function schemaSizeFault(schema: Json, { maxBytes, maxDepth, maxProperties }: SchemaLimits): string | null {
  let [bytes, properties] = [0, 0];
  const left: { value: Json; depth: number; isNamed: boolean }[] = [{ value: schema, depth: 1, isNamed: false }];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { value, depth, isNamed } = one;
    if (typeof value !== 'object' || value === null) bytes += sizeOf(value);
    else {
      if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
      const entries = Object.entries(value);
      bytes += 2 + Math.max(0, entries.length - 1);
      for (const [key, inner] of entries) {
        if (bytes > maxBytes) break;
        bytes += Array.isArray(value) ? 0 : sizeOf(key) + 1;
        properties += isNamed ? 1 : 0;
        left.push({ value: inner, depth: depth + 1, isNamed: !isNamed && NAMED.has(key) && isJsonObject(inner) });
      }
    }
    if (bytes > maxBytes) return `has more than ${maxBytes} bytes`;
    if (properties > maxProperties) return `has more than ${maxProperties} properties`;
  }
  return null;
}

/** Bytes of a value without parts, as JSON. */
function sizeOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}
