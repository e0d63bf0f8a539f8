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
export type Addition =
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
 * The text with the addition and no other change. `text` is undefined if the file does not exist. Entries that the
 * user already had stay the user's, unless `adopt` says that contextd initialised this tree on another machine.
 */
export function merge(
  text: string | undefined,
  addition: Addition,
  before: MergeRecord | undefined,
  adopt = false,
): Merged {
  if (text !== undefined && isPresent(text, addition, before)) {
    return { text, record: before ?? foundRecord(adopt && addition.kind === 'json' ? addition.entries : [], adopt) };
  }
  const base = text === undefined || before === undefined ? text : withoutAddition(text, addition, before);
  const created = base === undefined || (before?.created ?? false);
  const start = base ?? templateOf(addition);
  const { inserted, entries, containers } = withAddition(start, addition);
  return {
    text: inserted.text,
    record: { created, sha256: contentHash(inserted.text), insertions: inserted.insertions, entries, containers },
  };
}

/** The text without what the record names; undefined if contextd created the file and it holds nothing else. */
export function unmerge(text: string, addition: Addition, record: MergeRecord): string | undefined {
  const rest = withoutAddition(text, addition, record);
  return record.created && isTemplate(rest, addition) ? undefined : rest;
}

function isPresent(text: string, addition: Addition, before: MergeRecord | undefined): boolean {
  if (addition.kind === 'block') return hasBlock(text, addition.lines);
  const stale = (before?.entries ?? []).filter(
    (old) => !addition.entries.some((entry) => isDeepStrictEqual(entry, old)),
  );
  return addition.entries.every((entry) => hasEntry(text, entry)) && !stale.some((entry) => hasEntry(text, entry));
}

function withoutAddition(text: string, addition: Addition, record: MergeRecord): string {
  if (contentHash(text) === record.sha256) return withdraw({ text, insertions: record.insertions });
  if (addition.kind === 'block') return removeBlock(text);
  return record.entries.toReversed().reduce((rest, entry) => removeEntry(rest, entry, record.containers), text);
}

function withAddition(
  start: string,
  addition: Addition,
): { inserted: Inserted; entries: Entry[]; containers: string[][] } {
  const untouched: Inserted = { text: start, insertions: [] };
  if (addition.kind === 'block') return { inserted: putBlock(untouched, addition.lines), entries: [], containers: [] };
  const entries = addition.entries.filter((entry) => !hasEntry(start, entry));
  const containers = entries.flatMap((entry) => missingContainers(start, entry));
  return { inserted: entries.reduce(addEntry, untouched), entries, containers };
}

/** The record of a file that needed no change. Nothing in it is ours, except in an adopted tree. */
function foundRecord(entries: readonly Entry[], created: boolean): MergeRecord {
  const containers = entries.flatMap((entry) => entry.path.map((_, depth) => entry.path.slice(0, depth + 1)));
  return { created, sha256: '', insertions: [], entries, containers };
}

function templateOf(addition: Addition): string {
  return addition.kind === 'json' ? addition.template : '';
}

function isTemplate(text: string, addition: Addition): boolean {
  if (addition.kind === 'block') return text.trim() === '';
  if (stripComments(text) !== text) return false;
  const value = parseJson(text);
  return isDeepStrictEqual(value, JSON.parse(addition.template)) || isDeepStrictEqual(value, {});
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
