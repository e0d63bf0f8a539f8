import { firstIndex } from '../../text/binary-search.ts';

/** The end of the value, or `~place` of the first fault: always negative, so that no exception is needed. */
export type Scanned = number;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Objects and arrays in the order of their openings, numbered from 0: 12 bytes each and nothing per scalar. */
export class Containers {
  count = 0;
  /** UTF-16 offsets of the opening and closing brackets. */
  opens = new Int32Array(1024);
  closes = new Int32Array(1024);
  /** The number of the first container after this one; while it is open, the one around it (-1: none). */
  nexts = new Int32Array(1024);

  open(at: number, around: number): number {
    if (this.count === this.opens.length) this.#grow();
    this.opens[this.count] = at;
    this.nexts[this.count] = around;
    return this.count++;
  }

  /** Returns the container around the closed one, -1 if not found. */
  close(container: number, at: number): number {
    const around = this.nexts[container] ?? -1;
    this.closes[container] = at;
    this.nexts[container] = this.count;
    return around;
  }

  /** The container that opens at this offset. */
  find(at: number): number {
    return firstIndex(0, this.count - 1, (container) => (this.opens[container] ?? 0) >= at);
  }

  #grow(): void {
    const grown = (old: Int32Array<ArrayBuffer>) => {
      const bigger = new Int32Array(old.length * 2);
      bigger.set(old);
      return bigger;
    };
    this.opens = grown(this.opens);
    this.closes = grown(this.closes);
    this.nexts = grown(this.nexts);
  }
}

export function isContainer(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === OPEN_OBJECT || code === OPEN_ARRAY;
}

export function isObject(text: string, at: number): boolean {
  return text.charCodeAt(at) === OPEN_OBJECT;
}

/** Returns the first offset from `at` on that is not JSON white space. */
export function skipBlanks(text: string, at: number): number {
  let next = at;
  for (let code = text.charCodeAt(next); code === 0x20 || (code <= 0x0d && isBlank(code)); ) {
    code = text.charCodeAt(++next);
  }
  return next;
}

function isBlank(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x09;
}

/** Reads one JSON value whose first character stands at `from` and notes its containers. No recursion. */
export function scanValue(text: string, from: number, containers: Containers): Scanned {
  let at = from;
  let inside = -1;
  for (;;) {
    if (isContainer(text, at)) {
      inside = containers.open(at, inside);
      const first = skipBlanks(text, at + 1);
      if (text.charCodeAt(first) !== closingOf(text.charCodeAt(at))) {
        at = scanToValue(text, first, isObject(text, at));
        if (at < 0) return at;
        continue;
      }
      inside = containers.close(inside, first);
      at = first + 1;
    } else {
      at = scanScalar(text, at);
      if (at < 0) return at;
    }
    // A value has ended at `at`: so do all containers that close here.
    for (let next = at; inside >= 0; next = at) {
      next = skipBlanks(text, next);
      const opened = text.charCodeAt(containers.opens[inside] ?? 0);
      if (text.charCodeAt(next) === COMMA) {
        at = scanToValue(text, skipBlanks(text, next + 1), opened === OPEN_OBJECT);
        if (at < 0) return at;
        break;
      }
      if (text.charCodeAt(next) !== closingOf(opened)) return ~next;
      inside = containers.close(inside, next);
      at = next + 1;
    }
    if (inside < 0) return at;
  }
}

function closingOf(opening: number): number {
  return opening === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
}

/** From the start of an item or member to the start of its value. */
function scanToValue(text: string, at: number, isMember: boolean): Scanned {
  if (!isMember) return at;
  if (text.charCodeAt(at) !== QUOTE) return ~at;
  const end = scanString(text, at);
  if (end < 0) return end;
  const colon = skipBlanks(text, end);
  return text.charCodeAt(colon) === COLON ? skipBlanks(text, colon + 1) : ~colon;
}

/** The end of the string, number or word that starts at `at`. */
export function scanScalar(text: string, at: number): Scanned {
  const code = text.charCodeAt(at);
  if (code === QUOTE) return scanString(text, at);
  if (code === 0x2d || isDigit(code)) return scanNumber(text, at);
  for (const word of ['true', 'false', 'null']) {
    if (code === word.charCodeAt(0) && text.startsWith(word, at)) return at + word.length;
  }
  return ~at;
}

/** The end of the string whose opening quote stands at `at`. */
export function scanString(text: string, at: number): Scanned {
  for (let next = at + 1; ; next++) {
    const code = text.charCodeAt(next);
    if (code === QUOTE) return next + 1;
    if (code === BACKSLASH) {
      const length = escapeLength(text, next);
      if (length === 0) return ~next;
      next += length - 1;
    } else if (!(code >= 0x20)) {
      // NaN too: the end of the text.
      return ~next;
    }
  }
}

/** Returns the UTF-16 units of the escape at `at`; 0 if JSON has no such escape. */
function escapeLength(text: string, at: number): number {
  const code = text.charCodeAt(at + 1);
  if (code !== 0x75) return '"\\/bfnrt'.includes(String.fromCharCode(code)) ? 2 : 0;
  for (let i = 2; i < 6; i++) {
    const digit = text.charCodeAt(at + i) | 0x20;
    if (!isDigit(text.charCodeAt(at + i)) && !(digit >= 0x61 && digit <= 0x66)) return 0;
  }
  return 6;
}

function scanNumber(text: string, from: number): Scanned {
  let at = text.charCodeAt(from) === 0x2d ? from + 1 : from;
  if (text.charCodeAt(at) === 0x30) at++;
  else at = scanDigits(text, at);
  if (at >= 0 && text.charCodeAt(at) === 0x2e) at = scanDigits(text, at + 1);
  if (at >= 0 && (text.charCodeAt(at) | 0x20) === 0x65) {
    const sign = text.charCodeAt(at + 1);
    at = scanDigits(text, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
  }
  return at;
}

/** One digit at least. */
function scanDigits(text: string, at: number): Scanned {
  let next = at;
  while (isDigit(text.charCodeAt(next))) next++;
  return next === at ? ~at : next;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
