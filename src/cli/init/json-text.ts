import { ContextdError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';

/** A value with its place in the text: `text.slice(start, end)` is the value. */
export type Node =
  | { kind: 'scalar'; start: number; end: number }
  | { kind: 'array'; start: number; end: number; items: readonly Node[] }
  | { kind: 'object'; start: number; end: number; members: readonly Member[] };

/** `start` is that of the key. */
export interface Member {
  key: string;
  start: number;
  value: Node;
}

const DEPTH_MAX = 200;
const SCALAR = /"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+/y;

/** Where every value of a JSON text stands. Throws SyntaxError unless the text is JSON, without comments. */
export function locate(text: string): Node {
  JSON.parse(text);
  const cursor = { at: 0 };
  skipSpace(text, cursor);
  return readValue(text, cursor, 0);
}

/** The value of a node. */
export function valueAtNode(text: string, node: Node): Json {
  return JSON.parse(text.slice(node.start, node.end));
}

/** The member of that name; the last one, as JSON.parse has it. */
export function member(node: Node, key: string): Member | undefined {
  return node.kind === 'object' ? node.members.findLast((candidate) => candidate.key === key) : undefined;
}

interface Cursor {
  at: number;
}

function readValue(text: string, cursor: Cursor, depth: number): Node {
  if (depth > DEPTH_MAX) throw new ContextdError('SCHEMA_INVALID', `values are nested deeper than ${DEPTH_MAX}`);
  if (text[cursor.at] === '{') return readObject(text, cursor, depth);
  if (text[cursor.at] === '[') return readArray(text, cursor, depth);
  const start = cursor.at;
  readScalar(text, cursor);
  return { kind: 'scalar', start, end: cursor.at };
}

function readObject(text: string, cursor: Cursor, depth: number): Node {
  const start = cursor.at;
  const members: Member[] = [];
  for (enter(text, cursor); text[cursor.at] !== '}'; passComma(text, cursor)) {
    const keyStart = cursor.at;
    const key: unknown = JSON.parse(readScalar(text, cursor));
    skipSpace(text, cursor);
    enter(text, cursor);
    members.push({ key: String(key), start: keyStart, value: readValue(text, cursor, depth + 1) });
  }
  cursor.at++;
  return { kind: 'object', start, end: cursor.at, members };
}

function readArray(text: string, cursor: Cursor, depth: number): Node {
  const start = cursor.at;
  const items: Node[] = [];
  for (enter(text, cursor); text[cursor.at] !== ']'; passComma(text, cursor))
    items.push(readValue(text, cursor, depth + 1));
  cursor.at++;
  return { kind: 'array', start, end: cursor.at, items };
}

/** Past one character of punctuation and the space behind it. */
function enter(text: string, cursor: Cursor): void {
  cursor.at++;
  skipSpace(text, cursor);
}

function passComma(text: string, cursor: Cursor): void {
  skipSpace(text, cursor);
  if (text[cursor.at] === ',') enter(text, cursor);
}

function readScalar(text: string, cursor: Cursor): string {
  SCALAR.lastIndex = cursor.at;
  const found = SCALAR.exec(text)?.[0] ?? '';
  cursor.at += Math.max(found.length, 1);
  return found;
}

function skipSpace(text: string, cursor: Cursor): void {
  while (cursor.at < text.length && ' \t\r\n'.includes(text.charAt(cursor.at))) cursor.at++;
}
