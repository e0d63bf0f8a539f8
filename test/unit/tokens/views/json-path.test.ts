import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkJsonPath, viewJsonPath } from '#src/tokens/views/json-path.js';
import { jsonTexts, naiveSelect, paths, spell } from './naive-json-path.ts';

const SHOP = JSON.stringify(
  {
    store: {
      book: [
        { title: 'A', price: 8.95 },
        { title: 'B', price: 12.99, isbn: 'x' },
        { title: 'C', price: 22.99 },
      ],
      bicycle: { color: 'red', price: 19.95 },
    },
    'a.b': { 'c d': 1, '@type': 't', '1st': 2 },
  },
  null,
  2,
);

const lines = (text: string, path: string) => viewJsonPath(text, { path });
const textOf = (text: string, path: string) => {
  const viewed = lines(text, path);
  return viewed.kind === 'text' ? viewed.text : null;
};
const caught = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('the view json_path', () => {
  it.each([
    ['$.store.bicycle', '{"color":"red","price":19.95}'],
    ['store.bicycle.color', '"red"'],
    ['/store/book/1/title', '"B"'],
    ['/a.b/c d', '1'],
    ['$.store.book[*].title', '"A"\n"B"\n"C"'],
    ['$.store.book[-1].title', '"C"'],
    ['$.store.book[0:2].title', '"A"\n"B"'],
    ['$.store.book[::-2].title', '"C"\n"A"'],
    ['$.store.book[2,0,2].title', '"C"\n"A"'],
    ['$.store.bicycle[\'price\', "color"]', '19.95\n"red"'],
    ['$..price', '8.95\n12.99\n22.99\n19.95'],
    ['$.store..isbn', '"x"'],
    ['$..book[1].isbn', '"x"'],
    ['$..[0]', '{"title":"A","price":8.95}'],
    ["$['a.b'].@type", '"t"'],
    ["['a.b'].1st", '2'],
    ['store.book.0.price', '8.95'],
    ['.store.book[].title', '"A"\n"B"\n"C"'],
    [' $ .store [ "book" ] [ 0 ] .price ', '8.95'],
  ])('%s', (path, expected) => {
    expect(textOf(SHOP, path)).toBe(expected);
    expect(lines(SHOP, path).facts).toEqual({ matches: expected.split('\n').length });
  });

  it('prints numbers and strings as they are written, and the last of two equal keys', () => {
    const text =
      '{"n": [12345678901234567890, 1.0, 1e400, -0], "s": "\\u0041\\/", "d": 1, "d": {"x": 2}, "\\u0064\\"": 3}';
    expect(textOf(text, '$')).toBe(text.replace(/ /g, ''));
    expect(textOf(text, 'n[*]')).toBe('12345678901234567890\n1.0\n1e400\n-0');
    expect(textOf(text, 's')).toBe('"\\u0041\\/"');
    expect(textOf(text, '$.d')).toBe('{"x":2}');
    expect(textOf(text, '$..x')).toBe('2');
    expect(textOf('{"a":{"x":1},"a":{"x":2}}', '$..x')).toBe('2');
    expect(textOf('{"a":{"x":1},"a":{"x":2}}', '$.*.x')).toBe('2');
    expect(textOf(text, "$['d\"']")).toBe('3');
  });

  it('finds what a plain walk over JSON.parse finds', () => {
    fc.assert(
      fc.property(jsonTexts, paths, ({ spaced }, path) => {
        const { facts } = lines(spaced, spell(path));
        const found = textOf(spaced, spell(path)) ?? '';
        const expected = naiveSelect(JSON.parse(spaced), path);
        expect(facts.matches).toBe(expected.length);
        expect(found === '' ? [] : found.split('\n').map((line) => JSON.parse(line))).toEqual(expected);
      }),
    );
  });

  it('prints the text without the white space between its parts', () => {
    fc.assert(
      fc.property(jsonTexts, ({ spaced, compact }) => {
        expect(textOf(spaced, '$')).toBe(compact);
        expect(textOf(compact, '/')).toBe(textOf(spaced, '/'));
      }),
    );
  });

  it('refuses exactly what JSON.parse refuses, and quotes nothing of it', () => {
    fc.assert(
      fc.property(
        jsonTexts,
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', '\\', '\u001f', '\t', '1', ' '),
        ({ compact }, at, junk) => {
          const place = at % (compact.length + 1);
          const broken = compact.slice(0, place) + junk + compact.slice(place + 1);
          const fault = caught(() => JSON.parse(broken));
          const result = caught(() => lines(broken, '$'));
          if (fault instanceof SyntaxError) expect(result).toMatchObject({ code: 'VIEW_FAILED' });
          else expect(result).toMatchObject({ kind: 'text' });
        },
      ),
    );
    const error = caught(() => lines('{"token":\n  "hunter2",, "a":1}', '$'));
    expect(error).toMatchObject({
      code: 'VIEW_FAILED',
      message: 'the output is not JSON: the first fault is in line 2, column 13',
    });
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it('treats several documents, one per line, as a list', () => {
    const text = '{"id":1}\r\n{"id":2}\n\n{"id":3}\n';
    expect(lines(text, '$[*].id')).toEqual({
      kind: 'text',
      text: '1\n2\n3',
      facts: { matches: 3, documents: 3 },
      cut: 'head_tail',
    });
    expect(textOf(text, '$[-1]')).toBe('{"id":3}');
    expect(textOf(text, '$..id')).toBe('1\n2\n3');
    expect(textOf('{\n "a": 1\n}\n{\n "a": 2\n}', '$')).toBe('[{"a":1},{"a":2}]');
    expect(caught(() => lines('{"id":1} {"id":2}', '$'))).toMatchObject({ code: 'VIEW_FAILED' });
  });

  it('skips lines that are not JSON, but not the rest of a broken value', () => {
    const banner = '\n> pkg@1.0.0 list\n> tool --json\n[1/4] Resolving\n';
    expect(lines(`${banner}{\n "a": [1]\n}\nDone in 1s.\n`, 'a')).toMatchObject({
      text: '[1]',
      facts: { matches: 1, skipped_lines: 4 },
    });
    expect(caught(() => lines('[\n{"a":1},\n{"b":2}', '$'))).toMatchObject({
      message: 'the output is not JSON: it ends too early',
    });
    expect(caught(() => lines('banner\n[\n{"a":1},,\n{"b":2}\n]\n', '$'))).toMatchObject({ code: 'VIEW_FAILED' });
    for (const text of ['', ' \n', 'no json', '\ufeff'])
      expect(caught(() => lines(text, '$'))).toMatchObject({ code: 'VIEW_FAILED' });
    expect(textOf('\ufeff{"a":1}', 'a')).toBe('1');
  });

  it('reports how far a path went if it matches nothing', () => {
    expect(lines(SHOP, '$.store.books[0].title')).toEqual({
      kind: 'text',
      text: '',
      facts: { matches: 0, nearest: '$.store', keys: ['book', 'bicycle'] },
      cut: 'head',
    });
    expect(lines(SHOP, 'store.book[9].title').facts).toEqual({ matches: 0, nearest: 'store.book', keys: [], items: 3 });
    expect(lines(SHOP, '/store/book/0/title/x').facts).toEqual({
      matches: 0,
      nearest: '/store/book/0/title',
      keys: [],
    });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}${'k'.repeat(100)}`, i]));
    const { facts } = lines(JSON.stringify(many), 'x');
    expect(facts).toMatchObject({ nearest: '$', keys_in_all: 50 });
    expect(JSON.stringify(facts).length).toBeLessThan(1000);
  });

  it('reads values nested deeper than any stack', () => {
    const depth = 200_000;
    const text = `${'['.repeat(depth)}{"x": 7}${']'.repeat(depth)}`;
    expect(textOf(text, '$..x')).toBe('7');
    expect(textOf(text, '$')).toBe(text.replace(' ', ''));
  });

  it('refuses to print a result far longer than the text', () => {
    const depth = 20_000;
    expect(caught(() => lines(`${'['.repeat(depth)}7${']'.repeat(depth)}`, '$..*'))).toMatchObject({
      code: 'VIEW_FAILED',
      details: { matches: depth },
    });
  });
});

describe('a JSONPath', () => {
  it.each([
    ['$.a[?(@.b>1)]', 'filters ("?…") are not supported', 5],
    ['$.a[(@.length-1)]', 'expression', 5],
    ['$.length()', 'functions are not supported', 9],
    ['$.a[b]', "['name']", 5],
    ['$.a[01]', 'needless 0', 6],
    ['$.a[-0]', 'needless 0', 7],
    ['$.a[1', 'needs "," or "]"', 6],
    ["$['a", 'not closed', 3],
    ["$['\\q']", 'escape', 3],
    ['$.', 'needs a name', 3],
    ['$a', 'needs a "." or "["', 2],
    ['a b', 'needs a "." or "["', 3],
    ['$.a | length', 'needs a "." or "["', 5],
    ['/a/~2', '~0 nor ~1', 4],
    [`$.${'a'.repeat(1000)}`, 'longer than 1000', 1001],
  ])('%s is refused by name and place', (path, fault, position) => {
    const error = caught(() => checkJsonPath(path));
    expect(error).toMatchObject({
      code: 'ARGS_INVALID',
      details: { faults: [{ pointer: '/view/json_path', fault: expect.stringContaining(fault) }] },
    });
    expect(String(error)).toContain(`(character ${position})`);
  });

  it.each(['$', '', '.', '/', '$..*', '$[0:]', '$[:]', '$[ 1 : 2 : 3 ]', "$['it\\'s \\u00e9']", '$.a-b._c.é'])(
    '%s is allowed',
    (path) => {
      expect(() => checkJsonPath(path)).not.toThrow();
    },
  );
});
