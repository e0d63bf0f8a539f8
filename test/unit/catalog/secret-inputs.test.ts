import { describe, expect, it } from 'vitest';
import { ANY, findSecretInputs, plainPlaces, refusesTokens, secretPlaces } from '#src/catalog/secret-inputs.js';
import type { JsonObject } from '#src/core/json.js';

const secret = (purpose: string): JsonObject => ({ type: 'string', 'x-contextd-secret': purpose });
const schemaOf = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});
const command = { type: 'string' };

describe('SEC-1.4 inputs that opt in to secrets', () => {
  it('are found at any depth, together with their texts', () => {
    const schema = schemaOf(
      {
        command,
        text: secret('file'),
        vars: { type: 'object', additionalProperties: secret('env') },
        list: { type: 'array', items: { type: 'object', properties: { body: secret('stdin') } } },
        'x-contextd-secret': { type: 'string' },
      },
      ['command'],
    );
    const inputs = findSecretInputs('t', schema);
    expect(inputs).toEqual([
      { path: ['text'], purpose: 'file' },
      { path: ['vars', ANY], purpose: 'env' },
      { path: ['list', ANY, 'body'], purpose: 'stdin' },
    ]);
    const places = secretPlaces(inputs, { text: 'a', vars: { A: 'b', B: 7 }, list: [{ body: 'c' }, { other: 'd' }] });
    expect(places.map(({ path, text }) => [path.join('/'), text])).toEqual([
      ['text', 'a'],
      ['vars/A', 'b'],
      ['list/0/body', 'c'],
    ]);
  });

  it('are distinguished from all other inputs, in which a token may refuse the call', () => {
    const schema = schemaOf({ text: secret('file'), name: { type: 'string' } });
    const places = plainPlaces(findSecretInputs('t', schema), { text: 'a', name: 'b', list: ['c'] });
    expect(places.map(({ text }) => text)).toEqual(['text', 'name', 'b', 'list', '0', 'c']);
    expect(refusesTokens(schema)).toBe(false);
    expect(refusesTokens({ ...schema, 'x-contextd-secret': 'refused' })).toBe(true);
    expect(findSecretInputs('t', { ...schema, 'x-contextd-secret': 'refused' })).toHaveLength(1);
  });

  it.each([
    ['an unknown purpose', schemaOf({ a: secret('header') }), /must be one of/],
    ['a purpose at the root', { ...schemaOf({}), 'x-contextd-secret': 'file' }, /must be "refused" at the root/],
    ['another type', schemaOf({ a: { type: 'object', 'x-contextd-secret': 'file' } }), /type "string"/],
    ['a place without effect', schemaOf({ a: { anyOf: [secret('file')] } }), /has no effect/],
    ['a program without a command', schemaOf({ a: secret('env') }), /required property "command"/],
    ['a command that may be left out', schemaOf({ command, a: secret('stdin') }), /required property "command"/],
  ])('refuse %s', (_what, schema, fault) => {
    expect(() => findSecretInputs('t', schema)).toThrow(
      expect.objectContaining({ code: 'SCHEMA_INVALID', message: expect.stringMatching(fault) }),
    );
  });
});
