import type { JsonObject } from '../../core/json.ts';
import { eachChild, readJson } from '../views/json-text.ts';

/** Maximum UTF-16 units of an object or array on a single line. */
const LINE_MAX_CHARS = 160;

/**
 * The stored text of an answer's `data`: JSON as from `JSON.stringify`, with a newline before each item and member of a
 * long array or object, so that views can address them by line.
 */
export function dataText(data: JsonObject): string {
  const compact = JSON.stringify(data);
  const json = readJson(compact);
  const { count, opens, closes } = json.containers;
  const breaks: number[] = [];
  for (let i = 0; i < count; i++) {
    const [open = 0, close = 0] = [opens[i], closes[i]];
    if (close - open < LINE_MAX_CHARS) continue;
    eachChild(json, open, (value, key) => breaks.push(key < 0 ? value : key));
    breaks.push(close);
  }
  const lines: string[] = [];
  let start = 0;
  for (const end of Uint32Array.from(breaks).sort()) {
    lines.push(compact.slice(start, end));
    start = end;
  }
  return [...lines, compact.slice(start)].join('\n');
}
