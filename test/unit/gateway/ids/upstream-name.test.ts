import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_NAME_MAX_CHARS, clientNameOf, clientNames } from '#src/gateway/ids/client-name.js';
import { parseToolId } from '#src/gateway/ids/tool-id.js';
import { inferNamespace, toolIdOf } from '#src/gateway/ids/upstream-name.js';

describe('the id of a tool of an MCP server', () => {
  it.each([
    ['github.create_issue', '1.4.0', 'github:create_issue@1.4.0'],
    ['weather.get', '2024-05', 'weather:get@2024-05'],
    ['weather/get', '2024-05', 'weather:get@2024-05'],
    ['slack_send_message', '1', 'slack:slack_send_message@1'],
    ['read_file', '1', 'mcp:read_file@1'],
    ['github.repos.list', '1', 'github:repos.list@1'],
    ['github.', '1', 'github:github.@1'],
    ['a_b_', '1', 'a:a_b_@1'],
    ['__x', '1', 'mcp:__x@1'],
  ])('%s of version %s is %s', (name, version, id) => {
    expect(toolIdOf({ name, version })).toBe(id);
  });

  it.each([
    ['slack_send_message', /^slack:slack_send_message#[0-9a-f]{8}$/],
    ['read_file', /^mcp:read_file#[0-9a-f]{8}$/],
  ])('%s without a version has a hash: %s', (name, id) => {
    expect(toolIdOf({ name })).toMatch(id);
  });

  it.each([
    ['GitHub.create', 'github:create@1'],
    ['a/b.c', 'a-b:c@1'],
    ['.hidden', 'mcp:_.hidden@1'],
    ['2fa', 'mcp:_2fa@1'],
    ['two words', 'mcp:two_words@1'],
    ['créer', 'mcp:cr_er@1'],
    ['😀', 'mcp:_@1'],
    ['日本.x', 'mcp:x@1'],
    ['x'.repeat(200), `mcp:${'x'.repeat(128)}@1`],
    [`${'N'.repeat(80)}.x`, `${'n'.repeat(64)}:x@1`],
    ['a\nb:c', 'mcp:a_b_c@1'],
  ])('%j, which the grammar lacks, is altered and gets a hash although it has a version', (name, id) => {
    const [beforeHash, hash] = toolIdOf({ name, version: '1' }).split('#');
    expect(beforeHash).toBe(id);
    expect(hash).toMatch(/^[0-9a-f]{8}$/);
  });

  it.each([
    ['GitHub', 'create_issue', 'github:create_issue@1'],
    ['github', 'github.create_issue', 'github:create_issue@1'],
    ['work', 'github.create_issue', 'work:github.create_issue@1'],
    ['My Server (beta)', 'slack_send_message', 'my-server-beta:slack_send_message@1'],
    ['4chan', 'read', 'chan:read@1'],
    ['サーバ', 'read', 'mcp:read@1'],
  ])('the server %j names the namespace of %s', (server, name, id) => {
    expect(toolIdOf({ name, version: '1' }, server)).toBe(id);
  });

  it.each([[null], [''], ['1.0+build 7'], ['1'.repeat(33)], [1.5], [{}], [Number.NaN]])(
    'the version %j, which the grammar lacks, counts as none',
    (version) => {
      expect(toolIdOf({ name: 'x', version })).toBe(toolIdOf({ name: 'x' }));
    },
  );

  it('a whole number is a version', () => {
    expect(toolIdOf({ name: 'x', version: 3 })).toBe('mcp:x@3');
  });

  it('a tool without a name is refused', () => {
    expect(() => toolIdOf({ name: '' })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  it('round-trips, whatever the server and the tool are called', () => {
    const anyName = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.stringMatching(/^[A-Za-z0-9_./ é-]{1,300}$/),
    );
    fc.assert(
      fc.property(anyName, fc.option(anyName, { nil: undefined }), fc.option(anyName), (name, server, version) => {
        const id = toolIdOf({ name, version }, server);
        const { namespace, name: short } = parseToolId(id);
        expect(id.startsWith(`${namespace}:${short}`)).toBe(true);
      }),
    );
  });

  it('differs for two tools of a server with the same version, unless only the separator differs', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_. é-]{1,6}$/);
    fc.assert(
      fc.property(name, name, (a, b) => {
        fc.pre(a !== b);
        expect(toolIdOf({ name: a, version: '1' }, 's')).not.toBe(toolIdOf({ name: b, version: '1' }, 's'));
      }),
    );
  });

  it.each([
    ['github.create_issue', 'github'],
    ['filesystem/read', 'filesystem'],
    ['slack_send_message', 'slack'],
    ['read_file', 'mcp'],
    ['_a_b', 'mcp'],
    ['', 'mcp'],
  ])('%j shows the namespace %s', (name, namespace) => {
    expect(inferNamespace(name)).toBe(namespace);
  });
});

describe('the name of a tool for a client', () => {
  const id = fc.stringMatching(
    /^[a-z][a-z0-9_-]{0,63}:[A-Za-z_][A-Za-z0-9_.-]{0,127}(@[A-Za-z0-9._-]{1,32})?#[0-9a-f]{8}$/,
  );

  // Claude Code 2.1.329 and OpenCode 1.18.33 list these letters unchanged, and 64 with the prefix is the strictest limit.
  it('has only characters that clients keep, and room for their prefix', () => {
    fc.assert(
      fc.property(id, (one) => {
        expect(clientNameOf(one)).toMatch(/^[a-z][A-Za-z0-9_-]*_[0-9a-f]{8}$/);
        expect(`mcp__contextd__${clientNameOf(one)}`.length).toBeLessThanOrEqual(64);
      }),
    );
  });

  it('is readable', () => {
    expect(clientNameOf('github:create_issue@1.4.0')).toMatch(/^github_create_issue_[0-9a-f]{8}$/);
    expect(clientNameOf('resource::fs:readme.md#ab12cd34')).toMatch(/^resource_fs_readme_md_[0-9a-f]{8}$/);
    expect(clientNameOf(`a:${'b'.repeat(128)}@1`).length).toBe(CLIENT_NAME_MAX_CHARS);
  });

  it('leads back to the id, as the id itself does', () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1 }), (ids) => {
        const { names, idOf } = clientNames(ids);
        expect(names.map(idOf)).toEqual(ids);
        expect(ids.map(idOf)).toEqual(ids);
      }),
    );
    expect(clientNames(['a:b@1']).idOf('a_b_00000000')).toBeUndefined();
  });

  it('gateway surface §4.1 leads back to the id under the prefix that a client puts before it, and an end of it does not', () => {
    const ids = ['a:b@1', 'contextd:a_b@1'];
    const { names, idOf } = clientNames(ids);
    for (const prefix of ['mcp__contextd__', 'contextd_', 'my-server_'])
      expect(names.map((name) => idOf(prefix + name))).toEqual(ids);
    for (const [name = ''] of [names])
      for (const other of [
        name.slice(1),
        `x${name}`,
        `mcp__contextd__${name}0`,
        'contextd_a:b@1',
        name.replace(/_[^_]+$/, ''),
      ])
        expect(idOf(other), other).toBeUndefined();
  });

  it('differs for versions of a tool and for names that clients would make equal', () => {
    const ids = ['a:b.c@1', 'a:b-c@1', 'a:b_c@1', 'a:b_c@2', 'a:b_c#01234567', 'a_b:c@1'];
    expect(new Set(ids.map(clientNameOf)).size).toBe(ids.length);
  });

  it('that two ids have is a conflict', () => {
    // Ids are not checked here: one that is equal to the name of another is the shortest way to a collision.
    const name = clientNameOf('a:b@1');
    expect(() => clientNames([name, 'a:b@1'])).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
  });
});
