import type { Edited } from '../../text/edited-text.ts';
import { Edit } from '../../text/edited-text.ts';

/** Deeper values are left as they are. */
const MAX_DEPTH = 1000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = ['true', 'false', 'null'] as const;

const [TAB, LF, CR, SPACE, QUOTE, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x5c];
const [COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];

/** What may come next. */
type Wanted = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'more or end';

/**
 * Drops the white space between the parts of JSON: one value, or several of them, each on its own lines. Every value
 * must be an object or a list; the line end between two stays. Null: the text is not JSON, or nothing was dropped.
 */
export function compactJson(source: string): Edited | null {
  const first = skipSpace(source, 0);
  if (!isOpening(source.charCodeAt(first))) return null;
  const edit = new Edit(source);
  if (first > 0) edit.drop(0, first);
  const scanner = new JsonScanner(source, edit);
  let at = first;
  while (at < source.length) {
    const end = scanner.value(at);
    if (end < 0) return null;
    at = skipSpace(source, end);
    if (at < source.length && !isOpening(source.charCodeAt(at))) return null;
    if (!keepLineEnd(source, end, at, edit) && at < source.length) return null;
  }
  return edit.finish();
}

/**
 * Drops the white space [from, to) between two values except its last line end. Returns false if it has no line end.
 */
function keepLineEnd(source: string, from: number, to: number, edit: Edit): boolean {
  let end = to;
  while (end > from && source.charCodeAt(end - 1) !== LF) end--;
  let start = end > from ? end - 1 : from;
  if (start > from && source.charCodeAt(start - 1) === CR) start--;
  if (start > from) edit.drop(from, start);
  if (to > end) edit.drop(end, to);
  return end > from;
}

/** Walks one value after another with a stack of open lists and objects, reading each character once. */
class JsonScanner {
  readonly #source: string;
  readonly #edit: Edit;
  readonly #isObject = new Uint8Array(MAX_DEPTH);
  #depth = 0;
  #wanted: Wanted = 'value';

  constructor(source: string, edit: Edit) {
    this.#source = source;
    this.#edit = edit;
  }

  /** Returns the end of the list or object at `at`; -1 if it is not valid. */
  value(at: number): number {
    this.#wanted = 'value';
    let next = at;
    do {
      const begin = skipSpace(this.#source, next);
      if (begin > next) this.#edit.drop(next, begin);
      next = this.#part(begin);
    } while (next >= 0 && this.#depth > 0);
    return next;
  }

  /** Returns the end of the bracket, sign, string, number or word at `at`; -1 if it is not allowed here. */
  #part(at: number): number {
    const code = this.#source.charCodeAt(at);
    switch (this.#wanted) {
      case 'colon':
        return this.#sign(code === COLON, 'value', at);
      case 'more or end':
        if (code === COMMA) return this.#sign(true, this.#isIn() ? 'key' : 'value', at);
        return this.#close(code, at);
      case 'key or end':
        return code === CLOSE_OBJECT ? this.#close(code, at) : this.#key(code, at);
      case 'key':
        return this.#key(code, at);
      case 'value or end':
        return code === CLOSE_LIST ? this.#close(code, at) : this.#anyValue(code, at);
      case 'value':
        return this.#anyValue(code, at);
    }
  }

  #sign(isWanted: boolean, wanted: Wanted, at: number): number {
    this.#wanted = wanted;
    return isWanted ? at + 1 : -1;
  }

  #key(code: number, at: number): number {
    this.#wanted = 'colon';
    return code === QUOTE ? stringEnd(this.#source, at + 1) : -1;
  }

  #anyValue(code: number, at: number): number {
    if (isOpening(code)) return this.#open(code === OPEN_OBJECT, at);
    this.#wanted = 'more or end';
    return code === QUOTE ? stringEnd(this.#source, at + 1) : plainEnd(this.#source, at);
  }

  #open(isObject: boolean, at: number): number {
    if (this.#depth === MAX_DEPTH) return -1;
    this.#isObject[this.#depth++] = isObject ? 1 : 0;
    this.#wanted = isObject ? 'key or end' : 'value or end';
    return at + 1;
  }

  #close(code: number, at: number): number {
    if (code !== (this.#isIn() ? CLOSE_OBJECT : CLOSE_LIST)) return -1;
    this.#depth--;
    this.#wanted = 'more or end';
    return at + 1;
  }

  /** Whether the innermost open one is an object. */
  #isIn(): boolean {
    return this.#isObject[this.#depth - 1] === 1;
  }
}

/** The end of a string whose text begins at `from`; -1: it has none, or holds what must be escaped. */
function stringEnd(source: string, from: number): number {
  let at = from;
  for (let code = source.charCodeAt(at); code !== QUOTE; code = source.charCodeAt(at)) {
    if (code < SPACE || Number.isNaN(code)) return -1;
    at = code === BACKSLASH ? escapeEnd(source, at + 1) : at + 1;
    if (at < 0) return -1;
  }
  return at + 1;
}

function escapeEnd(source: string, at: number): number {
  if ('"\\/bfnrt'.includes(source[at] ?? ' ')) return at + 1;
  return /^u[\da-fA-F]{4}$/.test(source.slice(at, at + 5)) ? at + 5 : -1;
}

/** The end of a number, true, false or null. */
function plainEnd(source: string, at: number): number {
  for (const word of WORDS) if (source.startsWith(word, at)) return at + word.length;
  NUMBER.lastIndex = at;
  return NUMBER.test(source) ? NUMBER.lastIndex : -1;
}

function skipSpace(source: string, from: number): number {
  let at = from;
  for (let code = source.charCodeAt(at); isSpace(code); code = source.charCodeAt(at)) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LF || code === CR || code === TAB;
}

function isOpening(code: number): boolean {
  return code === OPEN_OBJECT || code === OPEN_LIST;
}
