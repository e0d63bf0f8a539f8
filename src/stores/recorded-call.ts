import type { AuditRecord } from '../audit/record.ts';
import type { SessionRef } from '../call/session.ts';
import type { JsonObject } from '../core/json.ts';

/** A call or a background job that has ended, and what its audit record does not say. */
export interface RecordedCall {
  readonly session: SessionRef;
  readonly record: AuditRecord;
  /** False if the call was refused or was a dry run. */
  readonly hasRun: boolean;
  /** The scrubbed data of the outcome. */
  readonly data: JsonObject;
  /** Scrubbed texts of its output, the most telling of a failure first. */
  readonly texts: readonly string[];
  /** True if a person or the agent ended it: the exit status then says nothing about the command. */
  readonly wasEnded: boolean;
  /** Milliseconds since the epoch. Default: the time of the record, at which it began. */
  readonly endedMs?: number;
  /** The output that it stored, or null. */
  readonly artifact: string | null;
  /** The earlier output that it showed, `art_…` or `art_…/field`, or null. */
  readonly shows: string | null;
}
