import { isContainer, isObject, scanString } from '../views/json-scan.ts';
import { countChildren, eachChild, type JsonText, rootOf, stringAt, valueEnd } from '../views/json-text.ts';

/** Half-open range of a JSON text in UTF-16 units. Starts at an item, at a member or inside a string. */
export interface Span {
  start: number;
  end: number;
}

/** An item, or a member with its name. */
export interface Child {
  /** Start of a member's name, or of an item's value. */
  start: number;
  value: number;
}

/** The items or members that overlap the span. */
export function childrenIn(json: JsonText, at: number, span: Span): Child[] {
  const found: Child[] = [];
  eachChild(json, at, (value, key) => {
    const start = key < 0 ? value : key;
    if (start >= span.end) return;
    // Of the children that start before the span, only the last can reach into it.
    if (start <= span.start) found.length = 0;
    found.push({ start, value });
  });
  const [first] = found;
  return first !== undefined && valueEnd(json, first.value) <= span.start ? found.slice(1) : found;
}

/** The text without the newlines between its values. Strings contain none: theirs are escaped. */
export function oneLine(json: JsonText, start: number, end: number): string {
  return json.text.slice(start, end).replaceAll('\n', '');
}

/**
 * The values of a JSON text inside `spans`, in their containers, as compact JSON: `{"items":[7,8]}` of
 * `{"items":[5,6,7,8,9],"total":5}`. A partly covered string is cut to the covered part.
 */
export function sliceJson(json: JsonText, spans: readonly Span[]): string {
  const root = rootOf(json);
  return sliceValue(json, root, spans) ?? (isObject(json.text, root) ? '{}' : '[]');
}

function sliceValue(json: JsonText, at: number, spans: readonly Span[]): string | null {
  const { text } = json;
  const end = valueEnd(json, at);
  if (spans.some((span) => span.start <= at && end <= span.end)) return oneLine(json, at, end);
  if (!isContainer(text, at)) return text[at] === '"' ? sliceString(text, at, end, spans) : null;
  const children = new Map(spans.flatMap((span) => childrenIn(json, at, span)).map((child) => [child.start, child]));
  const shown = Array.from(children.values(), ({ start, value }) => {
    const inner = sliceValue(json, value, spans);
    return inner === null ? null : `${text.slice(start, value)}${inner}`;
  }).filter((part) => part !== null);
  if (shown.length === 0) return null;
  return isObject(text, at) ? `{${shown.join(',')}}` : `[${shown.join(',')}]`;
}

function sliceString(text: string, at: number, end: number, spans: readonly Span[]): string | null {
  const inner = spans.map((span) => text.slice(Math.max(span.start, at + 1), Math.min(span.end, end - 1))).join('');
  return inner === '' ? null : `"${inner}"`;
}

/** Start of a span, as named in an answer. */
export interface Place {
  /** A JSON path, such as `$.items[64]`. */
  path: string;
  /** Number of items of the innermost enclosing array; null if there is no enclosing array. */
  total: number | null;
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The place at `start`; null if no item, member or part of a string starts there. */
export function placeOf(json: JsonText, start: number): Place | null {
  const { text } = json;
  let path = '$';
  let total: number | null = null;
  for (let at = rootOf(json); ; ) {
    if (!isContainer(text, at)) return text[at] === '"' && start > at ? { path, total } : null;
    const index = indexAt(json, at, start);
    const [child] = index === null ? [] : childrenIn(json, at, { start, end: start + 1 });
    if (index === null || child === undefined) return null;
    if (isObject(text, at)) path += nameOf(text, child.start);
    else {
      path += `[${index}]`;
      total = countChildren(json, at);
    }
    if (child.start === start) return { path, total };
    if (start <= child.value) return null;
    at = child.value;
  }
}

/** Index of the child of a container that contains `place`; null if no child does. */
function indexAt(json: JsonText, at: number, place: number): number | null {
  let starting = 0;
  eachChild(json, at, (value, key) => {
    if ((key < 0 ? value : key) <= place) starting++;
  });
  return starting === 0 ? null : starting - 1;
}

function nameOf(text: string, quote: number): string {
  const name = stringAt(text, quote);
  return PLAIN_NAME.test(name) ? `.${name}` : `[${text.slice(quote, scanString(text, quote))}]`;
}
