import { describe, expect, it } from 'vitest';
import { viewJsonKeys } from '#src/tokens/views/json-keys.js';

const view = (value: unknown, path = '$', keys: string[] | null = null) =>
  viewJsonKeys(typeof value === 'string' ? value : JSON.stringify(value), { path, keys });
const linesOf = (value: unknown, path = '$') => {
  const viewed = view(value, path);
  return viewed.kind === 'text' ? viewed.text.split('\n') : [];
};

describe('the view json_keys', () => {
  it('describes each key of an object in one line', () => {
    const long = `{"big": 12345678901234567890, "text": "${'é\\u0041😀'.repeat(400)}", "short": "a\\nb", "o": {"x": 1, "y": 2}, "one": {"x": 1},
      "list": [${Array(1300).fill(0).join(',')}], "none": null, "yes": true, "a b.c": 1.0, "n": 1${'0'.repeat(50)}, "o": {}}`;
    expect(linesOf(long)).toEqual([
      'big: 12345678901234567890',
      'text: string (1,200 chars)',
      'short: "a\\nb"',
      'o: object (0 keys)',
      'one: object (1 key)',
      'list: array (1,300)',
      'none: null',
      'yes: true',
      '"a b.c": 1.0',
      'n: number (51 chars)',
    ]);
    expect(view(long).facts).toEqual({ matches: 1 });
  });

  it('describes the shape of the items of an array', () => {
    const items = [{ id: 1, tags: [] }, { id: '2', error: null }, { id: 3, error: {} }, 'x', null];
    const shape = ['3 object, 1 string, 1 null', 'id: 2 number, 1 string', 'tags: 1 array', 'error: 1 null, 1 object'];
    expect(linesOf({ items }, '$.items')).toEqual([`array (5): ${shape[0]}`, ...shape.slice(1)]);
    expect(linesOf({ items }, '$.items[*]')).toEqual([`matches (5): ${shape[0]}`, ...shape.slice(1)]);
    expect(linesOf('{"id":1}\n{"id":2}')).toEqual(['documents (2): 2 object', 'id: 2 number']);
    expect(linesOf([])).toEqual(['array (0)']);
    expect(linesOf({})).toEqual(['object (0 keys)']);
    expect(linesOf({ a: 7 }, 'a')).toEqual(['7']);
  });

  it('lists ten thousand keys compactly, each once', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `key ${i}`);
    const lines = linesOf(Object.fromEntries(names.map((name) => [name, { id: 1 }])));
    expect(lines.slice(0, 3)).toEqual(['object, values (10,000): 10,000 object', 'id: 10,000 number', 'keys:']);
    expect(lines.slice(3).every((line) => line.length <= 121)).toBe(true);
    expect(JSON.parse(`[${lines.slice(3).join(' ')}]`)).toEqual(names);
    const wide = [Object.fromEntries(names.map((name) => [name, 1]))];
    expect(linesOf(wide).slice(0, 2)).toEqual(['array (1): 1 object', 'keys of the objects:']);
  });

  it('returns an object with only the requested keys, as it is written', () => {
    const text = '{"a": 1.0, "b": {"c": [1, 2]}, "d\\u0041": "\\u0041", "a": 1e400}';
    expect(view(text, '$', ['dA', 'a', 'nope'])).toEqual({
      kind: 'text',
      text: '{"dA":"\\u0041","a":1e400}',
      facts: { matches: 1, objects: 1, missing: ['nope'] },
      cut: 'head_tail',
    });
    expect(view([{ id: 1, x: 2 }, 3, { x: 4 }], '$', ['id'])).toMatchObject({
      text: '{"id":1}\n{}',
      facts: { matches: 1, objects: 2 },
    });
    expect(view({ a: [{ id: 1 }, { id: 2 }] }, '$.a[*]', ['id'])).toMatchObject({ text: '{"id":1}\n{"id":2}' });
  });

  it('reports how far a path went if it matches nothing, and refuses what is not JSON', () => {
    expect(view({ a: { b: 1 } }, 'a.c')).toMatchObject({ text: '', facts: { matches: 0, nearest: 'a', keys: ['b'] } });
    expect(() => view('nothing')).toThrow('the output is not JSON');
    expect(() => view('{}', '$[?@]')).toThrow('filters');
  });
});
