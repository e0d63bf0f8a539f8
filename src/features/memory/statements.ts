import { createHash } from 'node:crypto';
import type { Statement } from '../../stores/sqlite.ts';
import type { Memory, MemoryDraft, MemoryOrigin } from './item.ts';
import { PRIORS } from './learn.ts';
import { nextSeq } from './rows.ts';
import { indexRow, unindexRow } from './word-index.ts';

/** How a memory is made or changed; what is left out stays. */
export type MemoryChange = Partial<
  Pick<Memory, 'provenance' | 'contradicts' | 'tags' | 'isQuarantined' | 'replacedBy' | 'updatedMs'> & {
    alpha: number;
    beta: number;
    /** Added to alpha. */
    gainedAlpha: number;
  }
>;

/** A memory to insert: its text and who made it. */
export interface NewMemory extends MemoryDraft {
  readonly id: string;
  readonly project: string;
  readonly origin: MemoryOrigin;
  readonly owner: string;
  readonly source: string;
  readonly provenance: readonly string[];
  readonly contradicts: readonly string[];
  readonly nowMs: number;
}

/** Characters at the beginning of a session's tag that are the same for all sessions of a project. */
export const PROJECT_TAG_CHARS = 8;

/** The last statement returns the id of the item with this text: its own, or that of the one that was there already. */
export function insertion(item: NewMemory, number: number): Statement[] {
  const { alpha, beta } = PRIORS[item.origin];
  const values = {
    id: item.id,
    project: item.project,
    scope: 'project',
    title: item.title,
    description: item.description,
    content: item.content,
    tags: JSON.stringify(item.tags),
    outcome: item.outcome,
    task: item.task,
    context: item.context,
    ...originColumns(item.origin),
    owner: item.owner,
    source: item.source,
    provenance: JSON.stringify(item.provenance),
    contradicts: JSON.stringify(item.contradicts),
    alpha,
    beta,
    uses: 0,
    is_quarantined: 0,
    digest: digestOf(item),
    created_ms: item.nowMs,
    updated_ms: item.nowMs,
  };
  const names = Object.keys(values);
  return [
    {
      sql: `INSERT INTO items (seq, ${names.join(', ')}) SELECT ${nextSeq(number)}, ${names.map(() => '?').join(', ')}
        WHERE true ON CONFLICT (digest) DO NOTHING`,
      params: Object.values(values),
    },
    // An item that its owner has already has no row with this id.
    ...indexRow(item, number),
    { sql: `INSERT INTO outbox (op, id) SELECT 'put', id FROM items WHERE id = ?`, params: [item.id] },
    { sql: 'SELECT id FROM items WHERE digest = ?', params: [values.digest] },
  ];
}

/** An item's origin, as columns. */
export function originColumns(origin: MemoryOrigin): { origin: string; is_distilled: number } {
  return origin === 'distilled' ? { origin: 'model', is_distilled: 1 } : { origin, is_distilled: 0 };
}

/**
 * Each session counts once; on a global item each project, with the mean of its sessions: agents choose the names of their
 * sessions, and those of one project must not decide for all others.
 */
export function sumOfEvidence(id: string): Statement {
  return {
    sql: `WITH votes AS (
        SELECT substr(session, 1, ${PROJECT_TAG_CHARS}) AS project,
          weight * CASE outcome WHEN 'success' THEN 1.0 WHEN 'mixed' THEN 0.5 ELSE 0.0 END AS good, weight
        FROM feedback WHERE item = ?1
      ), projects AS (SELECT sum(good) AS good, sum(weight) AS count, max(weight) AS weight FROM votes GROUP BY project)
      SELECT alpha,
        (SELECT coalesce(sum(CASE scope WHEN 'global' THEN good / count * weight ELSE good END), 0.0) FROM projects) AS good,
        (SELECT coalesce(sum(CASE scope WHEN 'global' THEN weight ELSE count END), 0.0) FROM projects) AS count
      FROM items WHERE id = ?1`,
    params: [id],
  };
}

/** `number`: where the memory is indexed, its project's or 0. */
export function changeOf(
  memory: Memory,
  number: number,
  { provenance, contradicts, tags, alpha, beta, gainedAlpha, isQuarantined, replacedBy, updatedMs }: MemoryChange,
) {
  const nowQuarantined = isQuarantined ?? memory.isQuarantined;
  const changed = { ...memory, tags: tags ?? memory.tags };
  const isStale = memory.isQuarantined !== nowQuarantined || tags !== undefined || replacedBy !== undefined;
  return [
    {
      sql: `UPDATE items SET provenance = ?, contradicts = ?, tags = ?, alpha = coalesce(?, alpha) + ?, beta = coalesce(?, beta),
        is_quarantined = ?, replaced_by = ?, updated_ms = ? WHERE id = ?`,
      params: [
        ...[provenance ?? memory.provenance, contradicts ?? memory.contradicts, changed.tags].map((list) =>
          JSON.stringify(list),
        ),
        alpha ?? null,
        gainedAlpha ?? 0,
        beta ?? null,
        nowQuarantined ? 1 : 0,
        replacedBy ?? memory.replacedBy,
        updatedMs ?? memory.updatedMs,
        memory.id,
      ],
    },
    ...(isStale ? [...unindexRow(memory.id, number), ...indexRow(changed, number)] : []),
    outboxRow('put', memory.id),
  ];
}

/** One row for each item is enough: it names what to send, not what has changed. */
export function outboxRow(op: 'put' | 'delete', id: string): Statement {
  return { sql: 'INSERT OR REPLACE INTO outbox (op, id) VALUES (?, ?)', params: [op, id] };
}

export function digestOf({
  project,
  owner,
  title,
  description,
  content,
  tags,
  outcome,
  task,
  context,
}: Pick<NewMemory, 'project' | 'owner'> & MemoryDraft): Buffer {
  const fields = [project, owner, title, description, content, [...tags], outcome, task, context];
  return createHash('sha256').update(JSON.stringify(fields)).digest();
}
