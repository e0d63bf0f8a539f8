import { ContextdError } from '../../core/errors.ts';
import { isObject } from './json-scan.ts';
import { childrenOf, compact, DOCUMENTS, memberOf, readJson, rootOf } from './json-text.ts';
import type { RowsOptions } from './rows.ts';
import type { Viewed } from './view.ts';

/**
 * Rows of JSON, one compact line each: several documents (JSON Lines), the items of an array at the top, otherwise those of the
 * array that has the most. Of objects only `columns`, if given.
 * VIEW_FAILED: it has no array with items.
 */
export function viewJsonRows(text: string, { first, last, columns }: RowsOptions): Viewed {
  const json = readJson(text);
  const root = rootOf(json);
  const isList = root === DOCUMENTS || text[root] === '[';
  let items = isList ? childrenOf(json, root) : [];
  for (const open of json.containers.opens.subarray(0, json.containers.count)) {
    const children = isList || isObject(text, open) ? [] : childrenOf(json, open);
    if (children.length > items.length) items = children;
  }
  if (items.length === 0) {
    throw new ContextdError('VIEW_FAILED', 'the data has no array, so it has no rows', {
      remedy: 'Look at it with the view "json_keys".',
    });
  }
  const show = (item: number): string => {
    if (columns === null || !isObject(text, item)) return compact(json, item);
    const members = columns.flatMap((name) => {
      const value = memberOf(json, item, name);
      return value === null ? [] : [`${JSON.stringify(name)}:${compact(json, value)}`];
    });
    return `{${members.join(',')}}`;
  };
  const shown = items.slice(first - 1, last).map((item) => `${show(item)}\n`);
  return { kind: 'text', text: shown.join(''), facts: { rows: items.length, dialect: 'json' }, cut: 'head' };
}
