import fc from 'fast-check';
import type { CatalogItem } from '#src/gateway/item.js';

/** A tool; what is left out is empty. */
export function tool(id: string, parts: Partial<CatalogItem> = {}): CatalogItem {
  return { id, kind: 'tool', name: id, description: '', namespace: '', tags: [], ...parts };
}

const word = fc.constantFrom(
  'create',
  'Create',
  'issue',
  'issues',
  'list',
  'VM',
  'get',
  'page',
  '搜索',
  'é',
  '2',
  '-',
  '.',
);
const name = fc.oneof(
  { weight: 4, arbitrary: fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('_')) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(129), 'X'.repeat(129), 'a.b', 'a-b', 'a_b', '***', '__proto__') },
);
const namespace = fc.oneof(fc.constantFrom('', 'github', 'GitHub', '9p', 'a.b', 'a-b', '必应'), name);

/** Catalogues with names that collide once they are segments, in any script. */
export const catalogs = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 12 }),
    kind: fc.constant('tool' as const),
    name,
    description: fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
    namespace,
    tags: fc.array(word, { maxLength: 2 }),
  }),
  { selector: ({ id }) => id, maxLength: 60 },
);

/** The same items in two orders. */
export const shuffledCatalogs = catalogs.chain((items) =>
  fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length })),
);
