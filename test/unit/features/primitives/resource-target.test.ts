import { describe, expect, it } from 'vitest';
import { ToolAccess } from '#src/catalog/tool-access.js';
import { silentLogger } from '#src/core/log.js';
import { PrimitiveCatalogues } from '#src/features/primitives/primitive-catalogues.js';
import { targetOf } from '#src/features/primitives/resource-target.js';
import { URI_MAX_CHARS } from '#src/gateway/uri-template.js';
import { loadCounter } from '#src/tokens/counter.js';

/** `server`, `name`, and a URI or a template of it. */
type Offered = readonly [server: string, name: string, uri: string];

async function primitives(offered: readonly Offered[], deny: string[] = []) {
  const resources = offered.map(([server, name, uri], index) => ({
    id: `resource::${server}:${name}#${index.toString(16).padStart(8, '0')}`,
    server,
    isTemplate: uri.includes('{'),
    uri,
    definition: { name },
  }));
  const snapshot = { revision: '1', tools: [], byId: new Map(), waiting: new Map(), resources, prompts: [] };
  const access = new ToolAccess({ allow: ['*'], deny, read_only: false, projects: {} });
  const deps = { upstreams: { snapshot: async () => snapshot }, access, counter: loadCounter(), logger: silentLogger };
  return new PrimitiveCatalogues(deps).of('/p');
}

const SECRET: Offered[] = [
  ['mm', 'secret', 'sec://secret'],
  ['mm', 'any', 'sec://{name}'],
  ['mm', 'raw', '{+uri}'],
];

describe('gateway surface §9.4 a resource that gateway.access denies', () => {
  const deny = ['resource::mm:secret*'];

  it.each([
    'resource::mm:secret#00000000',
    'sec://secret',
    'sec://secre%74',
    'sec://%73e%63ret',
    'SEC://secret',
    'sec://sec\tret',
  ])('is not found as %s', async (asked) => {
    const open = await primitives(SECRET);
    if (asked !== 'SEC://secret' && !asked.includes('\t'))
      expect(targetOf(asked, undefined, open)).toMatchObject({ resource: { server: 'mm' } });
    const closed = await primitives(SECRET, deny);
    expect(() => targetOf(asked, undefined, closed)).toThrow(expect.objectContaining({ code: 'RESOURCE_NOT_FOUND' }));
  });

  it.each([
    ['resource::mm:any#00000001', { name: 'secret' }],
    ['resource::mm:raw#00000002', { uri: 'sec://secret' }],
    ['resource::mm:raw#00000002', { uri: 'sec://se%63ret' }],
    ['resource::mm:raw', { uri: 'SEC://secret' }],
  ])('is not found as what the template %s makes of %j', async (id, variables) => {
    expect(targetOf(id, variables, await primitives(SECRET))).toMatchObject({
      resource: { server: 'mm' },
      uri: expect.stringMatching(/^sec:/i),
    });
    const closed = await primitives(SECRET, deny);
    expect(() => targetOf(id, variables, closed)).toThrow(expect.objectContaining({ code: 'RESOURCE_NOT_FOUND' }));
    const open = Object.fromEntries(Object.keys(variables).map((name) => [name, 'open']));
    expect(targetOf(id, open, closed)).toMatchObject({ uri: expect.stringContaining('open') });
  });

  it('is denied as what other templates make if it is a template, but not as a resource that the server lists', async () => {
    const offered: Offered[] = [
      ['mm', 'private', 'sec://private/{name}'],
      ['mm', 'raw', '{+uri}'],
      ['mm', 'page', 'sec://private/page'],
    ];
    const closed = await primitives(offered, ['resource::mm:private*']);
    expect(() => targetOf('sec://private/a', undefined, closed)).toThrow('no resource here');
    expect(() => targetOf('sec://p%72ivate/a', undefined, closed)).toThrow('no resource here');
    expect(targetOf('sec://private/page', undefined, closed).resource.id).toBe('resource::mm:page#00000002');
  });

  it('is not denied at another server', async () => {
    const closed = await primitives([...SECRET, ['other', 'open', 'sec://secret']], deny);
    expect(targetOf('sec://secret', undefined, closed).resource.server).toBe('other');
  });
});

describe('gateway surface §9.4 a URI of several servers', () => {
  it.each<[string, Offered[]]>([
    [
      'list',
      [
        ['a', 'one', 'docs://deploy'],
        ['b', 'two', 'docs://deploy'],
      ],
    ],
    [
      'make',
      [
        ['a', 'one', 'docs://{page}'],
        ['b', 'two', '{+any}'],
      ],
    ],
  ])('is ambiguous if they %s it, and the remedy names the ids', async (_how, offered) => {
    const offers = await primitives(offered);
    expect(() => targetOf('docs://deploy', undefined, offers)).toThrow(
      expect.objectContaining({
        code: 'ARGS_INVALID',
        remedy: 'Pass the id of the one that is meant: resource::a:one#00000000 or resource::b:two#00000001.',
      }),
    );
  });

  it('is that of the server that lists it, beside templates of others', async () => {
    const offers = await primitives([
      ['a', 'one', '{+any}'],
      ['b', 'two', 'docs://deploy'],
    ]);
    expect(targetOf('docs://deploy', undefined, offers).resource.server).toBe('b');
  });
});

describe('gateway surface §9.4 an id of a resource', () => {
  it('is taken without its hash if one resource has it, and suggested otherwise', async () => {
    const offers = await primitives([
      ['docs', 'deploy', 'docs://deploy'],
      ['docs', 'page', 'docs://1'],
      ['docs', 'page', 'docs://2'],
    ]);
    expect(targetOf('resource::docs:deploy', undefined, offers).uri).toBe('docs://deploy');
    const deploy = 'Did you mean resource::docs:deploy#00000000';
    for (const [asked, remedy] of [
      ['resource::docs:page', 'Did you mean resource::docs:page#00000001 or resource::docs:page#00000002?'],
      ['resource::docs:deplyo', deploy],
      ['docs:deploy', deploy],
      ['resource::docs:deploy#ffffffff', deploy],
    ] as const)
      expect(() => targetOf(asked, undefined, offers)).toThrow(
        expect.objectContaining({ code: 'RESOURCE_NOT_FOUND', remedy: expect.stringContaining(remedy) }),
      );
  });

  it('of a template makes no URI beyond the bound', async () => {
    const offers = await primitives([['e', 'any', `e:{${'a,'.repeat(63)}a}`]]);
    const variables = { a: 'é'.repeat(1_000_000) };
    expect(() => targetOf('resource::e:any', variables, offers)).toThrow(
      expect.objectContaining({
        code: 'ARGS_INVALID',
        message: expect.stringContaining(`${URI_MAX_CHARS} characters`),
      }),
    );
  });
});
