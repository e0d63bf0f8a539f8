import { describe, expect, it } from 'vitest';
import { MetaSchemas, serverArguments } from '#src/catalog/server-arguments.js';
import type { JsonObject } from '#src/core/json.js';

const metaSchemas = new MetaSchemas();
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

function check(schema: JsonObject, args: JsonObject): void {
  serverArguments('a:get#00000000', schema, metaSchemas.faultOf(schema)).check(args);
}

describe('gateway surface §4.4: arguments of a tool of a server', () => {
  it('are checked against its schema, in the draft that it names', () => {
    const tuple = { type: 'object', properties: { pair: { items: [{ type: 'string' }, { type: 'number' }] } } };
    check({ $schema: DRAFT_07, ...tuple }, { pair: ['a', 1] });
    expect(() => check({ $schema: DRAFT_07, ...tuple }, { pair: ['a', 'b'] })).toThrow('/pair/1 must be number');
    const prefix = { type: 'object', properties: { pair: { prefixItems: [{ type: 'string' }] } } };
    expect(() => check(prefix, { pair: [1] })).toThrow('/pair/0 must be string');
  });

  it('fail with the pointer of the fault and the properties that are known', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    expect(() => check(schema, {})).toThrow(
      expect.objectContaining({
        code: 'ARGS_INVALID',
        remedy: 'Known properties: city. tool_hydrate shows its schema.',
        details: { faults: [{ pointer: '/', fault: "must have required property 'city'" }] },
      }),
    );
  });

  it.each<[string, JsonObject]>([
    ['keywords and formats that are not known', { type: 'object', 'x-own': 1, properties: { a: { format: 'own' } } }],
    ['patterns that do not run in linear time', { type: 'object', properties: { a: { pattern: '(?=x)y\\1' } } }],
    ['a type without its keywords', { properties: { a: { minLength: 1 } } }],
  ])('are not refused for %s', (_what, schema) => {
    expect(() => check(schema, { a: 'text' })).not.toThrow();
  });

  it.each<[string, JsonObject]>([
    ['a type that does not exist', { type: 'thing' }],
    ['properties that are a list', { type: 'object', properties: [] }],
    ['a reference to another document', { $ref: 'https://example.com/schema.json' }],
  ])('cannot be checked against a schema with %s', (_what, schema) => {
    expect(() => check(schema, {})).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  it('open no secret, whatever the schema says', () => {
    const schema = { type: 'object', properties: { key: { type: 'string', 'x-contextd-secret': 'env' } } };
    expect(serverArguments('a:get#00000000', schema, null)).toMatchObject({ secretInputs: [], refusesTokens: false });
  });
});
