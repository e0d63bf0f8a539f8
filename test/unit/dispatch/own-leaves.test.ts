import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#src/core/json.js';
import { type Leaving, ownLeaves } from '#src/dispatch/own-names.js';
import { collectLeaves } from '#src/scrub/leaves.js';

/** What the tool of these tests states in its tool.json. */
const STATED = ['exit_code', 'files', 'path', 'code', 'stdout', 'content', 'content_#'];

const leavingOf = (data: JsonObject, streams: Leaving['streams'] = []): Leaving => ({
  data,
  streams,
  failure: { message: 'm', remedy: null, details: { path: 'p', token: 't' } },
  warnings: ['w'],
  denied: [{ kind: 'read_only', path: '/x', rule: 'r', how_to_allow: 'h' }],
  quarantined: ['q'],
});

/** The strings that are searched. */
function searched(value: Json, own: ReadonlySet<number>): string[] {
  return collectLeaves(value).filter((_leaf, position) => !own.has(position));
}

function keysOf(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => keysOf(item));
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]) : [];
}

describe('the names that contextd itself wrote', () => {
  it('SEC-1.1: are not searched, but every value is', () => {
    const leaving = leavingOf({ exit_code: 0, files: [{ path: 'a', error: { code: 'c', message: 'm2' } }] }, [
      { field: 'stdout', text: 'out' },
      { field: 'content_12', text: 'more' },
    ]);
    expect(searched(leaving, ownLeaves(leaving, STATED))).toEqual([
      'a',
      'c',
      'm2',
      'out',
      'more',
      'm',
      'p',
      't',
      'w',
      'read_only',
      '/x',
      'r',
      'h',
      'q',
    ]);
  });

  it("SEC-1.1: do not include the keys and fields of a tool that is not contextd's, even if they look like contextd's own", () => {
    const data = { stdout: 'x', nested: { exit_code: 'y' } };
    const leaving = leavingOf(data, [{ field: 'content', text: 'z' }]);
    expect(searched(leaving, ownLeaves(leaving, null)).slice(0, 7)).toEqual([
      'stdout',
      'x',
      'nested',
      'exit_code',
      'y',
      'content',
      'z',
    ]);
    const alone = leavingOf(data, []);
    expect(searched(alone, ownLeaves(alone, null)).slice(0, 5)).toEqual(collectLeaves(data));
  });

  it('SEC-1.1: do not include any other key, wherever it is', () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('exit_code', 'content', '__proto__', '0', '7', 'content_1x'));
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.integer(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (data) => {
        const ownKeys = keysOf(data).filter((name) => name === 'exit_code' || name === 'content');
        const leaving = { data, streams: [] };
        const inAll = collectLeaves(leaving);
        const own = ownLeaves(leaving, STATED);
        expect([...own].map((position) => inAll[position]).toSorted()).toEqual(
          ['data', 'streams', ...ownKeys].toSorted(),
        );
        expect(searched(leaving, own)).toHaveLength(inAll.length - ownKeys.length - 2);
      }),
    );
  });
});
