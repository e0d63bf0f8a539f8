import { ContextdError } from '../../core/errors.ts';
import { viewJsonRows } from './json-rows.ts';
import { readJson } from './json-text.ts';
import { type RowsOptions, viewRows } from './rows.ts';
import type { Viewed } from './view.ts';

/** How JSON begins that is more than a scalar: no table begins like this. */
const BEGINS_LIKE_JSON = /^\ufeff?\s*(?:\{\s*["}]|\[\s*[[{"\]])/;

/**
 * Rows of a text: of JSON, compact or indented, or of a table. JSON has commas and quotes like CSV, so it is never read as a table,
 * also if it breaks off.
 */
export function viewTextRows(text: string, options: RowsOptions): Viewed {
  return BEGINS_LIKE_JSON.test(text) || isJsonArray(text) ? viewJsonRows(text, options) : viewRows(text, options);
}

function isJsonArray(text: string): boolean {
  if (!/^\ufeff?\s*\[/.test(text)) return false;
  try {
    return readJson(text).skippedLines === 0;
  } catch (thrown) {
    if (thrown instanceof ContextdError) return false;
    throw thrown;
  }
}
