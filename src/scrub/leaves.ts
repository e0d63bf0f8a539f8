import type { Json } from '../core/json.ts';

/**
 * Every string of a value, object keys included: depth first, a key right before its value. `replaceLeaves` and the
 * first pass in a tool's process rely on this order.
 */
export function collectLeaves(value: Json): string[] {
  const leaves: string[] = [];
  collect(value, leaves);
  return leaves;
}

function collect(value: Json, leaves: string[]): void {
  if (typeof value === 'string') leaves.push(value);
  else if (isList(value)) for (const item of value) collect(item, leaves);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      leaves.push(key);
      collect(item, leaves);
    }
}

/**
 * The same value with other strings, in the order of `collectLeaves`. Keys that become the same get " (2)", " (3)" and
 * so on, so that nothing is lost. RangeError when the number of leaves differs.
 */
export function replaceLeaves(value: Json, leaves: readonly string[]): Json {
  const source = leaves[Symbol.iterator]();
  const take = (): string => {
    const { done, value: leaf } = source.next();
    if (done) throw new RangeError('fewer leaves than strings in the value');
    return leaf;
  };
  const replaced = replace(value, take);
  if (!source.next().done) throw new RangeError('more leaves than strings in the value');
  return replaced;
}

function replace(value: Json, take: () => string): Json {
  if (typeof value === 'string') return take();
  if (isList(value)) return value.map((item) => replace(item, take));
  if (typeof value !== 'object' || value === null) return value;
  const entries = new Map<string, Json>();
  for (const item of Object.values(value)) {
    const key = freeKey(take(), entries);
    entries.set(key, replace(item, take));
  }
  return Object.fromEntries(entries);
}

/** The key, or with the first " (n)" behind it that is free. */
export function freeKey(key: string, taken: ReadonlyMap<string, Json>): string {
  let free = key;
  for (let count = 2; taken.has(free); count++) free = `${key} (${count})`;
  return free;
}

/** Array.isArray does not narrow a readonly array. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
