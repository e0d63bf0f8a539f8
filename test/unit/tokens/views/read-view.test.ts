import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '#src/core/json.js';
import { DEFAULT_VIEW, readView, VIEW_NAMES } from '#src/tokens/views/read-view.js';

const ANY = { stream: null, densify: true };

describe('the option view', () => {
  it.each([
    [undefined, DEFAULT_VIEW],
    ['tail', { name: 'tail', lines: null, ...ANY }],
    ['errors', { name: 'errors', context: 2, ...ANY }],
    ['rows', { name: 'rows', first: 1, last: 20, columns: null, ...ANY }],
    ['digest', { name: 'digest', query: '', ...ANY }],
    [{ head: 20 }, { name: 'head', lines: 20, ...ANY }],
    [{ lines: '10-20' }, { name: 'lines', first: 10, last: 20, ...ANY }],
    [{ lines: '10-' }, { name: 'lines', first: 10, last: Number.POSITIVE_INFINITY, ...ANY }],
    [{ bytes: '0' }, { name: 'bytes', first: 0, last: 0, ...ANY }],
    [
      { grep: 'error', context: 2 },
      { name: 'grep', pattern: 'error', before: 2, after: 2, ...ANY },
    ],
    [
      { grep: 'a', before: 1, stream: 'stderr' },
      { name: 'grep', pattern: 'a', before: 1, after: 0, ...ANY, stream: 'stderr' },
    ],
    [
      { head_tail: true, densify: false },
      { ...DEFAULT_VIEW, densify: false },
    ],
    [{ json_path: '$.a[0]' }, { name: 'json_path', path: '$.a[0]', ...ANY }],
    [{ json_keys: '$.a' }, { name: 'json_keys', path: '$.a', keys: null, ...ANY }],
    [
      { json_keys: ['a', 'b'], path: '$.c' },
      { name: 'json_keys', path: '$.c', keys: ['a', 'b'], ...ANY },
    ],
    [
      { rows: '3-4', columns: ['ID'] },
      { name: 'rows', first: 3, last: 4, columns: ['ID'], ...ANY },
    ],
    [{ diff: 'art_0123456789abcdef' }, { name: 'diff', against: 'art_0123456789abcdef', ...ANY }],
    [{ digest: { query: 'why' } }, { name: 'digest', query: 'why', ...ANY }],
  ])('reads %j', (value, view) => {
    expect(readView(value)).toEqual(view);
  });

  it.each([
    ['', '/view'],
    ['lines', '/view'],
    [7, '/view'],
    [{}, '/view'],
    [{ head: 0 }, '/view/head'],
    [{ head: 1, tail: 1 }, '/view/tail'],
    [{ lines: '0-3' }, '/view/lines'],
    [{ lines: '9-3' }, '/view/lines'],
    [{ lines: 'a' }, '/view/lines'],
    [{ grep: '(' }, '/view/grep'],
    [{ grep: '' }, '/view/grep'],
    [{ grep: 'a', context: 51 }, '/view/context'],
    [{ grep: 'a', columns: ['b'] }, '/view/columns'],
    [{ errors: 3 }, '/view/errors'],
    [{ json_path: '$[?(@.a)]' }, '/view/json_path'],
    [{ json_keys: [] }, '/view/json_keys'],
    [{ json_keys: '$[' }, '/view/json_keys'],
    [{ json_keys: ['a'], path: '$[' }, '/view/path'],
    [{ rows: '1-2', columns: [] }, '/view/columns'],
    [{ diff: 'art_x' }, '/view/diff'],
    [{ digest: { question: 'a' } }, '/view/digest/question'],
    [{ tail: true, stream: 'No' }, '/view/stream'],
    [{ tail: true, densify: 'no' }, '/view/densify'],
  ])('refuses %j and names the pointer', (value, pointer) => {
    expect(() => readView(value)).toThrowError(
      expect.objectContaining({ code: 'ARGS_INVALID', details: { faults: [expect.objectContaining({ pointer })] } }),
    );
  });

  it('reads or refuses any JSON, and nothing else', () => {
    const key = fc.constantFrom(...VIEW_NAMES, 'stream', 'densify', 'context', 'columns', 'path', '__proto__');
    const value = fc.oneof(fc.dictionary(key, fc.jsonValue(), { maxKeys: 3 }), fc.jsonValue());
    fc.assert(
      fc.property(value, (json) => {
        const copy: Json = JSON.parse(JSON.stringify(json));
        try {
          expect(VIEW_NAMES).toContain(readView(copy).name);
        } catch (error) {
          expect(error).toMatchObject({ code: 'ARGS_INVALID' });
        }
      }),
    );
  });
});
