import { createHash } from 'node:crypto';
import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SessionFacts } from './session-facts.ts';

/** Of the stored body and of an exported file. A body of a later format is refused. */
export const CHECKPOINT_FORMAT = 1;

export const CHECKPOINT_ID_PATTERN = /^cp_[0-9a-hjkmnp-tv-z]{10}$/;

/**
 * Why it was saved: an agent or person asked, a compaction or a restore of files was about to begin, or it came from an
 * exported file.
 */
export const CAUSES = ['asked', 'compaction', 'restore', 'import'] as const;
export type CheckpointCause = (typeof CAUSES)[number];

const TREE_PATTERN = /^[0-9a-f]{40}$/;

/** What is known of a checkpoint without its body. */
export interface CheckpointHead {
  readonly id: string;
  /** The session and branch that it belongs to. */
  readonly session: SessionRef;
  readonly name: string;
  readonly cause: CheckpointCause;
  /** The last event that it covers; 0 if it was imported. */
  readonly position: number;
  readonly createdMs: number;
}

/** The state of a session. All texts are masked. */
export interface CheckpointBody {
  readonly note: string;
  readonly facts: SessionFacts;
  /** The last events before it, so that it outlives the log; the oldest first. */
  readonly trail: readonly TrailEntry[];
  readonly madeWith: Versions;
  readonly files: SavedFiles;
}

/** The files of the project at a checkpoint. */
export interface SavedFiles {
  /** A list in the undo store of the project; null if they are not kept. */
  readonly tree: string | null;
  /** Why they are not kept; otherwise empty. */
  readonly why: string;
  /** What the list does not hold, as `path: why`; at most 20 of `uncoveredCount`. */
  readonly uncovered: readonly string[];
  readonly uncoveredCount: number;
}

/** An event, as a checkpoint keeps it. */
export interface TrailEntry {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly text: string;
}

/** What a session ran with. */
export interface Versions {
  readonly contextd: string;
  /** The beginning of the hash of the configuration. */
  readonly config: string;
  readonly tools: Readonly<Record<string, string>>;
}

export type Checkpoint = CheckpointHead & { readonly body: CheckpointBody };

/** Detects damage. It is no signature: anyone can make a file with the right checksum. */
export function checksumOf(bodyJson: string, head: { name: string; createdMs: number; position: number }): string {
  const { name, createdMs, position } = head;
  return createHash('sha256')
    .update(JSON.stringify([name, createdMs, position]))
    .update(bodyJson)
    .digest('hex');
}

export interface SealedBody {
  readonly format: number;
  readonly json: string;
  readonly sha256: string;
}

/** Throws VERSION_MISMATCH for a later format, INTEGRITY_FAILED for other bytes than were saved. */
export function openBody(
  what: string,
  head: { name: string; createdMs: number; position: number },
  { format, json, sha256 }: SealedBody,
): CheckpointBody {
  if (format > CHECKPOINT_FORMAT) {
    throw new ContextdError(
      'VERSION_MISMATCH',
      `${what} has format ${format}, and this contextd reads ${CHECKPOINT_FORMAT}`,
      {
        remedy: 'Use it with the contextd that saved it, or with a newer one.',
      },
    );
  }
  if (checksumOf(json, head) !== sha256) throw damaged(what, 'its checksum does not match');
  return readBody(what, JSON.parse(json));
}

/** Throws INTEGRITY_FAILED. */
export function readBody(what: string, body: Json): CheckpointBody {
  const value = objectOf(what, body);
  const { note, facts, trail, made_with: madeWith, files } = value;
  if (typeof note !== 'string' || !Array.isArray(trail)) throw damaged(what, 'it has no note or no events');
  return {
    note,
    facts: readFacts(objectOf(what, facts)),
    trail: trail.map((entry) => readEntry(objectOf(what, entry))),
    madeWith: readVersions(objectOf(what, madeWith)),
    files: readFiles(isJsonObject(files) ? files : {}),
  };
}

/** The body as it is stored. */
export function renderBody({ note, facts, trail, madeWith, files }: CheckpointBody): string {
  const { tree, why, uncovered, uncoveredCount } = files;
  const kept = { tree, why, uncovered, uncovered_count: uncoveredCount };
  return JSON.stringify({ note, facts, trail, made_with: madeWith, files: kept });
}

function readFiles({ tree, why, uncovered, uncovered_count: uncoveredCount }: JsonObject): SavedFiles {
  const known = typeof tree === 'string' && TREE_PATTERN.test(tree) ? tree : null;
  return {
    tree: known,
    why: known === null ? textOf(why) || 'it holds none' : '',
    uncovered: textsOf(uncovered),
    uncoveredCount: numberOf(uncoveredCount),
  };
}

function readFacts(facts: JsonObject): SessionFacts {
  return {
    calls: numberOf(facts.calls),
    failures: numberOf(facts.failures),
    tokens: numberOf(facts.tokens),
    files: textsOf(facts.files),
    failing: textsOf(facts.failing),
    branches: textsOf(facts.branches),
    todo: textsOf(facts.todo),
    asked: textOf(facts.asked),
    answered: textOf(facts.answered),
  };
}

function readEntry({ seq, at, kind, text }: JsonObject): TrailEntry {
  return { seq: numberOf(seq), at: numberOf(at), kind: textOf(kind), text: textOf(text) };
}

function readVersions({ contextd, config, tools }: JsonObject): Versions {
  const entries = Object.entries(isJsonObject(tools) ? tools : {});
  return {
    contextd: textOf(contextd),
    config: textOf(config),
    tools: Object.fromEntries(entries.map(([name, version]) => [name, textOf(version)])),
  };
}

function objectOf(what: string, value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw damaged(what, 'a part of it is no object');
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function damaged(what: string, why: string): ContextdError {
  return new ContextdError('INTEGRITY_FAILED', `${what} is damaged: ${why}`, {
    remedy: 'Use another checkpoint; checkpoint_list shows them.',
  });
}
