import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertDistinct, distinctKeys } from '#src/gateway/ids/collisions.js';
import { formatPrimitiveId, parsePrimitiveId, promptIdOf, resourceIdOf } from '#src/gateway/ids/primitive-id.js';
import { formatToolId, parseToolId, TOOL_ID_MAX_CHARS, type ToolIdParts } from '#src/gateway/ids/tool-id.js';

const namespace = fc.stringMatching(/^[a-z][a-z0-9_-]{0,63}$/);
const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/);
const version = fc.stringMatching(/^[A-Za-z0-9._-]{1,32}$/);
const hash8 = fc.stringMatching(/^[0-9a-f]{8}$/);
const parts: fc.Arbitrary<ToolIdParts> = fc.oneof(
  fc.record({ namespace, name, version }),
  fc.record({ namespace, name, hash8 }),
  fc.record({ namespace, name, version, hash8 }),
);

describe('a tool id', () => {
  it.each([
    ['github:create_issue@1.4.0', { namespace: 'github', name: 'create_issue', version: '1.4.0' }],
    ['slack:slack_send_message#3a91c7d2', { namespace: 'slack', name: 'slack_send_message', hash8: '3a91c7d2' }],
    ['mcp:read_file#7b2f0e14', { namespace: 'mcp', name: 'read_file', hash8: '7b2f0e14' }],
    ['weather:get@2024-05', { namespace: 'weather', name: 'get', version: '2024-05' }],
    ['billing:refund@1#a1b2c3d4', { namespace: 'billing', name: 'refund', version: '1', hash8: 'a1b2c3d4' }],
  ])('%s is read and written as the specification has it', (id, expected) => {
    expect(parseToolId(id)).toEqual(expected);
    expect(formatToolId(expected)).toBe(id);
  });

  it('comes back from its parts, whatever they are, within its limit', () => {
    fc.assert(
      fc.property(parts, (one) => {
        const id = formatToolId(one);
        expect(parseToolId(id)).toEqual(one);
        expect(id.length).toBeLessThanOrEqual(TOOL_ID_MAX_CHARS);
      }),
    );
  });

  it.each([
    ['', 'namespace'],
    ['create_issue', 'namespace'],
    ['GitHub:x@1', 'namespace'],
    ['9a:x@1', 'namespace'],
    [`${'n'.repeat(65)}:x@1`, 'namespace'],
    ['a:@1', 'name'],
    ['a:9x@1', 'name'],
    ['a:b:c@1', 'name'],
    ['a:b c@1', 'name'],
    ['a:b@1@2', 'name'],
    [`a:${'n'.repeat(129)}@1`, 'name'],
    ['a:b@', 'hash8'],
    ['a:b@#01234567', 'version'],
    [`a:b@${'1'.repeat(33)}`, 'version'],
    ['a:b@1#', 'hash8'],
    ['a:b#0123456', 'hash8'],
    ['a:b#0123456G', 'hash8'],
    ['a:b#ABCDEF01', 'hash8'],
    ['a:b@1\n', 'version'],
    ['a:b', 'hash8'],
    ['fs:readme#ab12cd34~2', 'hash8'],
  ])('refuses %j and names its part %s', (id, part) => {
    expect(() => parseToolId(id)).toThrow(expect.objectContaining({ code: 'ARGS_INVALID', details: { part } }));
  });

  it('refuses more than 240 characters and says how many there are', () => {
    expect(() => parseToolId(`a:${'b'.repeat(239)}`)).toThrow(/at most 240 characters, not 241/);
  });

  it('either refuses a text or writes it again as it was', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'aB0_:@#.~-'), maxLength: 40 });
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string({ unit: 'binary' })), (text) => {
        let read: ToolIdParts;
        try {
          read = parseToolId(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'ARGS_INVALID' });
          return;
        }
        expect(formatToolId(read)).toBe(text);
      }),
    );
  });

  it('is refused for parts that the grammar lacks, even if they come from a program', () => {
    expect(() => formatToolId({ namespace: 'a', name: 'b' })).toThrow(/neither a version nor a hash/);
    expect(() => formatToolId({ namespace: 'a', name: 'b@2', version: '1' })).toThrow(/The name "b@2"/);
  });
});

describe('the id of a primitive', () => {
  it.each([
    ['resource::fs:readme#ab12cd34', { kind: 'resource', namespace: 'fs', name: 'readme', hash8: 'ab12cd34' }],
    ['prompt::gh:summarize#deadbeef', { kind: 'prompt', namespace: 'gh', name: 'summarize', hash8: 'deadbeef' }],
    ['gh:summarize#deadbeef', { kind: 'tool', namespace: 'gh', name: 'summarize', hash8: 'deadbeef' }],
  ] as const)('%s is read and written as the specification has it', (id, expected) => {
    expect(parsePrimitiveId(id)).toEqual(expected);
    expect(formatPrimitiveId(expected)).toBe(id);
  });

  it('is never that of another kind', () => {
    fc.assert(
      fc.property(parts, (one) => {
        const ids = (['tool', 'resource', 'prompt'] as const).map((kind) => formatPrimitiveId({ kind, ...one }));
        expect(new Set(ids).size).toBe(3);
        expect(ids.map((id) => parsePrimitiveId(id).kind)).toEqual(['tool', 'resource', 'prompt']);
      }),
    );
  });

  it.each(['tool::a:b@1', 'agent::a:b@1', '::a:b@1', 'resource::', 'resource::resource::a:b@1', 'resource::a:b'])(
    'refuses %s',
    (id) => {
      expect(() => parsePrimitiveId(id)).toThrow(expect.objectContaining({ code: 'ARGS_INVALID' }));
    },
  );

  it.each([
    [{ uri: 'file:///docs/readme.md' }, undefined, /^resource::file:readme\.md#[0-9a-f]{8}$/],
    [{ uri: 'file:///docs/readme.md', name: 'The README' }, 'Docs', /^resource::docs:The_README#[0-9a-f]{8}$/],
    [{ uri: 'postgres://h/db/' }, undefined, /^resource::postgres:db#[0-9a-f]{8}$/],
    [{ uri: 'no scheme' }, undefined, /^resource::mcp:no_scheme#[0-9a-f]{8}$/],
  ])('a resource %j of the server %s is %s', (resource, serverName, expected) => {
    expect(resourceIdOf(resource, serverName)).toMatch(expected);
  });

  it('of a resource follows its URI and of a prompt its argument names, in any order', () => {
    const named = { name: 'same' };
    expect(resourceIdOf({ uri: 'a://1', ...named })).not.toBe(resourceIdOf({ uri: 'a://2', ...named }));
    const prompt = (...argumentNames: string[]): string => promptIdOf({ name: 'gh.sum', argumentNames });
    expect(prompt('b', 'a')).toBe(prompt('a', 'b'));
    expect(prompt('a')).not.toBe(prompt('a', 'b'));
    expect(prompt()).toBe(promptIdOf({ name: 'gh.sum' }));
    expect(prompt('a')).toMatch(/^prompt::gh:sum#/);
  });
});

describe('ids that are equal', () => {
  it('of two tools are a conflict that names the id', () => {
    expect(() => assertDistinct(['a:b@1', 'a:c@1', 'a:b@1'])).toThrow(
      expect.objectContaining({ code: 'CONFLICT', message: 'Two tools have the id a:b@1' }),
    );
    expect(() => assertDistinct(['a:b@1', 'a:b@2'])).not.toThrow();
  });

  it('of resources get ~2, ~3 in the order of the catalogue', () => {
    expect(distinctKeys(['fs:readme#ab12cd34', 'fs:readme#ab12cd34'])).toEqual([
      'fs:readme#ab12cd34',
      'fs:readme#ab12cd34~2',
    ]);
    expect(distinctKeys(['x', 'y', 'x', 'y', 'x'])).toEqual(['x', 'y', 'x~2', 'y~2', 'x~3']);
  });

  it('become different keys, whatever the ids are', () => {
    const id = fc.constantFrom('x', 'x~2', 'x~3', 'x~2~2', 'y', '__proto__');
    fc.assert(
      fc.property(fc.array(id), (ids) => {
        const keys = distinctKeys(ids);
        expect(new Set(keys).size).toBe(ids.length);
        for (const [at, key] of keys.entries()) expect(key.startsWith(ids[at] ?? '')).toBe(true);
        expect(distinctKeys(ids)).toEqual(keys);
      }),
    );
  });
});
