import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { cutBefore } from '../cut-points.ts';
import { parseJsonPath, type Segment } from './json-path-syntax.ts';
import { isArray, isWalkable, select } from './json-select.ts';
import { compact, countChildren, DOCUMENTS, factsOf, type JsonText, membersOf, readJson } from './json-text.ts';
import type { Viewed } from './view.ts';

/** What `$..*` of a deep text would print is many times the text: UTF-16 units, as long as a text can be. */
const OUTPUT_MAX_CHARS = 64 * 1024 * 1024;
const KEYS_SHOWN = 12;
const KEY_MAX_CHARS = 60;

/** ARGS_INVALID (pointer /view/json_path) names the position of the first fault of a path. */
export function checkJsonPath(path: string): void {
  parseJsonPath(path);
}

/**
 * What a path matches in a JSON text, one compact value per line, as it is written there: numbers and escapes are
 * never read and printed again. VIEW_FAILED: no JSON, or more than 64 Mi characters.
 */
export function viewJsonPath(text: string, { path }: { path: string }): Viewed {
  const segments = parseJsonPath(path);
  const json = readJson(text);
  const { matches, depth, nearest } = select(json, segments);
  const facts = { matches: matches.length, ...factsOf(json) };
  if (matches.length > 0) return { kind: 'text', text: printAll(json, matches), facts, cut: 'head_tail' };
  return {
    kind: 'text',
    text: '',
    facts: { ...facts, ...describeNearest(json, path, segments, depth, nearest) },
    cut: 'head',
  };
}

function printAll(json: JsonText, matches: readonly number[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const at of matches) {
    const line = compact(json, at);
    length += line.length + 1;
    if (length > OUTPUT_MAX_CHARS && lines.length > 0) throw tooMuch(matches.length);
    lines.push(line);
  }
  return lines.join('\n');
}

function tooMuch(matches: number): ContextdError {
  return new ContextdError(
    'VIEW_FAILED',
    `the ${matches} matches are longer than ${OUTPUT_MAX_CHARS} characters together`,
    {
      remedy: 'Narrow the path: "..*" prints what is inside a value once more for each value around it.',
      details: { matches, max_chars: OUTPUT_MAX_CHARS },
    },
  );
}

/** How far the path went, and how it could go on from there. */
function describeNearest(
  json: JsonText,
  path: string,
  segments: readonly Segment[],
  depth: number,
  nearest: readonly number[],
): JsonObject {
  const reached = segments[depth - 1];
  const at = nearest[0] ?? DOCUMENTS;
  return { nearest: reached ? path.slice(0, reached.end).trim() : '$', ...describeKeys(json, at) };
}

function describeKeys(json: JsonText, at: number): JsonObject {
  if (!isWalkable(json, at)) return { keys: [] };
  if (isArray(json, at)) return { keys: [], items: countChildren(json, at) };
  const keys = [...membersOf(json, at).keys()];
  return {
    keys: keys.slice(0, KEYS_SHOWN).map(shorten),
    ...(keys.length > KEYS_SHOWN ? { keys_in_all: keys.length } : {}),
  };
}

function shorten(key: string): string {
  return key.length > KEY_MAX_CHARS ? `${key.slice(0, cutBefore(key, KEY_MAX_CHARS))}…` : key;
}
