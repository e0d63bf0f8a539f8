import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { idOf } from '#src/sandbox/snapshots/inside/content-id.js';
import { ObjectStore } from '#src/sandbox/snapshots/inside/object-store.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'objects-'));
  mkdirSync(join(dir, 'objects/pack'), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true }));

const packs = (): string[] => readdirSync(join(dir, 'objects/pack'));
const many = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => Buffer.from(`content ${n}\n`.repeat(n)));

it('issue 31.7 reads what it kept, few or many at once, also in another process, and keeps nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 200 }), async (arrays) => {
      const contents = arrays.map((array) => Buffer.from(array));
      const store = new ObjectStore(dir);
      const ids = await store.keep(contents);
      expect(ids).toEqual(contents.map(idOf));
      for (const reader of [store, new ObjectStore(dir, true)])
        for (const [at, id] of ids.entries()) expect(reader.read(id)).toEqual(contents[at]);
    }),
    { numRuns: propertyRuns('door') },
  );
  const contents = many(100);
  await new ObjectStore(dir).keep(contents);
  const files = packs();
  await new ObjectStore(dir).keep(contents);
  expect(packs()).toEqual(files);
});

it('issue 31.7 gives the space of contents that nothing needs back, and a reader that lists the packs before still finds the rest', async () => {
  const store = new ObjectStore(dir);
  const contents = many(200);
  const ids = await store.keep(contents);
  expect(packs()).toHaveLength(1);
  const reader = new ObjectStore(dir, true);
  const all = await store.clean(new Set(ids));
  const kept = ids.slice(0, 100);
  expect(await store.clean(new Set(kept))).toBeLessThan(all);
  expect(packs()).toHaveLength(1);
  for (const one of [store, reader, new ObjectStore(dir)]) {
    for (const [at, id] of kept.entries()) expect(one.read(id)).toEqual(contents[at]);
    expect(() => one.read(ids[150] ?? '')).toThrow();
  }
  expect(await store.clean(new Set())).toBe(0);
  expect(packs()).toEqual([]);
});

it('issue 31.7 starts with a pack that a loss of power cut, and refuses contents that are not what their ids say', async () => {
  const ids = await new ObjectStore(dir).keep(many(100));
  const [name = ''] = packs();
  const file = join(dir, 'objects/pack', name);
  chmodSync(file, 0o600);
  truncateSync(file, 2);
  const store = new ObjectStore(dir);
  expect(() => store.read(ids[5] ?? '')).toThrow();
  expect(await store.keep(many(100))).toEqual(ids);
  expect(store.read(ids[5] ?? '')).toEqual(many(100)[5]);
  writeFileSync(file, Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from('[]')]));
  expect(() => new ObjectStore(dir).read(ids[5] ?? '')).toThrow();
});
