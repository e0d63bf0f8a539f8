import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#src/core/json.js';
import { repairArguments } from '#src/gateway/arguments/repair.js';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    ratio: { type: 'number' },
    force: { type: 'boolean' },
    nothing: { type: 'null' },
    text: { type: 'string' },
    either: { type: ['integer', 'string'] },
    maybe: { type: ['integer', 'null'] },
    anything: {},
  },
};

describe('gateway surface §4.4: arguments', () => {
  it.each<[JsonObject, JsonObject, string[]]>([
    [{ count: '12' }, { count: 12 }, ['str_to_integer at /count']],
    [{ count: '-3' }, { count: -3 }, ['str_to_integer at /count']],
    [{ ratio: '1.5e3' }, { ratio: 1500 }, ['str_to_number at /ratio']],
    [{ force: 'true' }, { force: true }, ['str_to_boolean at /force']],
    [{ nothing: 'null' }, { nothing: null }, ['str_to_null at /nothing']],
    [{ maybe: 'null' }, { maybe: null }, ['str_to_null at /maybe']],
    [
      { count: '1', force: 'false' },
      { count: 1, force: false },
      ['str_to_integer at /count', 'str_to_boolean at /force'],
    ],
  ])('are repaired where the schema demands the type: %j', (given, args, repairs) => {
    expect(repairArguments(given, SCHEMA)).toEqual({ args, repairs });
  });

  it.each<[Json]>([
    [{ text: '12' }],
    [{ either: '12' }],
    [{ anything: '12' }],
    [{ unknown: '12' }],
    [{ count: '1.5' }],
    [{ count: '012' }],
    [{ count: '99999999999999999999' }],
    [{ count: ' 12' }],
    [{ ratio: '1e999' }],
    [{ ratio: 'NaN' }],
    [{ force: 'True' }],
    [{ force: 'yes' }],
    [{ Count: '12' }],
    [{ __proto__x: '12' }],
    ['no JSON'],
    ['[1]'],
    [null],
    [[1]],
  ])('stay as they are otherwise: %j', (given) => {
    expect(repairArguments(given, SCHEMA)).toEqual({ args: given, repairs: [] });
  });

  it('are parsed if they are given as JSON text, with a byte order mark and blanks around it', () => {
    expect(repairArguments('\uFEFF {"count":"7"}\n', SCHEMA)).toEqual({
      args: { count: 7 },
      repairs: ['parse_stringified_object at /', 'str_to_integer at /count'],
    });
  });

  it('name a property by its JSON pointer', () => {
    const schema = { properties: { 'a/b~c': { type: 'integer' } } };
    expect(repairArguments({ 'a/b~c': '1' }, schema).repairs).toEqual(['str_to_integer at /a~1b~0c']);
  });
});
