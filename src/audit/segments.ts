import { createHash } from 'node:crypto';
import { closeSync, createReadStream, type Dirent, fstatSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { isJsonObject, type JsonObject, jsonObjectIn } from '../core/json.ts';
import { type ChainedLine, readChained } from './chain.ts';
import { type Line, splitLines } from './lines.ts';

/** `audit-2026-01-31.jsonl`, and `audit-2026-01-31.2.jsonl` for the second segment of a day. */
const NAME = /^audit-(\d{4}-\d{2}-\d{2})(?:\.([2-9]|[1-9]\d{1,5}))?\.jsonl$/;

/** One file of the log. */
export interface Segment {
  readonly name: string;
  readonly path: string;
  /** UTC day. */
  readonly day: string;
  /** From 1. */
  readonly part: number;
}

/** The files of the log, oldest first; empty if the folder is missing. What has such a name and is no regular file is left out. */
export async function listSegments(dir: string): Promise<Segment[]> {
  return (await entriesOf(dir)).flatMap(({ segment, isFile }) => (isFile ? [segment] : []));
}

/** Names of what lies where a segment would, and is no regular file: a pipe could hold up its reader for ever. */
export async function listFalseSegments(dir: string): Promise<string[]> {
  return (await entriesOf(dir)).flatMap(({ segment, isFile }) => (isFile ? [] : [segment.name]));
}

async function entriesOf(dir: string): Promise<{ segment: Segment; isFile: boolean }[]> {
  const found = (await direntsIn(dir)).flatMap((entry) => {
    const { name } = entry;
    const [, day = '', part = '1'] = NAME.exec(name) ?? [];
    if (day === '') return [];
    return [{ segment: { name, path: join(dir, name), day, part: Number(part) }, isFile: entry.isFile() }];
  });
  return found.sort(({ segment: a }, { segment: b }) => (a.day === b.day ? a.part - b.part : a.day < b.day ? -1 : 1));
}

export function segmentName(day: string, part: number): string {
  return part === 1 ? `audit-${day}.jsonl` : `audit-${day}.${part}.jsonl`;
}

/** The UTC day of a segment's file; "" if it is not the name of one. */
export function dayOfName(name: string): string {
  return NAME.exec(name)?.[1] ?? '';
}

/** The UTC day of a time in milliseconds: `2026-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

async function direntsIn(dir: string): Promise<Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Why a segment does not begin where the one before ended as it should. */
export type Break =
  /** A line was not written whole, because power was lost. What is there of it has this hash. */
  | { readonly why: 'torn'; readonly name: string; readonly bytes: number; readonly sha256: string }
  /** Lines that were on disk are gone, or are not as they were written. */
  | { readonly why: 'changed'; readonly name: string }
  /** The file that says how far the log goes was gone or changed: lines at the end may be missing. */
  | { readonly why: 'no_head' }
  /** The key was gone: what it covers cannot be checked any more. */
  | { readonly why: 'no_key' };

/** The first line of a segment. */
export interface SegmentStart {
  /** From 1. */
  readonly segment: number;
  /** ISO 8601, UTC. */
  readonly started: string;
  /** The UTC day of its name, if that is later: the clock went back, and names must stay in the order of the chain. */
  readonly day?: string;
  /** The code of the line before it; "" for the first. */
  readonly previous: string;
  readonly break?: Break;
  /** SHA-256 (hex) of the files from before there was a chain. In the first segment, if there are such files. */
  readonly unchained?: string;
}

/** The last line of a segment. */
export interface SegmentSeal {
  /** Its number. */
  readonly sealed: number;
  /** ISO 8601, UTC. */
  readonly ended: string;
}

/** The line about segments that were removed because they were old. */
export interface SegmentsPruned {
  readonly pruned: {
    readonly names: readonly string[];
    /** The last line of them; 0 if they are from before there was a chain. */
    readonly seq: number;
    /**
     * SHA-256 (hex) of the files from before there was a chain, as far as they are still there. Absent if they cannot be proven,
     * because an earlier version removed a part of them and did not write this.
     */
    readonly unchained?: string;
  };
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** What such a line says of what is left. */
export type PrunedTo = Pick<SegmentsPruned['pruned'], 'seq' | 'unchained'>;

export interface ChainedSegment extends Segment {
  readonly start: SegmentStart;
}

/** Null for a file that does not begin as a segment: it is from before there was a chain, or was not written whole, or changed. */
export function chainedSegment(segment: Segment): ChainedSegment | null {
  const start = readStart(firstLine(segment.path));
  return start === null ? null : { ...segment, start };
}

/** The UTC day that the name of its file has. */
export function dayOfStart({ started, day }: SegmentStart): string {
  return day ?? started.slice(0, 10);
}

/** Null for any other line. */
export function readStart(line: ChainedLine | null): SegmentStart | null {
  const { segment, started, day, previous, break: broken, unchained } = fieldsAboutSegments(line);
  if (typeof segment !== 'number' || typeof started !== 'string' || typeof previous !== 'string') return null;
  return {
    segment,
    started,
    ...(typeof day === 'string' ? { day } : {}),
    previous,
    ...(isBreak(broken) ? { break: broken } : {}),
    ...(typeof unchained === 'string' ? { unchained } : {}),
  };
}

/** True for a line of the chain that is no record. */
export function isAboutSegments(line: ChainedLine | null): boolean {
  return line !== null && STARTS_ABOUT_SEGMENTS.test(line.text);
}

/** Null for any other line. */
export function readSeal(line: ChainedLine): SegmentSeal | null {
  const { sealed, ended } = fieldsAboutSegments(line);
  return typeof sealed === 'number' && typeof ended === 'string' ? { sealed, ended } : null;
}

/** Null for any other line. */
export function readPruned(line: ChainedLine): PrunedTo | null {
  const { pruned } = fieldsAboutSegments(line);
  if (!isJsonObject(pruned) || typeof pruned.seq !== 'number') return null;
  const { seq, unchained } = pruned;
  return { seq, ...(typeof unchained === 'string' ? { unchained } : {}) };
}

/** The hash of the contents of files, one after the other. */
export async function hashOf(segments: readonly Segment[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { path } of segments) for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** What is in a file from a byte on. Null if the file is shorter. */
export function readFrom(path: string, from: number): Line[] | null {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    if (size < from) return null;
    const content = Buffer.alloc(size - from);
    const bytes = readSync(fd, content, 0, content.length, from);
    return splitLines(content.subarray(0, bytes));
  } finally {
    closeSync(fd);
  }
}

export function tornOf({ bytes }: Line): { readonly bytes: number; readonly sha256: string } {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const STARTS_ABOUT_SEGMENTS = /^\{"(?:segment|sealed|pruned)":/;
/** A first line is shorter. */
const START_MAX_BYTES = 4 * 1024;

function firstLine(path: string): ChainedLine | null {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(START_MAX_BYTES);
    const [first] = splitLines(buffer.subarray(0, readSync(fd, buffer)));
    return first === undefined ? null : readChained(first);
  } finally {
    closeSync(fd);
  }
}

function isBreak(value: unknown): value is Break {
  if (!isJsonObject(value)) return false;
  const { why, name, bytes, sha256 } = value;
  if (why === 'torn') return typeof name === 'string' && typeof bytes === 'number' && typeof sha256 === 'string';
  return why === 'changed' ? typeof name === 'string' : why === 'no_head' || why === 'no_key';
}

/** The fields of a line about segments. Records begin with their time, so that most lines need not be parsed. */
function fieldsAboutSegments(line: ChainedLine | null): JsonObject {
  return line !== null && isAboutSegments(line) ? jsonObjectIn(line.text) : {};
}
