import { isDeepStrictEqual } from 'node:util';
import { stripComments } from 'jsonc-parser';
import { contentHash } from './content-hash.ts';
import {
  addEntry,
  type Entry,
  hasEntry,
  type Inserted,
  type Insertion,
  insert,
  missingContainers,
  parseJson,
  removeEntry,
  withdraw,
} from './json-edit.ts';

/** What contextd adds to a file of the user. */
export type Wish =
  | { kind: 'json'; template: string; entries: readonly Entry[] }
  | { kind: 'block'; lines: readonly string[] };

/** What contextd added to the file, so that exactly this can be removed again. */
export interface MergeRecord {
  /** True if the file did not exist before. */
  created: boolean;
  /** Hash of the file after the change. While it matches, `insertions` are exact. */
  sha256: string;
  insertions: readonly Insertion[];
  /** Entries that the file did not have before. */
  entries: readonly Entry[];
  /** Objects and arrays that the file did not have before. */
  containers: readonly (readonly string[])[];
}

interface Merged {
  text: string;
  record: MergeRecord;
}

/**
 * Adds the wish to the file's text and changes nothing else. `text` is undefined if there is no file. Entries that the
 * user already had stay the user's, unless `adopt` says that contextd initialised this tree on another machine.
 */
export function merge(text: string | undefined, wish: Wish, before: MergeRecord | undefined, adopt = false): Merged {
  if (text !== undefined && isFulfilled(text, wish, before)) {
    return { text, record: before ?? foundRecord(adopt && wish.kind === 'json' ? wish.entries : [], adopt) };
  }
  const base = text === undefined || before === undefined ? text : takeOut(text, wish, before);
  const created = base === undefined || (before?.created ?? false);
  const start = base ?? templateOf(wish);
  const { inserted, entries, containers } = putIn(start, wish);
  return {
    text: inserted.text,
    record: { created, sha256: contentHash(inserted.text), insertions: inserted.insertions, entries, containers },
  };
}

/** The text without what the record names; undefined if contextd created the file and it holds nothing else. */
export function unmerge(text: string, wish: Wish, record: MergeRecord): string | undefined {
  const rest = takeOut(text, wish, record);
  return record.created && isTemplate(rest, wish) ? undefined : rest;
}

function isFulfilled(text: string, wish: Wish, before: MergeRecord | undefined): boolean {
  if (wish.kind === 'block') return hasBlock(text, wish.lines);
  const stale = (before?.entries ?? []).filter((old) => !wish.entries.some((entry) => isDeepStrictEqual(entry, old)));
  return wish.entries.every((entry) => hasEntry(text, entry)) && !stale.some((entry) => hasEntry(text, entry));
}

function takeOut(text: string, wish: Wish, record: MergeRecord): string {
  if (contentHash(text) === record.sha256) return withdraw({ text, insertions: record.insertions });
  if (wish.kind === 'block') return removeBlock(text);
  return record.entries.toReversed().reduce((rest, entry) => removeEntry(rest, entry, record.containers), text);
}

function putIn(start: string, wish: Wish): { inserted: Inserted; entries: Entry[]; containers: string[][] } {
  const untouched: Inserted = { text: start, insertions: [] };
  if (wish.kind === 'block') return { inserted: putBlock(untouched, wish.lines), entries: [], containers: [] };
  const entries = wish.entries.filter((entry) => !hasEntry(start, entry));
  const containers = entries.flatMap((entry) => missingContainers(start, entry));
  return { inserted: entries.reduce(addEntry, untouched), entries, containers };
}

/** The record of a file that needed no change. Nothing in it is ours, except in an adopted tree. */
function foundRecord(entries: readonly Entry[], created: boolean): MergeRecord {
  const containers = entries.flatMap((entry) => entry.path.map((_, depth) => entry.path.slice(0, depth + 1)));
  return { created, sha256: '', insertions: [], entries, containers };
}

function templateOf(wish: Wish): string {
  return wish.kind === 'json' ? wish.template : '';
}

function isTemplate(text: string, wish: Wish): boolean {
  if (wish.kind === 'block') return text.trim() === '';
  if (stripComments(text) !== text) return false;
  const value = parseJson(text);
  return isDeepStrictEqual(value, JSON.parse(wish.template)) || isDeepStrictEqual(value, {});
}

const BEGIN = '# contextd: managed by ctxd init';
const END = '# contextd: end';

/** Returns true if the text has the managed block with exactly these lines. */
function hasBlock(text: string, lines: readonly string[]): boolean {
  return findBlock(text)?.body === blockOf(lines);
}

/** Adds the block at the end of a line-based text such as a .gitignore. */
function putBlock(present: Inserted, lines: readonly string[]): Inserted {
  const { text } = present;
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  return insert(present, text.length, gap + blockOf(lines));
}

/** The text without the managed block. */
function removeBlock(text: string): string {
  const found = findBlock(text);
  return found === undefined ? text : text.slice(0, found.start) + text.slice(found.end);
}

function blockOf(lines: readonly string[]): string {
  return [BEGIN, ...lines, END, ''].join('\n');
}

function findBlock(text: string): { start: number; end: number; body: string } | undefined {
  const found = new RegExp(`^${BEGIN}\\r?\\n(?:.*\\n)*?${END}(?:\\r?\\n|$)`, 'm').exec(text);
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length, body: found[0] };
}
