import { createHash } from 'node:crypto';
import { closeSync, createReadStream, type Dirent, fstatSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { readChained } from './chain.ts';

/** `audit-2026-01-31.jsonl`, and `audit-2026-01-31.2.jsonl` for the second segment of a day. */
const NAME = /^audit-(\d{4}-\d{2}-\d{2})(?:\.([1-9]\d{0,5}))?\.jsonl$/;

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
    /** The last line of them. */
    readonly seq: number;
  };
  /** ISO 8601, UTC. */
  readonly time: string;
}

export interface ChainedSegment extends Segment {
  readonly start: SegmentStart;
}

/** Null for a file from before there was a chain. */
export function chainedSegment(segment: Segment): ChainedSegment | null {
  const start = readStart(firstLine(segment.path));
  return start === null ? null : { ...segment, start };
}

/** The UTC day that the name of its file has. */
export function dayOfStart({ started, day }: SegmentStart): string {
  return day ?? started.slice(0, 10);
}

/** Null for any other line. */
export function readStart(line: string): SegmentStart | null {
  const { segment, started, day, previous, break: broken, unchained } = chainedFields(line);
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
export function isAboutSegments(line: string): boolean {
  return STARTS_ABOUT_SEGMENTS.test(line) && readChained(line) !== null;
}

/** Null for any other line. */
export function readSeal(line: string): SegmentSeal | null {
  const { sealed, ended } = chainedFields(line);
  return typeof sealed === 'number' && typeof ended === 'string' ? { sealed, ended } : null;
}

/** The last removed line; null for any other line. */
export function readPruned(line: string): { seq: number } | null {
  const { pruned } = chainedFields(line);
  return isJsonObject(pruned) && typeof pruned.seq === 'number' ? { seq: pruned.seq } : null;
}

/** The hash of the contents of files, one after the other. */
export async function hashOf(segments: readonly Segment[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { path } of segments) for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** What is in a file from a byte on. */
export interface Rest {
  readonly lines: readonly string[];
  /** A last line without its end. */
  readonly torn: { readonly bytes: number; readonly sha256: string } | null;
}

/** Null if the file is shorter. */
export function readFrom(path: string, from: number): Rest | null {
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

export function splitLines(content: Buffer): Rest {
  const end = content.lastIndexOf(NEWLINE) + 1;
  const lines = content.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  return { lines, torn: tornOf(content.subarray(end)) };
}

export function tornOf(rest: Buffer): Rest['torn'] {
  if (rest.length === 0) return null;
  return { bytes: rest.length, sha256: createHash('sha256').update(rest).digest('hex') };
}

const NEWLINE = 0x0a;
const STARTS_ABOUT_SEGMENTS = /^\{"(?:segment|sealed|pruned)":/;
/** A first line is shorter. */
const START_MAX_BYTES = 4 * 1024;

function firstLine(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(START_MAX_BYTES);
    const bytes = readSync(fd, buffer);
    return buffer.toString('utf8', 0, bytes).split('\n', 1)[0] ?? '';
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
function chainedFields(line: string): JsonObject {
  if (!isAboutSegments(line)) return {};
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
