import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import { AnswerCache, type CachedCall } from '#src/features/execution/answer-cache.js';

const OUTPUT = { data: {}, streams: [{ field: 'summary', text: 'found' }] };

function open(settings: Partial<ConstructorParameters<typeof AnswerCache>[0]> = {}) {
  const time = { now: 0 };
  const all = { read_only: true, allow: [], ttl_seconds: 10, max_entries: 2, max_bytes: 10_000, ...settings };
  return { cache: new AnswerCache(all, { monotonic: () => time.now }), time };
}

function callOf(
  input: JsonObject,
  own: Partial<CachedCall> & { tool?: string; readOnlyHint?: boolean } = {},
): CachedCall {
  const { tool = 'a:get#00000000', readOnlyHint = true, project = '/p', revision = '1' } = own;
  const annotations = { readOnlyHint };
  const profile = { minIsolation: 'reduced', limits: {} } as const;
  const program = {
    kind: 'upstream',
    upstreamName: 'get',
    definitionSha256: '',
    declared: {},
    annotations,
    profile,
  } as const;
  return { project, revision, call: { tool, input, program } };
}

describe('gateway surface §4.5: a kept answer', () => {
  it('is given to an equal call, in whatever order its arguments are', () => {
    const { cache } = open();
    cache.put(cache.keyFor(callOf({ a: 1, b: { c: 2, d: 3 } })) ?? '', OUTPUT);
    expect(cache.get(cache.keyFor(callOf({ b: { d: 3, c: 2 }, a: 1 })) ?? '')).toEqual(OUTPUT);
  });

  it.each([
    [callOf({ a: 2 })],
    [callOf({ a: '1' })],
    [callOf({ a: 1 }, { project: '/other' })],
    [callOf({ a: 1 }, { revision: '2' })],
    [callOf({ a: 1 }, { tool: 'a:list#00000000' })],
  ])('is not given to another call: %j', (other) => {
    const { cache } = open();
    cache.put(cache.keyFor(callOf({ a: 1 })) ?? '', OUTPUT);
    expect(cache.get(cache.keyFor(other) ?? '')).toBeUndefined();
  });

  it('is only of a tool that declares to be read-only and is allowed', () => {
    expect(open().cache.keyFor(callOf({}, { readOnlyHint: false }))).toBeNull();
    expect(open({ read_only: false }).cache.keyFor(callOf({}))).toBeNull();
    expect(open({ allow: ['b:*'] }).cache.keyFor(callOf({}))).toBeNull();
    expect(open({ allow: ['a:get*'] }).cache.keyFor(callOf({}))).not.toBeNull();
  });

  it('is never a failure, and never one with artifacts, which belong to a session', () => {
    const { cache } = open();
    const key = cache.keyFor(callOf({})) ?? '';
    cache.put(key, { ...OUTPUT, failure: { code: 'UPSTREAM_ERROR', message: 'no' } });
    cache.put(key, { ...OUTPUT, data: { artifacts: [{ handle: 'art_1' }] } });
    expect(cache.get(key)).toBeUndefined();
  });

  it('ends with its time, and the least recently used goes first', () => {
    const { cache, time } = open();
    const [first = '', second = '', third = ''] = [1, 2, 3].map((a) => cache.keyFor(callOf({ a })) ?? '');
    cache.put(first, OUTPUT);
    cache.put(second, OUTPUT);
    cache.get(first);
    cache.put(third, OUTPUT);
    expect([first, second, third].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
    time.now = 10_000;
    expect(cache.get(first)).toBeUndefined();
  });

  it('is dropped when all of them have too many bytes', () => {
    const { cache } = open({ max_bytes: 400, max_entries: 100 });
    const keys = [1, 2, 3, 4, 5].map((a) => cache.keyFor(callOf({ a })) ?? '');
    for (const key of keys) cache.put(key, OUTPUT);
    const kept = keys.filter((key) => cache.get(key) !== undefined);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(5);
    expect(kept.at(-1)).toBe(keys.at(-1));
  });
});
