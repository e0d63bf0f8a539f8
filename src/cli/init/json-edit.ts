import { isDeepStrictEqual } from 'node:util';
import { createScanner, type Node, stripComments } from 'jsonc-parser';
import { ContextdError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { NO_VALUE, parse } from './json-tree.ts';

// Edits of a user's JSON file. Comments, trailing commas and formatting stay as they are.

/** A value in the array at `path`, which is a list of object keys, or with `key` that member of the object there. */
export interface Entry {
  path: readonly string[];
  key?: string;
  value: Json;
}

/** Text that was added to a file: its offset in the file as it is now, and its length, both in UTF-16 units. */
export interface Insertion {
  at: number;
  length: number;
}

/** A text and what was added to it. Without the insertions it is the original text, byte for byte. */
export interface Inserted {
  text: string;
  insertions: readonly Insertion[];
}

/** The value of a JSON text with comments and trailing commas; `{}` if it has no value. Throws SyntaxError if it is anything else. */
export function parseJson(text: string): Json {
  return jsonOf(parse(text));
}

/** Returns true if the array at the entry's path holds the value, or the object has it as this member. */
export function hasEntry(text: string, entry: Entry): boolean {
  return findEntry(text, entry) !== undefined;
}

/** Returns true if the member has a value that somebody else chose. */
export function isTaken(text: string, { path, key, value }: Entry): boolean {
  const node = key === undefined ? undefined : nodeAt(parse(text), [...path, key]);
  return node !== undefined && !isDeepStrictEqual(jsonOf(node), value);
}

/** The containers on the entry's path that the text does not have yet. */
export function missingContainers(text: string, entry: Entry): string[][] {
  const root = parse(text);
  return prefixes(entry.path).filter((path) => nodeAt(root, path) === undefined);
}

/**
 * Adds each value at the end of its array, in the formatting of the text around it, and creates the containers that are
 * missing. Throws SCHEMA_INVALID if a path leads through something else.
 */
export function addEntries(present: Inserted, entries: readonly Entry[]): Inserted {
  const [first] = entries;
  if (first === undefined) return present;
  const end = entries.findIndex((one) => one.key !== undefined || !isDeepStrictEqual(one.path, first.path));
  const together = end === -1 ? entries : entries.slice(0, Math.max(1, end));
  return addEntries(addTogether(present, first, together), entries.slice(together.length));
}

/** All values of an array at once, because each change of the text costs another look at all of it. */
function addTogether(present: Inserted, { path, key: inner }: Entry, together: readonly Entry[]): Inserted {
  const children = together.map(({ value }) => ({ key: inner, value }));
  let node = parse(present.text);
  for (const [depth, key] of path.entries()) {
    requireType(node, 'object', path.slice(0, depth));
    const next = member(node, key);
    if (next === undefined) {
      const all: Json = children.map(({ value }) => value);
      const last: Json = inner === undefined ? all : { [inner]: all[0] ?? null };
      const value = path.slice(depth + 1).reduceRight<Json>((within, name) => ({ [name]: within }), last);
      return addTo(present, node, [{ key, value }]);
    }
    node = next;
  }
  requireType(node, inner === undefined ? 'array' : 'object', path);
  return addTo(present, node, children);
}

/** Adds an empty object behind the comments of a text that has no value. */
export function addRoot(present: Inserted): Inserted {
  const { text } = present;
  if (parse(text) !== NO_VALUE) return present;
  const { eol } = styleOf(text);
  const gap = /^\uFEFF?$|\n$/.test(text) ? '' : eol;
  return insert(present, text.length, `${gap}{}${eol}`);
}

/** Removes the object that `addRoot` added, if it is empty. `hasGap`: with the line end before it. */
export function removeRoot(text: string, hasGap: boolean): string {
  const root = parse(text);
  const inner = text.slice(root.offset + 1, endOf(root) - 1);
  if (root === NO_VALUE || root.type !== 'object' || inner.trim() !== '' || text.slice(endOf(root)).trim() !== '')
    return text;
  const before = text.slice(0, root.offset);
  return hasGap ? withoutLineEnd(before) : before;
}

export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Removes the value from its array, or the member, and then the containers named in `emptied` that are empty. */
export function removeEntry(text: string, entry: Entry, emptied: readonly (readonly string[])[]): string {
  const found = findEntry(text, entry);
  if (found === undefined) return text;
  let rest = cutChild(text, found.container, found.index);
  for (const path of prefixes(entry.path).reverse())
    if (emptied.some((one) => isDeepStrictEqual(one, path))) rest = removeIfEmpty(rest, path);
  return rest;
}

/** Removes the member at the path, if there is one. What is around it stays as it is. */
export function removeMember(text: string, path: readonly string[]): string {
  const parent = nodeAt(parse(text), path.slice(0, -1));
  if (parent?.type !== 'object') return text;
  return cutChild(
    text,
    parent,
    childrenOf(parent).findLastIndex((one) => keyOf(one) === path.at(-1)),
  );
}

/** Adds text at an offset of the present text. */
export function insert(present: Inserted, at: number, added: string): Inserted {
  const text = present.text.slice(0, at) + added + present.text.slice(at);
  const insertions: Insertion[] = [];
  let absorbed = false;
  for (const one of present.insertions) {
    const inside = one.at < at && at < one.at + one.length;
    absorbed ||= inside;
    if (inside) insertions.push({ at: one.at, length: one.length + added.length });
    else insertions.push(one.at >= at ? { at: one.at + added.length, length: one.length } : one);
  }
  if (!absorbed) insertions.push({ at, length: added.length });
  return { text, insertions };
}

/** The text as it was before the insertions. */
export function withdraw({ text, insertions }: Inserted): string {
  const backwards = [...insertions].sort((a, b) => b.at - a.at);
  return backwards.reduce((rest, one) => rest.slice(0, one.at) + rest.slice(one.at + one.length), text);
}

/** Not the parser's own, which makes `__proto__` the prototype of an object and not a key. */
function jsonOf(node: Node): Json {
  if (node.type === 'array') return childrenOf(node).map(jsonOf);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(childrenOf(node).map((property) => [keyOf(property), jsonOf(valueNode(property))]));
}

function childrenOf(node: Node): readonly Node[] {
  return node.children ?? [];
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function valueNode(property: Node): Node {
  const value = property.children?.[1];
  if (value === undefined) throw new SyntaxError(`the key ${keyOf(property)} has no value`);
  return value;
}

/** The last member of that name, as in JSON.parse. */
function member(node: Node, key: string): Node | undefined {
  if (node.type !== 'object') return undefined;
  const property = childrenOf(node).findLast((one) => keyOf(one) === key);
  return property && valueNode(property);
}

function nodeAt(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>((node, key) => node && member(node, key), root);
}

function prefixes(path: readonly string[]): string[][] {
  return path.map((_, depth) => path.slice(0, depth + 1));
}

function findEntry(text: string, { path, key, value }: Entry): { container: Node; index: number } | undefined {
  const container = nodeAt(parse(text), path);
  if (container?.type !== (key === undefined ? 'array' : 'object')) return undefined;
  const index = childrenOf(container).findLastIndex((child) =>
    key === undefined
      ? isDeepStrictEqual(jsonOf(child), value)
      : keyOf(child) === key && isDeepStrictEqual(jsonOf(valueNode(child)), value),
  );
  return index === -1 ? undefined : { container, index };
}

function requireType(node: Node, type: 'object' | 'array', path: readonly string[]): void {
  if (node.type === type) return;
  const name = path.length === 0 ? 'the file' : path.join('.');
  throw new ContextdError('SCHEMA_INVALID', `${name} is not ${type === 'array' ? 'an array' : 'an object'}`);
}

interface Child {
  key: string | undefined;
  value: Json;
}

function addTo(present: Inserted, container: Node, added: readonly Child[]): Inserted {
  const last = childrenOf(container).at(-1);
  return last === undefined ? addFirst(present, container, added) : addBehind(present, last, added);
}

/** Behind the comments of an empty container, if it holds any. */
function addFirst(present: Inserted, container: Node, added: readonly Child[]): Inserted {
  const { text } = present;
  const style = styleOf(text);
  const inner = text.slice(container.offset + 1, endOf(container) - 1);
  const at = container.offset + 1 + inner.trimEnd().length;
  const outer = indentOf(text, container.offset);
  const space = `${style.eol}${outer}${style.unit}`;
  const close = text.slice(at, endOf(container) - 1).includes('\n') ? '' : `${style.eol}${outer}`;
  return insert(present, at, `${printAll(added, space, style)}${close}`);
}

/** Behind the comment that follows the last child on its line. A trailing comma stays a trailing comma. */
function addBehind(present: Inserted, last: Node, added: readonly Child[]): Inserted {
  const { text } = present;
  const space = spaceBefore(text, last.offset);
  const printed = printAll(added, space, styleOf(text));
  const comma = commaAfter(text, endOf(last));
  const end = comma === undefined ? endOf(last) : comma + 1;
  // Behind a comment only text on a new line is not part of the comment.
  const at = space.includes('\n') ? end + commentsToLineEnd(text, end).length : end;
  if (comma !== undefined) return insert(present, at, `${printed},`);
  return at === end ? insert(present, at, `,${printed}`) : insert(insert(present, at, printed), end, ',');
}

interface Style {
  eol: string;
  unit: string;
}

function styleOf(text: string): Style {
  const unit = /\n([ \t]+)["{[\w-]/.exec(stripComments(text))?.[1] ?? '  ';
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit };
}

/** Children as text, each with the space before it. */
function printAll(added: readonly Child[], space: string, style: Style): string {
  return added.map((child) => `${space}${print(child, space, style)}`).join(',');
}

/** One child as text, on several lines if its neighbours have lines of their own. */
function print(child: Child, space: string, style: Style): string {
  const broken = space.includes('\n');
  const indent = space.slice(space.lastIndexOf('\n') + 1);
  const json = broken ? JSON.stringify(child.value, null, style.unit) : JSON.stringify(child.value);
  const body = json.replaceAll('\n', `${style.eol}${indent}`);
  return child.key === undefined ? body : `${JSON.stringify(child.key)}:${space === '' ? '' : ' '}${body}`;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function spaceBefore(text: string, at: number): string {
  return /[ \t\r\n]*$/.exec(text.slice(0, at))?.[0] ?? '';
}

/** The white space at the start of the line that holds `at`. */
function indentOf(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

const COMMENTS_TO_LINE_END = /(?:[ \t]*\/\*(?:(?!\*\/).)*\*\/)*[ \t]*(?:\/\/.*)?(?=\r?\n)/y;

/** The comments between `from` and the end of its line, if nothing else stands there; otherwise "". */
function commentsToLineEnd(text: string, from: number): string {
  COMMENTS_TO_LINE_END.lastIndex = from;
  return COMMENTS_TO_LINE_END.exec(text)?.[0].trimEnd() ?? '';
}

/** The offset of the comma that is the next token after `from`. */
function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() : undefined;
}

/** Removes a child with its comma and the white space before it. Comments stay. */
function cutChild(text: string, container: Node, index: number): string {
  const [before, child] = [childrenOf(container)[index - 1], childrenOf(container)[index]];
  if (child === undefined) return text;
  const behind = commaAfter(text, endOf(child));
  const comma = behind ?? (before && commaAfter(text, endOf(before)));
  const space = spaceBefore(text, child.offset);
  const lineIsFree = /^[ \t]*\r?\n/.test(text.slice(behind === undefined ? endOf(child) : behind + 1));
  // A line break stays if something follows on the line: it may end a comment.
  const start = space.includes('\n') && !lineIsFree ? child.offset : child.offset - space.length;
  const cut = [{ at: start, length: endOf(child) - start }];
  if (comma !== undefined) cut.push({ at: comma, length: 1 });
  const rest = withdraw({ text, insertions: cut });
  const end = endOf(container) - (text.length - rest.length) - 1;
  const inner = rest.slice(container.offset + 1, end);
  return inner.trim() === '' ? rest.slice(0, container.offset + 1) + rest.slice(end) : rest;
}

function removeIfEmpty(text: string, path: readonly string[]): string {
  const root = parse(text);
  const parent = nodeAt(root, path.slice(0, -1));
  const node = nodeAt(root, path);
  if (parent?.type !== 'object' || node?.children?.length !== 0) return text;
  if (text.slice(node.offset + 1, endOf(node) - 1).trim() !== '') return text;
  const index = childrenOf(parent).findLastIndex((one) => keyOf(one) === path.at(-1));
  return cutChild(text, parent, index);
}
