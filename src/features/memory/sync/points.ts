/** Memories as points of a collection. Pure. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../../core/json.ts';
import { isJsonObject } from '../../../core/json.ts';
import { MEMORY_ID_PATTERN, type Memory, type MemoryDraft, readDraft } from '../item.ts';

/** Where a point comes from, and which state of its memory it shows. */
export interface PointOrigin {
  readonly id: string;
  /** The store that wrote it: 32 hex digits. */
  readonly writer: string;
  /** Rises with each change that the writer sends. */
  readonly version: number;
  /** The configured id of the project. */
  readonly project: string;
}

/** What a point says, as far as it can be read. */
export type SharedPoint = PointOrigin & { readonly writtenMs: number } & (
    | { readonly isDeleted: true }
    | {
        readonly isDeleted: false;
        readonly draft: MemoryDraft;
        readonly isQuarantined: boolean;
        readonly replacedBy: string;
        readonly createdMs: number;
        readonly updatedMs: number;
      }
  );

const NAMESPACE = Buffer.from('6f0e3b0c5d2a4b5e9c1d7a8f40b21c63', 'hex');

/** The UUID of version 5 of a memory's id: sent again, it is the same point. */
export function pointIdOf(memoryId: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(memoryId).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Everything but the path of the project and what was noted with feedback. `nowMs` is when it is sent. */
export function payloadOf(memory: Memory, origin: PointOrigin, nowMs: number): JsonObject {
  const { title, description, content, outcome, task, context, scope, owner, confidence, uses } = memory;
  return {
    ...origin,
    deleted: false,
    written_ms: nowMs,
    title,
    description,
    content,
    outcome,
    task,
    context,
    scope,
    confidence,
    uses,
    origin: memory.origin,
    owner,
    tags: [...memory.tags],
    provenance: [...memory.provenance],
    contradicts: [...memory.contradicts],
    quarantined: memory.isQuarantined,
    replaced_by: memory.replacedBy,
    created_ms: memory.createdMs,
    updated_ms: memory.updatedMs,
  };
}

/** Says that a memory was forgotten. Nothing of it is left. */
export function tombstoneOf(origin: PointOrigin, nowMs: number): JsonObject {
  return { ...origin, deleted: true, written_ms: nowMs };
}

/**
 * Reads a point that somebody else may have written: its times are at most a day ahead of ours, and its title and tags lose
 * what is invisible. Null if it is no memory; ARGS_INVALID names what is wrong with one.
 */
export function readPoint(payload: unknown, nowMs: number): SharedPoint | null {
  if (!isJsonObject(payload)) return null;
  const { id, writer, version, project, deleted, replaced_by } = payload;
  if (typeof id !== 'string' || !MEMORY_ID_PATTERN.test(id)) return null;
  if (typeof writer !== 'string' || !WRITER_PATTERN.test(writer) || typeof project !== 'string') return null;
  const timeIn = (value: Json | undefined): number | null => {
    const ms = wholeNumber(value);
    return ms === null ? null : Math.min(ms, nowMs + AHEAD_MAX_MS);
  };
  const writtenMs = timeIn(payload.written_ms);
  const read = wholeNumber(version);
  if (read === null || writtenMs === null) return null;
  const origin = { id, writer, version: read, project, writtenMs };
  if (deleted === true) return { ...origin, isDeleted: true };
  return {
    ...origin,
    isDeleted: false,
    draft: readDraft(draftIn(payload), 'strip'),
    isQuarantined: payload.quarantined === true,
    replacedBy: typeof replaced_by === 'string' && MEMORY_ID_PATTERN.test(replaced_by) ? replaced_by : '',
    createdMs: timeIn(payload.created_ms) ?? writtenMs,
    updatedMs: timeIn(payload.updated_ms) ?? writtenMs,
  };
}

/** Clocks differ; a date beyond all calendars could not be shown. */
const AHEAD_MAX_MS = 24 * 60 * 60_000;

export const WRITER_PATTERN = /^[0-9a-f]{32}$/;

function draftIn(payload: JsonObject): Json {
  const { title, description, content, tags, outcome, task, context } = payload;
  const fields = { title, description, content, tags, outcome, task, context };
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function wholeNumber(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
