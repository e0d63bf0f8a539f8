import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Json } from '#src/core/json.js';
import { schemaSizeFault } from '#src/gateway/arguments/schema-size.js';

const LIMITS = { maxBytes: 1_000, maxDepth: 6, maxProperties: 5 };

function nested(levels: number): Json {
  let schema: Json = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}

it('gateway surface §4.4: a schema within the limits has no fault', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array', items: {} } } };
  expect(schemaSizeFault(schema, LIMITS)).toBeNull();
});

it.each<[Json, string]>([
  [{ description: 'x'.repeat(1_000) }, 'has more than 1000 bytes'],
  [{ description: 'ä'.repeat(500) }, 'has more than 1000 bytes'],
  [nested(6), 'is nested deeper than 6 levels'],
  [nested(50_000), 'is nested deeper than 6 levels'],
  [{ properties: { a: {}, b: {}, c: {}, d: {}, e: {}, f: {} } }, 'has more than 5 properties'],
  [
    { properties: { a: { properties: { b: {}, c: {}, d: {} } }, e: { patternProperties: { f: {} } } } },
    'has more than 5 properties',
  ],
])('gateway surface §4.4: names the limit that a schema exceeds, case %#', (schema, fault) => {
  expect(schemaSizeFault(schema, LIMITS)).toBe(fault);
});

it('counts the bytes that the schema has as JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = JSON.parse(JSON.stringify(value));
      const bytes = Buffer.byteLength(JSON.stringify(json));
      const faultAt = (maxBytes: number) => schemaSizeFault(json, { maxBytes, maxDepth: 100, maxProperties: 1e6 });
      expect(faultAt(bytes)).toBeNull();
      expect(faultAt(bytes - 1)).toMatch(/bytes$/);
    }),
  );
});
