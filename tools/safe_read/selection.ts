import { invalid, readOptionalInteger, readOptionalString } from '../../src/sdk/input.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/sdk/tool.ts';

/** The requested part of a file, in the caller's numbers: lines from 1, bytes from 0, both ends included. */
export type Selection =
  | { kind: 'all' }
  | { kind: 'lines'; first: number; last: number }
  | { kind: 'bytes'; first: number; last: number }
  | { kind: 'tail'; count: number }
  | { kind: 'grep'; pattern: string; before: number; after: number };

const NAMES = ['lines', 'bytes', 'head', 'tail', 'grep'] as const;
const RANGE = /^(\d{1,15})(-(\d{0,15}))?$/;

/** Reads at most one of lines, bytes, head, tail and grep. Throws ARGS_INVALID for more. */
export function readSelection(input: JsonObject): Selection {
  const given = NAMES.filter((name) => input[name] !== undefined);
  const name = given[0];
  const second = given[1];
  if (second !== undefined) throw invalid(second, `cannot go with ${name}`, `Pass one of ${NAMES.join(', ')}.`);
  if (name === undefined) return { kind: 'all' };
  switch (name) {
    case 'lines':
    case 'bytes':
      return { kind: name, ...readRange(input, name) };
    case 'head':
      return { kind: 'lines', first: 1, last: readCount(input, 'head') };
    case 'tail':
      return { kind: 'tail', count: readCount(input, 'tail') };
    case 'grep': {
      const context = readOptionalInteger(input, 'context') ?? 0;
      const [before, after] = ['before', 'after'].map((side) => readOptionalInteger(input, side) ?? context);
      const pattern = readOptionalString(input, 'grep') ?? '';
      return { kind: 'grep', pattern, before: before ?? context, after: after ?? context };
    }
  }
}

/** Views that select a part of a text. The daemon can only select in the part of a file that it keeps. */
const SELECTING_VIEWS = ['lines', 'bytes', 'grep'] as const;

/**
 * The part that a view asks for, if the view selects a part of the one text of a file; null otherwise. Views have the same
 * form as the arguments, and may have numbers for ranges.
 */
export function selectionOfView(view: Json | null): Selection | null {
  if (!isJsonObject(view) || !SELECTING_VIEWS.some((name) => view[name] !== undefined)) return null;
  if (view.stream !== undefined && view.stream !== null && !/^content/.test(String(view.stream))) return null;
  const texts = Object.entries(view).map(([name, value]) => [
    name,
    (name === 'lines' || name === 'bytes') && typeof value === 'number' ? String(value) : value,
  ]);
  return readSelection(Object.fromEntries(texts));
}

function readRange(input: JsonObject, name: 'lines' | 'bytes'): { first: number; last: number } {
  const [, first, dash, last] = RANGE.exec(readOptionalString(input, name) ?? '') ?? [];
  if (first === undefined) throw invalid(name, 'is not a range', 'Pass "10-20", "10-" or "10".');
  const range = { first: Number(first), last: lastOf(Number(first), dash, last) };
  if (name === 'lines' && range.first === 0) throw invalid(name, 'begins at 0', 'Lines are counted from 1.');
  if (range.last < range.first) throw invalid(name, `ends before it begins`, 'Pass the smaller number first.');
  return range;
}

function lastOf(first: number, dash: string | undefined, last: string | undefined): number {
  if (dash === undefined) return first;
  return last === '' || last === undefined ? Number.POSITIVE_INFINITY : Number(last);
}

function readCount(input: JsonObject, name: 'head' | 'tail'): number {
  const count = readOptionalInteger(input, name) ?? 0;
  if (count < 1) throw invalid(name, 'must be 1 or more');
  return count;
}
