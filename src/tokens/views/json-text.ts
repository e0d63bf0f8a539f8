import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { Containers, isContainer, isObject, scanScalar, scanString, scanValue, skipBlanks } from './json-scan.ts';

/** The list of several documents in one text. Every other value is identified by its UTF-16 offset. */
export const DOCUMENTS = -1;

/** JSON read in place: values are offsets into the text, so numbers and escapes stay as they are written. */
export interface JsonText {
  text: string;
  /** Offsets of the values at the top: one, or those of JSON Lines. */
  documents: readonly number[];
  /** Lines before, between and after the documents that are not JSON. */
  skippedLines: number;
  containers: Containers;
}

/**
 * Reads a text that is one JSON value, or several on lines of their own. Lines that are not JSON (the banner of npm)
 * are skipped if objects or arrays are on lines of their own. VIEW_FAILED names the first fault.
 */
export function readJson(text: string): JsonText {
  const clean = readDocuments(text);
  return typeof clean === 'number' ? readAmongLines(text, clean) : clean;
}

export function rootOf(json: JsonText): number {
  return json.documents.length === 1 ? (json.documents[0] ?? DOCUMENTS) : DOCUMENTS;
}

/** What a view says of a text that is more or less than one JSON value. */
export function factsOf(json: JsonText): JsonObject {
  return {
    ...(json.documents.length > 1 ? { documents: json.documents.length } : {}),
    ...(json.skippedLines > 0 ? { skipped_lines: json.skippedLines } : {}),
  };
}

/** Nothing but documents, with a line end between two of them; else the place of the first fault. */
function readDocuments(text: string): JsonText | number {
  const containers = new Containers();
  const documents: number[] = [];
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (let at = skipBlanks(text, start), end = start; at < text.length || documents.length === 0; ) {
    if (documents.length > 0 && !text.slice(end, at).includes('\n')) return at;
    end = scanValue(text, at, containers);
    if (end < 0) return ~end;
    documents.push(at);
    at = skipBlanks(text, end);
  }
  return { text, documents, skippedLines: 0, containers };
}

/**
 * Reads objects and arrays that begin and end with a line, between lines that are not JSON. A value that breaks off
 * after its first line is a broken document, not a stray line: it is reported.
 */
function readAmongLines(text: string, firstFault: number): JsonText {
  const json = { text, documents: [] as number[], skippedLines: 0, containers: new Containers() };
  let fault = firstFault;
  let furthest = 0;
  for (let at = 0; at < text.length; at = lineEnd(text, at) + 1) {
    const end = isContainer(text, at) ? scanValue(text, at, json.containers) : ~at;
    const stop = end < 0 ? ~end : Math.min(skipBlanks(text, end), lineEnd(text, end));
    if (end >= 0 && stop === lineEnd(text, end)) {
      json.documents.push(at);
      at = end;
      continue;
    }
    if (stop > lineEnd(text, at)) throw notJson(text, stop);
    if (stop - at > furthest) {
      furthest = stop - at;
      fault = stop;
    }
    if (text.slice(at, lineEnd(text, at)).trim() !== '') json.skippedLines++;
  }
  if (json.documents.length === 0) throw notJson(text, fault);
  return json;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function notJson(text: string, at: number): ContextdError {
  const line = text.slice(0, at).split('\n').length;
  const column = at - (text.lastIndexOf('\n', at - 1) + 1) + 1;
  const place = at >= text.length ? 'it ends too early' : `the first fault is in line ${line}, column ${column}`;
  return new ContextdError('VIEW_FAILED', `the output is not JSON: ${text.trim() === '' ? 'it is empty' : place}`, {
    remedy: 'Look at it with the view "head", or search it with {"grep":"…"}.',
    details: { line, column, offset: at },
  });
}

/** The end of the value at this offset, which has been read before. */
export function valueEnd(json: JsonText, at: number): number {
  if (!isContainer(json.text, at)) return scanScalar(json.text, at);
  return (json.containers.closes[json.containers.find(at)] ?? 0) + 1;
}

/**
 * Visits the items or members of a container, in the text's order, duplicates too: the offset of the value and of the
 * opening quote of its key (-1 in an array). Costs its own keys and scalars, not what its containers hold.
 */
export function eachChild(json: JsonText, at: number, visit: (value: number, key: number) => void): void {
  if (at === DOCUMENTS) {
    for (const document of json.documents) visit(document, -1);
    return;
  }
  const { text, containers } = json;
  const number = containers.find(at);
  const end = containers.closes[number] ?? 0;
  const ofMembers = isObject(text, at);
  let inner = number + 1;
  for (let next = skipBlanks(text, at + 1); next < end; next = skipBlanks(text, next + 1)) {
    const key = ofMembers ? next : -1;
    if (ofMembers) next = skipBlanks(text, skipBlanks(text, scanString(text, next)) + 1);
    visit(next, key);
    if (isContainer(text, next)) {
      next = (containers.closes[inner] ?? 0) + 1;
      inner = containers.nexts[inner] ?? 0;
    } else {
      next = scanScalar(text, next);
    }
    next = skipBlanks(text, next);
  }
}

export function childrenOf(json: JsonText, at: number): number[] {
  const children: number[] = [];
  eachChild(json, at, (value) => children.push(value));
  return children;
}

export function countChildren(json: JsonText, at: number): number {
  let count = 0;
  eachChild(json, at, () => count++);
  return count;
}

/** The members of an object by their names. Of several with one name the last counts, as with JSON.parse. */
export function membersOf(json: JsonText, at: number): Map<string, number> {
  const members = new Map<string, number>();
  eachChild(json, at, (value, key) => members.set(stringAt(json.text, key), value));
  return members;
}

/** The last member of this name, null if not found. */
export function memberOf(json: JsonText, at: number, name: string): number | null {
  let found: number | null = null;
  eachChild(json, at, (value, key) => {
    if (isString(json.text, key, name)) found = value;
  });
  return found;
}

/** What the string at this offset says. */
export function stringAt(text: string, quote: number): string {
  const end = scanString(text, quote);
  const raw = text.slice(quote + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  const said: string = JSON.parse(text.slice(quote, end));
  return said;
}

function isString(text: string, quote: number, value: string): boolean {
  const first = text.charCodeAt(quote + 1);
  // A different first character that is not an escape decides it for most keys.
  if (first !== value.charCodeAt(0) && first !== 0x5c && value !== '') return false;
  return stringAt(text, quote) === value;
}

/** The value as it is written, without the white space between its parts. */
export function compact(json: JsonText, at: number): string {
  if (at === DOCUMENTS) return `[${json.documents.map((document) => compact(json, document)).join(',')}]`;
  const { text } = json;
  const end = valueEnd(json, at);
  const parts: string[] = [];
  let start = at;
  for (let next = at; next < end; ) {
    const code = text.charCodeAt(next);
    if (code === 0x22) next = scanString(text, next);
    else if (code > 0x20) next++;
    else {
      parts.push(text.slice(start, next));
      start = next = skipBlanks(text, next);
    }
  }
  parts.push(text.slice(start, end));
  return parts.join('');
}
