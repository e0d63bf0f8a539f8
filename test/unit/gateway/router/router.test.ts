import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CatalogItem } from '#src/gateway/item.js';
import { Habits } from '#src/gateway/router/habits.js';
import { Router } from '#src/gateway/router/router.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { catalogs, shuffledCatalogs, tool } from '../catalogs.ts';

const TOOLS: CatalogItem[] = [
  tool('create_issue', { description: 'Open a new issue in a repository.' }),
  tool('close_issue', { description: 'Close an issue of a repository.' }),
  tool('getWeatherForecast', { description: 'The forecast of a city.' }),
  tool('send_mail', { description: 'Send a message to a person.', namespace: 'mail' }),
  tool('delete_mail', { description: 'Erase a message.', namespace: 'mail' }),
  tool('bing_search', { description: '使用必应搜索指定的关键词' }),
  tool('book_table', { inputSchema: { type: 'object', properties: { restaurant: { description: 'Where to dine' } } } }),
];
const router = new Router(TOOLS);

function idsFor(query: string, of: Router = router): string[] {
  return of.route(query).map(({ item }) => item.id);
}

describe('a search for tools', () => {
  it.each([
    ['creating issues', 'create_issue'],
    ['weather', 'getWeatherForecast'],
    ['what is the wether like', 'getWeatherForecast'],
    ['remove a message', 'delete_mail'],
    ['a restaurant', 'book_table'],
    ['where could we dine', 'book_table'],
    ['搜索', 'bing_search'],
    ['SENDMAIL', 'send_mail'],
  ])('finds for %j first %s', (query, id) => {
    expect(idsFor(query)[0]).toBe(id);
  });

  it('takes a misspelt word for its right spelling, not for parts of which one says nothing', () => {
    const items = [
      tool('cast_for', { description: 'A cast for a mould.' }),
      tool('forecast', { description: 'A week.' }),
    ];
    expect(idsFor('forcast', new Router(items))[0]).toBe('forecast');
  });

  it('puts a name before a description, and a description before an argument', () => {
    const items = [
      tool('a', { inputSchema: { properties: { invoice: {} } } }),
      tool('b', { description: 'invoice' }),
      tool('c', { name: 'invoice' }),
    ];
    expect(idsFor('invoice', new Router(items))).toEqual(['c', 'b', 'a']);
  });

  it('finds a tool for each step of a task', () => {
    const found = idsFor('Find the weather forecast of the city in which the customer lives, then send a mail.');
    expect(found.slice(0, 2).sort()).toEqual(['getWeatherForecast', 'send_mail']);
  });

  it('answers a query without a word, or without a word of the catalogue, with nothing', () => {
    expect(['', '   ', '!?', 'qqqq'].map((query) => idsFor(query))).toEqual([[], [], [], []]);
  });

  it('answers the same in whatever order tools were added', () => {
    fc.assert(
      fc.property(shuffledCatalogs, fc.string({ maxLength: 60 }), ([items, shuffled], noise) => {
        const query = `${items[0]?.name ?? ''} ${items.at(-1)?.description ?? ''}, ${noise}`;
        const [one, other] = [items, shuffled].map((some) => new Router(some).route(query));
        expect(other).toEqual(one);
      }),
    );
  });

  it('finds every tool by its own name, itself or among the copies of another', () => {
    fc.assert(
      fc.property(catalogs, (items) => {
        const all = new Router(items);
        for (const { id, name } of items.filter((item) => /[a-z]{4}/.test(item.name))) {
          const found = all.route(name, { topK: items.length });
          expect(found.flatMap(({ item, duplicates }) => [item.id, ...duplicates.map((one) => one.id)])).toContain(id);
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('orders by score, ties by id, and lists no tool twice', () => {
    fc.assert(
      fc.property(
        catalogs,
        fc.constantFrom('create issue', 'list the pages', 'get vm 2, then 搜索'),
        (items, query) => {
          const found = new Router(items).route(query);
          const listed = found.flatMap(({ item, duplicates }) => [item.id, ...duplicates.map(({ id }) => id)]);
          expect(new Set(listed).size).toBe(listed.length);
          for (const [index, { item, score }] of found.entries()) {
            const next = found[index + 1];
            if (next !== undefined)
              expect(score > next.score || (score === next.score && item.id < next.item.id)).toBe(true);
          }
        },
      ),
    );
  });
});

it('issue 33.4 a tool that imitates one of another namespace does not take its place', () => {
  const description = 'Run a command in the project.';
  const own = tool('safe_bash', { namespace: 'contextd', description });
  const imitation = tool('run_safe_bash', { namespace: 'installed', description });
  const of = new Router([own, imitation]);
  for (const query of ['run a command', 'run safe bash'])
    expect(
      of
        .route(query)
        .map(({ item, duplicates }) => [item.id, duplicates])
        .sort(),
    ).toEqual([own, imitation].map(({ id }) => [id, []]).sort());
});

it('issue 33.4 takes a schema with an endless list of values', () => {
  const schema = {
    type: 'object',
    properties: { city: { enum: Array.from({ length: 300_000 }, (_, at) => `city${at}`) } },
  };
  expect(idsFor('city0', new Router([tool('weather', { inputSchema: schema })]))).toEqual(['weather']);
});

describe('copies of a tool', () => {
  const copies = ['', '_v2', '_legacy', '_old_copy'].map((mark) =>
    tool(`export_log${mark}`, {
      description: `Export the entries of the audit log to a file${mark.replace('_', ' ')}`,
    }),
  );

  it('takes one place, by the copy that fits the query, and names the others', () => {
    const some = new Router([...copies, tool('rotate_log', { description: 'Rotate a log' })]);
    const [first, second] = some.route('export the audit log');
    expect(first?.item.id).toBe('export_log');
    expect(first?.duplicates.map(({ id }) => id)).toHaveLength(3);
    expect(second?.item.id).toBe('rotate_log');
    expect(some.route('legacy export of the audit log')[0]?.item.id).toBe('export_log_legacy');
  });

  it('are not tools whose names differ by more than an added word', () => {
    const description = 'the virtual machine in the given zone and project, and waits until it is done';
    const pair = ['start_vm', 'stop_vm'].map((id) => tool(id, { description }));
    expect(idsFor('virtual machine in a zone', new Router(pair))).toEqual(['start_vm', 'stop_vm']);
  });
});

describe('what was executed', () => {
  it('teaches a word that the tool does not have', () => {
    const habits = new Habits();
    const learning = new Router(TOOLS, { habits });
    expect(idsFor('ping Bob', learning)).toEqual([]);
    habits.record('ping the customer', 'send_mail');
    expect(idsFor('ping Bob', learning)).toEqual(['send_mail']);
  });

  it('decides between tools that fit the same, and lets others of the namespace follow', () => {
    const habits = new Habits();
    const items = ['a', 'b', 'c'].map((id) => tool(id, { name: `run ${id}`, namespace: id === 'a' ? 'x' : 'y' }));
    const learning = new Router(items, { habits });
    habits.record('anything', 'c');
    expect(learning.route('run').map(({ item }) => item.id)).toEqual(['c', 'b', 'a']);
  });

  it('never hides a tool that has all the words', () => {
    const habits = new Habits();
    for (let i = 0; i < 500; i++) habits.record('close an issue', 'send_mail');
    expect(idsFor('close an issue', new Router(TOOLS, { habits }))).toContain('close_issue');
  });

  it('survives as data, ignores tools that are gone, and stays bounded', () => {
    const habits = new Habits();
    for (let i = 0; i < 3_000; i++)
      habits.record(
        `${'abcdefghij'
          .split('')
          .map((c) => `${c}${i}z`)
          .join(' ')}`,
        `gone${i}`,
      );
    habits.record('ping', 'send_mail');
    const record = habits.toRecord();
    const pairs = record.words.reduce((sum, [, counts]) => sum + counts.length, 0);
    expect(pairs).toBeLessThanOrEqual(20_000);
    const copy = new Router(TOOLS, { habits: new Habits(JSON.parse(JSON.stringify(record))) });
    expect(idsFor('ping', copy)).toEqual(idsFor('ping', new Router(TOOLS, { habits })));
  });
});

describe('the explanation of a score', () => {
  it('names the words, the fields and their shares', () => {
    const found = router.explain('erase mail', 'delete_mail');
    expect(found?.place).toBe(1);
    expect(found?.words.map(({ word, found: match, fields }) => [word, match, fields])).toEqual(
      expect.arrayContaining([
        ['eras', 'eras', ['description']],
        ['mail', 'mail', ['name', 'namespace']],
      ]),
    );
    expect(found?.words.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(router.explain('remove mail', 'delete_mail')?.words).toContainEqual(
      expect.objectContaining({ word: 'remov', found: 'delet', fields: ['name'] }),
    );
  });

  it('has the score and the prior of the answer, and nothing to say about a tool that does not fit', () => {
    const habits = new Habits();
    habits.record('mail', 'send_mail');
    const learning = new Router(TOOLS, { habits });
    const [first] = learning.route('send mail');
    const why = learning.explain('send mail', 'send_mail');
    expect(why?.score).toBe(first?.score);
    expect(why?.prior).toBeGreaterThan(1);
    expect(router.explain('send mail', 'book_table')).toBeUndefined();
    expect(router.explain('send mail', 'unknown')).toBeUndefined();
  });
});

describe('words and meaning', () => {
  const vectors = new Map(
    TOOLS.map(({ id }, index) => [id, Float32Array.from({ length: 8 }, (_, at) => (at === index ? 1 : 0))]),
  );
  const near = (id: string): Float32Array => vectors.get(id) ?? new Float32Array(8);
  const idsWith = (query: string, id: string): string[] =>
    router.route(query, { meaning: { query: near(id), vectors } }).map(({ item }) => item.id);

  it('finds by meaning what no word finds', () => {
    expect(idsWith('qqqq', 'send_mail')[0]).toBe('send_mail');
  });

  it('leaves the order of words alone if the best match has all of the words', () => {
    for (const { id } of TOOLS)
      expect(idsWith('close issue', id).slice(0, 2)).toEqual(idsFor('close issue').slice(0, 2));
  });

  it('issue 33.4 lists of copies the one that fits by words, whichever of them the model prefers', () => {
    const words = ['export', 'audit', 'log', 'legacy', 'file'];
    const query = fc.subarray(words, { minLength: 1 }).map((some) => some.join(' '));
    const marks = fc.shuffledSubarray(['_v2', '_legacy', '_old_copy', '_2024', '_file'], { minLength: 1 });
    fc.assert(
      fc.property(query, marks, fc.nat(5), (asked, some, at) => {
        const copies = ['', ...some].map((mark) =>
          tool(`export_log${mark}`, {
            description: `Export the entries of the audit log to a file${mark.replace('_', ' ')}`,
          }),
        );
        const catalog = new Router([...copies, ...TOOLS]);
        const preferred = copies[at % copies.length]?.id;
        const meaning = {
          query: axis(0),
          vectors: new Map(copies.map(({ id }) => [id, axis(id === preferred ? 0 : 1)])),
        };
        const byWords = (id: string): number => catalog.explain(asked, id)?.score ?? 0;
        const [first] = catalog.route(asked, { meaning });
        const group = [first?.item.id ?? '', ...(first?.duplicates ?? []).map(({ id }) => id)];
        expect(group.map(byWords)).toEqual(group.map(byWords).toSorted((one, other) => other - one));
      }),
    );
  });
});

function axis(at: number): Float32Array {
  return Float32Array.from({ length: 8 }, (_, place) => (place === at ? 1 : 0.01));
}
