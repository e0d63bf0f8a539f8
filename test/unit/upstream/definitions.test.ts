import type { Tool } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  acceptable,
  changesBetween,
  DefinitionCollector,
  type DefinitionKind,
  definitionsHash,
  differing,
  unchanged,
} from '#src/upstream/definitions.js';
import { snapshotOf } from '#src/upstream/snapshot.js';
import { collidingUris } from '../../helpers/colliding-uris.ts';

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

const HEADER_FAULTS: readonly (readonly [declared: object, fault: string | null])[] = [
  [{ properties: { a: { type: 'string', 'x-mcp-header': 'Region' } } }, null],
  [{ properties: { a: { properties: { b: { type: 'integer', 'x-mcp-header': 'B' } } } } }, null],
  [{ properties: { 'x-mcp-header': { type: 'string' } } }, null],
  [{ properties: { a: { type: 'string', default: { 'x-mcp-header': 'B' } } } }, null],
  [{ properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }, 'is not at a string, an integer or a boolean'],
  [{ properties: { a: { 'x-mcp-header': 'A' } } }, 'is not at a string, an integer or a boolean'],
  [{ properties: { a: { type: 'string', 'x-mcp-header': '' } } }, 'is not the name of a header'],
  [{ properties: { a: { type: 'string', 'x-mcp-header': 'A\r\nB' } } }, 'is not the name of a header'],
  [{ properties: { a: { type: 'string', 'x-mcp-header': 7 } } }, 'is not the name of a header'],
  [{ 'x-mcp-header': 'A' }, 'is not at a property of the arguments'],
  [{ properties: { a: { items: { type: 'string', 'x-mcp-header': 'A' } } } }, 'is not at a property of the arguments'],
  [{ $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }, 'is not at a property of the arguments'],
  [
    { anyOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] },
    'is not at a property of the arguments',
  ],
  [
    {
      properties: {
        a: { type: 'string', 'x-mcp-header': 'Same' },
        b: { properties: { c: { type: 'string', 'x-mcp-header': 'same' } } },
      },
    },
    'names same, which another has',
  ],
];

describe('issue 34 the arguments that a tool wants as headers', () => {
  it.each(HEADER_FAULTS)('issue 34 declared as %j are taken, or the tool is left out: %s', (declared, fault) => {
    const tool = { name: 'a', inputSchema: { type: 'object' as const, ...declared } };
    const collector = new DefinitionCollector('tool', { hasHeaders: true });
    collector.add([tool]);
    const { tools, leftOut } = collector.result();
    expect(tools).toHaveLength(fault === null ? 1 : 0);
    expect(leftOut).toEqual(fault === null ? [] : [expect.stringContaining(fault)]);
    // A server that is a process gets no headers.
    expect(seen(tool)).toHaveLength(1);
  });
});

/** Entries that count how often something other than their name is read. */
function countingEntries(count: number, nameOf: (at: number) => string) {
  const reads = { count: 0 };
  const entries = Array.from({ length: count }, (_, at) => ({
    name: nameOf(at),
    get description() {
      reads.count += 1;
      return 'x';
    },
  }));
  return { entries, reads };
}

describe('issue 34 a list that is larger than what is taken of it', () => {
  it('issue 34 ends after four times as many entries as are taken, and says so', () => {
    const collector = new DefinitionCollector();
    const { entries } = countingEntries(3_000, (at) => `tool_${at}`);
    expect(collector.add(entries.slice(0, 2_048))).toBe(true);
    expect(collector.add(entries.slice(2_048))).toBe(false);
    const { tools, leftOut } = collector.result();
    expect(tools).toHaveLength(512);
    expect(leftOut).toHaveLength(20);
    expect(leftOut.at(-1)).toBe('the rest of the tools: the list has more than 2048 entries');
  });

  it.each([
    ['the same name', 'same', 1],
    ['an empty name', '', 0],
  ])('issue 34 copies no entry with %s', (_, name, taken) => {
    const collector = new DefinitionCollector();
    const { entries, reads } = countingEntries(1_000, () => name);
    collector.add(entries);
    expect(collector.result().tools).toHaveLength(taken);
    expect(reads.count).toBeLessThanOrEqual(2 * taken);
  });

  it('issue 34 copies no entry beyond the number that is taken', () => {
    const collector = new DefinitionCollector();
    const { entries, reads } = countingEntries(1_000, (at) => `tool_${at}`);
    collector.add(entries);
    expect(reads.count).toBeLessThanOrEqual(2 * 512);
  });

  it('issue 34 ends when its pages have more bytes than are read, and says so', () => {
    const collector = new DefinitionCollector('prompt');
    expect(collector.takePage(10 * 1024 * 1024)).toBe(true);
    expect(collector.takePage(7 * 1024 * 1024)).toBe(false);
    expect(collector.result().leftOut).toEqual(['the rest of the prompts: the pages have more than 16777216 bytes']);
  });
});

describe('issue 34 the tools of the servers of a project', () => {
  it('issue 34 that wait for a person, or are gone, are known by their ids with and without a hash', () => {
    const accepted = seen(
      { name: 'kept' },
      { name: 'changed', inputSchema: { type: 'object', properties: { p1: {} } } },
      { name: 'gone' },
    );
    const now = seen(
      { name: 'kept' },
      { name: 'changed', inputSchema: { type: 'object', properties: { p2: {} } } },
      { name: 'new' },
    );
    const offers = unchanged(accepted, now);
    const one = { name: 'one', files: 'none' as const, offers };
    const { waiting, tools, revision } = snapshotOf([{ ...one, waiting: differing(accepted, now) }]);
    expect(tools.map(({ upstreamName }) => upstreamName)).toEqual(['kept']);
    const ids = [...waiting.keys()].sort();
    expect(ids.filter((id) => !id.includes('#'))).toEqual(['one:changed', 'one:gone', 'one:new']);
    expect(ids.filter((id) => id.startsWith('one:changed#'))).toHaveLength(2);
    expect(new Set(waiting.values())).toEqual(new Set(['one']));
    expect(snapshotOf([one]).revision).not.toBe(revision);
  });

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

/** The list of one kind, as a server sends it. */
function listed(kind: DefinitionKind, ...entries: object[]) {
  const collector = new DefinitionCollector(kind);
  collector.add(entries);
  return collector.result();
}

describe('gateway surface §9 definitions of resources and prompts', () => {
  const prompt = (more: object = {}) => listed('prompt', { name: 'a', description: 'x', ...more }).tools;

  it('of a prompt are accepted as those of tools are, and the same name means another one', () => {
    expect(changesBetween(prompt(), prompt({ description: 'y' }))).toMatchObject([
      { tool: 'prompt a', kind: 'changed' },
    ]);
    expect(unchanged(prompt(), prompt({ arguments: [{ name: 'b' }] }))).toEqual([]);
    const tool = seen({ name: 'prompt a' });
    const both = [...seen({ name: 'prompt a', description: 'new' }), ...prompt()];
    expect(changesBetween([...tool, ...prompt()], both)).toMatchObject([{ tool: 'prompt a', kind: 'changed' }]);
    expect(definitionsHash([...tool, ...prompt()])).not.toBe(definitionsHash(both));
  });

  it('of a template are accepted, and of a resource are not', () => {
    const template = (description: string) =>
      listed('template', { uriTemplate: 'a:{b}', name: 'a', description }).tools;
    const resource = (description: string) => listed('resource', { uri: 'a:b', name: 'a', description }).tools;
    expect(changesBetween(template('x'), template('y'))).toMatchObject([{ tool: 'template a:{b}' }]);
    expect(changesBetween(resource('x'), resource('y'))).toEqual([]);
    expect(unchanged(resource('x'), resource('y'))).toEqual(resource('y'));
    expect(acceptable([...template('x'), ...resource('x')])).toEqual(template('x'));
  });

  it('are bounded, and one without a name or URI is left out', () => {
    const many = Array.from({ length: 4_100 }, (_, index) => ({ uri: `a:${index}`, name: 'a' }));
    const found = listed('resource', { name: 'a' }, { uri: 7, name: 'a' }, ...many);
    expect(found.tools).toHaveLength(4_096);
    expect(found.leftOut).toContain('"": its uri does not have 1 to 4096 characters');
    expect(found.leftOut).toContain('"a:4096": the server has more than 4096 resources');
  });
});

describe('gateway surface §9.3 the keys of a catalogue', () => {
  const [first, second] = collidingUris();
  const server = (name: string, uris: readonly string[]) => ({
    name,
    files: 'none' as const,
    offers: listed('resource', ...uris.map((uri) => ({ uri, name: 'page' }))).tools,
  });
  const keys = (...servers: ReturnType<typeof server>[]) =>
    snapshotOf(servers).resources.map(({ id, uri }) => [id, uri]);

  it('are the id for the first of several with the same one, and end in ~2 for the next', () => {
    const [[id] = ['']] = keys(server('docs', [first]));
    expect(keys(server('docs', [first, second]))).toEqual([
      [id, first],
      [`${id}~2`, second],
    ]);
    expect(keys(server('docs', [second, first]))[0]).toEqual([id, second]);
  });

  it('are distinct for any servers, and the same for the same order', () => {
    const uri = fc.constantFrom(first, second, 'a:1', 'a:2');
    const servers = fc.uniqueArray(fc.tuple(fc.constantFrom('docs', 'wiki', 'git'), fc.uniqueArray(uri)), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(servers, (given) => {
        const made = given.map(([name, uris]) => server(name, uris));
        const all = keys(...made);
        expect(new Set(all.map(([id]) => id)).size).toBe(all.length);
        expect(keys(...made)).toEqual(all);
      }),
    );
  });
});
