import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { cutBefore } from '../cut-points.ts';
import { indexOfToken, parseJsonPath, type Segment, type Selector } from './json-path-syntax.ts';
import { isContainer, isObject } from './json-scan.ts';
import {
  childrenOf,
  compact,
  countChildren,
  DOCUMENTS,
  eachChild,
  factsOf,
  type JsonText,
  memberOf,
  membersOf,
  readJson,
  rootOf,
} from './json-text.ts';
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
 * Shows what a path matches in a JSON text, one compact value per line, as it is written there: numbers and escapes are
 * never re-encoded. VIEW_FAILED: not JSON, or more than 64 Mi characters.
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

interface Selected {
  /** Offsets of the matches in the order of RFC 9535; a value that a path reaches twice stands here once. */
  matches: readonly number[];
  /** How many segments of the path matched something, and what they matched. */
  depth: number;
  nearest: readonly number[];
}

/** Walks a path over a JSON text: each segment costs at most the characters of the text. */
export function select(json: JsonText, segments: readonly Segment[]): Selected {
  let matches: readonly number[] = [rootOf(json)];
  for (const [depth, segment] of segments.entries()) {
    const next = segment.descends ? descend(json, matches, segment.selectors) : step(json, matches, segment.selectors);
    if (next.length === 0) return { matches: next, depth, nearest: matches };
    matches = next;
  }
  return { matches, depth: segments.length, nearest: matches };
}

function step(json: JsonText, from: readonly number[], selectors: readonly Selector[]): number[] {
  const found: number[] = [];
  for (const at of from) pick(json, at, selectors, found);
  return found;
}

/** In each value and all that is in it. What one match holds is not walked again for a match inside it. */
function descend(json: JsonText, from: readonly number[], selectors: readonly Selector[]): number[] {
  const found: number[] = [];
  const walked = new Uint8Array(json.containers.count);
  for (const start of from) {
    const waiting = [start];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (!isWalkable(json, at)) continue;
      if (at !== DOCUMENTS) {
        const container = json.containers.find(at);
        if (walked[container] === 1) continue;
        walked[container] = 1;
      }
      pick(json, at, selectors, found);
      for (const inner of containersIn(json, at).reverse()) waiting.push(inner);
    }
  }
  return found;
}

function containersIn(json: JsonText, at: number): number[] {
  const inner: number[] = [];
  const note = (value: number) => {
    if (isContainer(json.text, value)) inner.push(value);
  };
  if (isArray(json, at)) eachChild(json, at, note);
  else for (const value of membersOf(json, at).values()) note(value);
  return inner;
}

export function isWalkable(json: JsonText, at: number): boolean {
  return at === DOCUMENTS || isContainer(json.text, at);
}

export function isArray(json: JsonText, at: number): boolean {
  return at === DOCUMENTS || !isObject(json.text, at);
}

function valuesOf(json: JsonText, at: number): number[] {
  return isArray(json, at) ? childrenOf(json, at) : [...membersOf(json, at).values()];
}

function pick(json: JsonText, at: number, selectors: readonly Selector[], found: number[]): void {
  if (!isWalkable(json, at)) return;
  if (selectors.some(({ kind }) => kind === 'all')) {
    for (const value of valuesOf(json, at)) found.push(value);
  } else if (isArray(json, at)) {
    const ofItems = selectors.filter(({ kind }) => kind !== 'name');
    if (ofItems.length > 0) pickItems(childrenOf(json, at), ofItems, found);
  } else {
    pickMembers(json, at, selectors, found);
  }
}

function pickMembers(json: JsonText, at: number, selectors: readonly Selector[], found: number[]): void {
  const names = new Set(selectors.flatMap((selector) => ('name' in selector ? [selector.name] : [])));
  // A map of all members is worth it only when several are asked for.
  const members = names.size > 1 ? membersOf(json, at) : null;
  for (const name of names) {
    const value = members ? members.get(name) : memberOf(json, at, name);
    if (value !== undefined && value !== null) found.push(value);
  }
}

function pickItems(items: readonly number[], selectors: readonly Selector[], found: number[]): void {
  const taken = new Uint8Array(selectors.length > 1 ? items.length : 0);
  for (const selector of selectors) {
    const { first, last, by } = indexesOf(selector, items.length);
    for (let i = first; by > 0 ? i < last : i > last; i += by) {
      const item = items[i];
      if (item === undefined || taken[i] === 1) continue;
      taken[i] = 1;
      found.push(item);
    }
  }
}

/** From `first` on in steps of `by`, `last` not included. */
function indexesOf(selector: Selector, length: number): { first: number; last: number; by: number } {
  const none = { first: 0, last: 0, by: 1 };
  if (selector.kind === 'slice') return sliceOf(selector, length);
  const index =
    selector.kind === 'index' ? selector.index : selector.kind === 'token' ? indexOfToken(selector.name) : null;
  if (index === null) return none;
  const first = index < 0 ? length + index : index;
  return first < 0 ? none : { first, last: first + 1, by: 1 };
}

/** RFC 9535 §2.3.4.2. */
function sliceOf({ start, end, step }: Selector & { kind: 'slice' }, length: number) {
  if (step === 0) return { first: 0, last: 0, by: 1 };
  const from = (index: number) => (index < 0 ? length + index : index);
  const within = (index: number, least: number, most: number) => Math.min(Math.max(index, least), most);
  return step > 0
    ? { first: within(from(start ?? 0), 0, length), last: within(from(end ?? length), 0, length), by: step }
    : {
        first: within(from(start ?? length - 1), -1, length - 1),
        last: end === null ? -1 : within(from(end), -1, length - 1),
        by: step,
      };
}
