import { isDeepStrictEqual } from 'node:util';
import { ContextdError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { locate, member, type Node, valueAtNode } from './json-text.ts';

/** A value that stands in the array at `path`, a list of object keys. */
export interface Entry {
  path: readonly string[];
  value: Json;
}

/** True when the array at the entry's path holds the value. */
export function hasEntry(text: string, entry: Entry): boolean {
  return findElement(text, entry) !== undefined;
}

/**
 * Adds the value at the end of the array, making what is missing on the way, in the manner of the text around it.
 * Throws SCHEMA_INVALID when something else stands on the path.
 */
export function addEntry(present: Inserted, entry: Entry): Inserted {
  const root = locate(present.text);
  const style = styleOf(present.text);
  let node = root;
  for (const [depth, key] of entry.path.entries()) {
    requireKind(node, 'object', entry.path.slice(0, depth));
    const next = member(node, key)?.value;
    if (next === undefined) {
      const value = entry.path.slice(depth + 1).reduceRight<Json>((inner, name) => ({ [name]: inner }), [entry.value]);
      return addTo(present, node, { key, value }, style);
    }
    node = next;
  }
  requireKind(node, 'array', entry.path);
  return addTo(present, node, { key: undefined, value: entry.value }, style);
}

/** Takes the value out of the array, and containers named in `emptied` that are empty then. */
export function removeEntry(text: string, entry: Entry, emptied: readonly (readonly string[])[]): string {
  const found = findElement(text, entry);
  if (found === undefined) return text;
  let rest = cutChild(text, found.array, found.index);
  for (let depth = entry.path.length; depth > 0; depth--) {
    const path = entry.path.slice(0, depth);
    if (emptied.some((one) => isDeepStrictEqual(one, path))) rest = removeIfEmpty(rest, path);
  }
  return rest;
}

/** The containers on the entry's path that the text does not have yet. */
export function missingContainers(text: string, entry: Entry): string[][] {
  const paths = entry.path.map((_, depth) => entry.path.slice(0, depth + 1));
  return paths.filter((path) => nodeAt(text, path) === undefined);
}

function nodeAt(text: string, path: readonly string[]): Node | undefined {
  let node: Node | undefined = locate(text);
  for (const key of path) node = node === undefined ? undefined : member(node, key)?.value;
  return node;
}

function findElement(text: string, entry: Entry): { array: Node; index: number } | undefined {
  const array = nodeAt(text, entry.path);
  if (array?.kind !== 'array') return undefined;
  const index = array.items.findLastIndex((item) => isDeepStrictEqual(valueAtNode(text, item), entry.value));
  return index === -1 ? undefined : { array, index };
}

function requireKind(node: Node, kind: 'object' | 'array', path: readonly string[]): void {
  if (node.kind === kind) return;
  const name = path.length === 0 ? 'the file' : path.join('.');
  throw new ContextdError('SCHEMA_INVALID', `${name} is not ${kind === 'array' ? 'an array' : 'an object'}`);
}

interface Style {
  eol: string;
  unit: string;
}

function styleOf(text: string): Style {
  const unit = /\n([ \t]+)["{[\w-]/.exec(text)?.[1] ?? '  ';
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit };
}

interface Child {
  key: string | undefined;
  value: Json;
}

function addTo(present: Inserted, container: Node, child: Child, style: Style): Inserted {
  const { text } = present;
  const children = childrenOf(container);
  const last = children.at(-1);
  if (last !== undefined) {
    const space = spaceBefore(text, last.start);
    return insert(present, last.end, `,${space}${print(child, space, style)}`);
  }
  const inner = text.slice(container.start + 1, container.end - 1);
  const outer = indentOf(text, container.start);
  const space = `${style.eol}${outer}${style.unit}`;
  const close = inner.includes('\n') ? '' : `${style.eol}${outer}`;
  return insert(present, container.start + 1, `${space}${print(child, space, style)}${close}`);
}

/** One child as text: over several lines when its neighbours stand on lines of their own. */
function print(child: Child, space: string, style: Style): string {
  const broken = space.includes('\n');
  const indent = space.slice(space.lastIndexOf('\n') + 1);
  const json = broken ? JSON.stringify(child.value, null, style.unit) : JSON.stringify(child.value);
  const body = json.replaceAll('\n', `${style.eol}${indent}`);
  return child.key === undefined ? body : `${JSON.stringify(child.key)}:${space === '' ? '' : ' '}${body}`;
}

function spaceBefore(text: string, at: number): string {
  return /[ \t\r\n]*$/.exec(text.slice(0, at))?.[0] ?? '';
}

/** The white space that begins the line holding `at`. */
function indentOf(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function childrenOf(node: Node): { start: number; end: number }[] {
  if (node.kind === 'array') return node.items.map(({ start, end }) => ({ start, end }));
  return node.kind === 'object' ? node.members.map(({ start, value }) => ({ start, end: value.end })) : [];
}

function cutChild(text: string, container: Node, index: number): string {
  const children = childrenOf(container);
  const [before, child, after] = [children[index - 1], children[index], children[index + 1]];
  if (child === undefined) return text;
  if (before !== undefined) return text.slice(0, before.end) + text.slice(child.end);
  if (after !== undefined) return text.slice(0, child.start) + text.slice(after.start);
  return text.slice(0, container.start + 1) + text.slice(container.end - 1);
}

function removeIfEmpty(text: string, path: readonly string[]): string {
  const parent = nodeAt(text, path.slice(0, -1));
  const node = nodeAt(text, path);
  if (parent?.kind !== 'object' || node === undefined || node.kind === 'scalar' || childrenOf(node).length > 0)
    return text;
  return cutChild(
    text,
    parent,
    parent.members.findLastIndex((one) => one.key === path.at(-1)),
  );
}

/** Text that was put into a file: where it stands in the file as it is now, and its length, both in UTF-16 units. */
export interface Insertion {
  at: number;
  length: number;
}

/** A text and what was put into it. Taking the insertions out gives back the text before, byte for byte. */
export interface Inserted {
  text: string;
  insertions: readonly Insertion[];
}

/** Puts more text in at an offset of the present text. */
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
