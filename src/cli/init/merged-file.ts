import { isDeepStrictEqual } from 'node:util';
import { stripComments } from 'jsonc-parser';
import { contentHash } from './content-hash.ts';
import {
  addEntries,
  addRoot,
  type Entry,
  hasEntry,
  type Inserted,
  type Insertion,
  insert,
  isTaken,
  missingContainers,
  parseJson,
  removeEntry,
  removeRoot,
  withdraw,
  withoutLineEnd,
} from './json-edit.ts';
import { checkToml, hasTable } from './toml-block.ts';

/** What contextd adds to a file of the user. */
export type Addition =
  | {
      kind: 'json';
      template: string;
      entries: readonly Entry[];
      /** Entries that only earlier versions added. They are removed where contextd added them. */
      earlier: readonly Entry[];
      /** Entries that contextd on another machine, or of another version, added. They are removed. */
      obsolete: readonly Entry[];
    }
  | {
      kind: 'block';
      lines: readonly string[];
      /** The lines are this table of a TOML file. They are left out if the file has it already. */
      table?: readonly string[];
    };

/** What contextd added to the file, so that exactly this can be removed again. */
export interface MergeRecord {
  /** True if the file did not exist before. */
  created: boolean;
  /** Hash of the file after the change. While it matches, `insertions` are exact. */
  sha256: string;
  insertions: readonly Insertion[];
  /** Entries that the file did not have before. */
  entries: readonly Entry[];
  /** Objects and arrays that the file did not have before. The empty path is the object of the whole file. */
  containers: readonly (readonly string[])[];
  /** True if the file had no line end before what was added at its end. */
  hasGap?: true;
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
  const known = before ?? (text === undefined ? undefined : foundRecord(text, addition, adopt));
  if (text !== undefined && known !== undefined && isPresent(text, addition, known)) return { text, record: known };
  const base = text === undefined || known === undefined ? text : withoutAddition(text, addition, known);
  const created = base === undefined || (known?.created ?? false);
  const start = base ?? templateOf(addition);
  const { inserted, entries, containers, hasGap } = withAddition(start, addition);
  const { text: merged, insertions } = inserted;
  const gap = hasGap ? { hasGap } : {};
  return { text: merged, record: { created, sha256: contentHash(merged), insertions, entries, containers, ...gap } };
}

/** The text without what the record names; undefined if contextd created the file and it holds nothing else. */
export function unmerge(text: string, addition: Addition, record: MergeRecord): string | undefined {
  const rest = withoutAddition(text, addition, record);
  return record.created && isTemplate(rest, addition) ? undefined : rest;
}

function isPresent(text: string, addition: Addition, before: MergeRecord): boolean {
  if (addition.kind === 'block') return hasBlock(text, addition.lines);
  const stale = before.entries.filter((old) => !addition.entries.some((entry) => isDeepStrictEqual(entry, old)));
  return holdsAddition(text, addition) && ![...stale, ...addition.obsolete].some((entry) => hasEntry(text, entry));
}

/** Returns true if the text has everything that is added, or another value of a person's in its place. */
export function holdsAddition(text: string, addition: Addition): boolean {
  if (addition.kind === 'json') return addition.entries.every((entry) => hasEntry(text, entry) || isTaken(text, entry));
  const { lines, table } = addition;
  return hasBlock(text, lines) || (table !== undefined && !hasManagedBlock(text) && hasTable(text, table));
}

function withoutAddition(text: string, addition: Addition, record: MergeRecord): string {
  const isExact = contentHash(text) === record.sha256;
  const rest = isExact ? withdraw({ text, insertions: record.insertions }) : text;
  if (addition.kind === 'block') return isExact ? rest : removeBlocks(rest, record.hasGap);
  const added = isExact ? [] : record.entries.toReversed();
  const without = added.reduce((now, entry) => removeEntry(now, entry, record.containers), rest);
  const hasRoot = !isExact && record.containers.some((path) => path.length === 0);
  const rootless = hasRoot ? removeRoot(without, record.hasGap === true) : without;
  return addition.obsolete.reduce((now, entry) => removeAll(now, entry, record.containers), rootless);
}

function removeAll(text: string, entry: Entry, emptied: readonly (readonly string[])[]): string {
  const rest = removeEntry(text, entry, emptied);
  return rest === text ? text : removeAll(rest, entry, emptied);
}

interface WithAddition extends Pick<MergeRecord, 'entries' | 'containers'> {
  inserted: Inserted;
  hasGap: boolean;
}

function withAddition(start: string, addition: Addition): WithAddition {
  const untouched: Inserted = { text: start, insertions: [] };
  const hasGap = !endsLine(start);
  if (addition.kind === 'block')
    return { inserted: withBlock(untouched, addition), entries: [], containers: [], hasGap };
  const entries = addition.entries.filter((entry) => !hasEntry(start, entry) && !isTaken(start, entry));
  const rooted = entries.length === 0 ? untouched : addRoot(untouched);
  const root = rooted === untouched ? [] : [[]];
  const containers = [...root, ...entries.flatMap((entry) => missingContainers(start, entry))];
  return { inserted: addEntries(rooted, entries), entries, containers, hasGap: hasGap && root.length > 0 };
}

/**
 * What a file without a record holds of ours: in an adopted tree the whole addition, otherwise only what has contextd's own
 * marks around it.
 */
function foundRecord(text: string, addition: Addition, adopt: boolean): MergeRecord {
  const found = { sha256: '', insertions: [], entries: [], containers: [] };
  if (addition.kind === 'block') {
    const rest = removeBlocks(text);
    return { ...found, created: adopt || (rest !== text && rest.trim() === '') };
  }
  const entries = adopt ? [...addition.entries, ...addition.earlier] : [];
  const containers = entries.flatMap((entry) => entry.path.map((_, depth) => entry.path.slice(0, depth + 1)));
  return { ...found, created: adopt, entries, containers };
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

/** Returns true if the text has one managed block, with exactly these lines. */
function hasBlock(text: string, lines: readonly string[]): boolean {
  const blocks = text.match(BLOCK) ?? [];
  return blocks.length === 1 && blocks[0] === blockOf(lines);
}

/** Whether the text has a managed block, whatever its lines. */
export function hasManagedBlock(text: string): boolean {
  return removeBlocks(text) !== text;
}

function withBlock(present: Inserted, { lines, table }: Extract<Addition, { kind: 'block' }>): Inserted {
  if (table === undefined) return putBlock(present, lines);
  if (hasTable(present.text, table)) return present;
  const inserted = putBlock(present, lines);
  checkToml(inserted.text);
  return inserted;
}

/** Adds the block at the end of a line-based text such as a .gitignore. */
function putBlock(present: Inserted, lines: readonly string[]): Inserted {
  const { text } = present;
  const gap = endsLine(text) ? '' : '\n';
  return insert(present, text.length, gap + blockOf(lines));
}

/** The text without managed blocks. `hasGap`: with the line end before them, if nothing follows. */
function removeBlocks(text: string, hasGap = false): string {
  const rest = text.replaceAll(BLOCK, '');
  const isLast = rest !== text && text.startsWith(rest);
  return hasGap && isLast ? withoutLineEnd(rest) : rest;
}

/** Whether what is added behind the text begins a line. A byte order mark is no text. */
function endsLine(text: string): boolean {
  return /^\uFEFF?$|\n$/.test(text);
}

function blockOf(lines: readonly string[]): string {
  return [BEGIN, ...lines, END, ''].join('\n');
}

const BLOCK = new RegExp(`^${BEGIN}\\r?\\n(?:.*\\n)*?${END}(?:\\r?\\n|$)`, 'gm');
