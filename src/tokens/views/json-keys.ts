import type { JsonObject } from '../../core/json.ts';
import { inThousands } from '../../core/thousands.ts';
import { isArray, isWalkable, select, viewJsonPath } from './json-path.ts';
import { parseJsonPath } from './json-path-syntax.ts';
import { isContainer, isObject } from './json-scan.ts';
import {
  childrenOf,
  compact,
  countChildren,
  DOCUMENTS,
  factsOf,
  type JsonText,
  memberOf,
  membersOf,
  readJson,
  stringAt,
  valueEnd,
} from './json-text.ts';
import type { Viewed } from './view.ts';

/** An object with more keys is a dictionary: the shape of its values and then its names, without a line for each. */
const LINES_MAX = 200;
/** UTF-16 units of a value that is shown instead of described, and of a line of names. */
const SHOWN_MAX_CHARS = 40;
const NAMES_LINE_CHARS = 120;
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/**
 * Describes the value at `path`, for choosing the next path: a line per key of an object, the shape of the items of an
 * array. With `keys`: the objects there with these keys alone, one per line; `facts.missing` names keys that no object
 * has. VIEW_FAILED: the text is not JSON.
 */
export function viewJsonKeys(text: string, { path, keys }: { path: string; keys: readonly string[] | null }): Viewed {
  const json = readJson(text);
  const { matches } = select(json, parseJsonPath(path));
  const [first] = matches;
  if (first === undefined) return viewJsonPath(text, { path });
  const facts = { matches: matches.length, ...factsOf(json) };
  if (keys !== null) return project(json, matches.length > 1 ? matches : itemsOf(json, first), keys, facts);
  const lines = matches.length > 1 ? describeItems(json, matches, 'matches') : describe(json, first);
  return { kind: 'text', text: lines.join('\n'), facts, cut: 'head' };
}

/** An array of objects is treated as the objects. */
function itemsOf(json: JsonText, at: number): readonly number[] {
  return isWalkable(json, at) && isArray(json, at) ? childrenOf(json, at) : [at];
}

function project(json: JsonText, values: readonly number[], keys: readonly string[], facts: JsonObject): Viewed {
  const missing = new Set(keys);
  const lines: string[] = [];
  for (const at of values) {
    if (!isObject(json.text, at)) continue;
    const members = keys.flatMap((key) => {
      const value = memberOf(json, at, key);
      if (value === null) return [];
      missing.delete(key);
      return [`${JSON.stringify(key)}:${compact(json, value)}`];
    });
    lines.push(`{${members.join(',')}}`);
  }
  return {
    kind: 'text',
    text: lines.join('\n'),
    facts: { ...facts, objects: lines.length, ...(missing.size > 0 ? { missing: [...missing] } : {}) },
    cut: 'head_tail',
  };
}

function describe(json: JsonText, at: number): string[] {
  if (!isWalkable(json, at)) return [describeValue(json, at)];
  if (isArray(json, at)) return describeItems(json, childrenOf(json, at), at === DOCUMENTS ? 'documents' : 'array');
  const members = membersOf(json, at);
  if (members.size > LINES_MAX) {
    const names = [...members.keys()].map(nameOf);
    return [...describeItems(json, [...members.values()], 'object, values'), 'keys:', ...inLines(names)];
  }
  if (members.size === 0) return ['object (0 keys)'];
  return [...members].map(([name, value]) => `${nameOf(name)}: ${describeValue(json, value)}`);
}

/** How many there are, of which kinds, and which keys the objects among them have, with counts. */
function describeItems(json: JsonText, items: readonly number[], title: string): string[] {
  const kinds = new Map<string, number>();
  const shapes = new Map<string, Map<string, number>>();
  for (const item of items) {
    count(kinds, kindOf(json.text, item));
    if (!isObject(json.text, item)) continue;
    for (const [name, value] of membersOf(json, item)) {
      const shape = shapes.get(name) ?? new Map<string, number>();
      shapes.set(name, shape);
      count(shape, kindOf(json.text, value));
    }
  }
  const lines = [`${title} (${inThousands(items.length)})${items.length > 0 ? `: ${tally(kinds)}` : ''}`];
  if (shapes.size > LINES_MAX) return [...lines, 'keys of the objects:', ...inLines([...shapes.keys()].map(nameOf))];
  for (const [name, shape] of shapes) lines.push(`${nameOf(name)}: ${tally(shape)}`);
  return lines;
}

function count(counts: Map<string, number>, kind: string): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

function tally(kinds: ReadonlyMap<string, number>): string {
  return [...kinds].map(([kind, times]) => `${inThousands(times)} ${kind}`).join(', ');
}

function describeValue(json: JsonText, at: number): string {
  const { text } = json;
  if (isContainer(text, at)) {
    const children = isObject(text, at) ? membersOf(json, at).size : countChildren(json, at);
    if (!isObject(text, at)) return `array (${inThousands(children)})`;
    return `object (${inThousands(children)} ${children === 1 ? 'key' : 'keys'})`;
  }
  const end = valueEnd(json, at);
  if (end - at <= SHOWN_MAX_CHARS) return text.slice(at, end);
  const kind = kindOf(text, at);
  return `${kind} (${inThousands(kind === 'string' ? characters(stringAt(text, at)) : end - at)} chars)`;
}

function kindOf(text: string, at: number): string {
  switch (text[at]) {
    case '{':
      return 'object';
    case '[':
      return 'array';
    case '"':
      return 'string';
    case 't':
    case 'f':
      return 'boolean';
    case 'n':
      return 'null';
    default:
      return 'number';
  }
}

/** Code points. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function nameOf(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

/** Short lines, so that a cut at a line end loses little. */
function inLines(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = '';
  for (const name of names) {
    const longer = line === '' ? name : `${line}, ${name}`;
    if (longer.length > NAMES_LINE_CHARS && line !== '') {
      lines.push(`${line},`);
      line = name;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}
