import type { Tool } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { changesBetween, DefinitionCollector, definitionsHash, unchanged } from '#src/upstream/definitions.js';
import { snapshotOf } from '#src/upstream/snapshot.js';

function seen(...tools: Partial<Tool>[]) {
  const collector = new DefinitionCollector();
  collector.add(tools.map((tool) => ({ name: 'a', inputSchema: { type: 'object' }, ...tool })));
  return collector.result().tools;
}

describe('issue 34 definitions of tools', () => {
  it('issue 34 are the same whatever the order of their keys and of their list', () => {
    const one = seen(
      { name: 'a', description: 'x', inputSchema: { type: 'object', properties: { p: {}, q: {} } } },
      { name: 'b' },
    );
    const other = seen(
      { name: 'b' },
      { inputSchema: { properties: { q: {}, p: {} }, type: 'object' }, description: 'x', name: 'a' },
    );
    expect(definitionsHash(one)).toBe(definitionsHash(other));
    expect(changesBetween(one, other)).toEqual([]);
  });

  const changes: readonly [what: string, Partial<Tool>][] = [
    ['description', { description: 'Other.' }],
    ['title', { title: 'Other' }],
    ['a description within the schema', { inputSchema: { type: 'object', properties: { p: { description: 'x' } } } }],
    ['output schema', { outputSchema: { type: 'object' } }],
    ['annotations', { annotations: { readOnlyHint: true } }],
    ['_meta', { _meta: { version: '2' } }],
  ];
  for (const [what, change] of changes)
    it(`issue 34 differ if their ${what} does`, () => {
      expect(changesBetween(seen({}), seen(change))).toMatchObject([{ tool: 'a', kind: 'changed' }]);
      expect(unchanged(seen({}), seen(change))).toEqual([]);
    });

  it('issue 34 that are new or gone are named, and neither can be called', () => {
    const [before, now] = [seen({ name: 'old' }, { name: 'kept' }), seen({ name: 'kept' }, { name: 'new' })];
    expect(changesBetween(before, now).map(({ tool, kind }) => [tool, kind])).toEqual([
      ['new', 'new'],
      ['old', 'removed'],
    ]);
    expect(unchanged(before, now).map(({ name }) => name)).toEqual(['kept']);
  });

  it('issue 34 may have a key named __proto__, which is compared as every other', () => {
    const schema = (text: string): Tool['inputSchema'] =>
      JSON.parse(`{"type":"object","properties":{"__proto__":${text}}}`);
    expect(
      changesBetween(seen({ inputSchema: schema('{"a":1}') }), seen({ inputSchema: schema('{"a":2}') })),
    ).toHaveLength(1);
  });
});

describe('issue 34 the tools of the servers of a project', () => {
  it('issue 34 have the name of their server as namespace, and a version if they declare one', () => {
    const { tools } = snapshotOf([
      { name: 'one', files: 'none', offers: seen({ name: 'a' }) },
      { name: 'two', files: 'none', offers: seen({ name: 'a', _meta: { version: '1.2' } }) },
    ]);
    expect(tools.map(({ id }) => id)).toEqual([expect.stringMatching(/^one:a#[0-9a-f]{8}$/), 'two:a@1.2']);
  });

  it('issue 34 are both left out if they have the same id', () => {
    const version = { _meta: { version: '1' } };
    const { tools } = snapshotOf([
      {
        name: 's',
        files: 'none',
        offers: seen({ name: 's.a', ...version }, { name: 's/a', ...version }, { name: 'b' }),
      },
    ]);
    expect(tools.map(({ upstreamName }) => upstreamName)).toEqual(['b']);
  });

  it('issue 34 are another revision as soon as one differs', () => {
    const revision = (description: string) =>
      snapshotOf([{ name: 's', files: 'none', offers: seen({ description }) }]).revision;
    expect(revision('x')).toBe(revision('x'));
    expect(revision('x')).not.toBe(revision('y'));
  });
});
