import { type Database, integerOf, type Row, textOf } from '../../stores/sqlite.ts';
import type { Memory, MemoryOrigin, MemoryOutcome, MemoryScope } from './item.ts';
import { meanOf } from './learn.ts';

/** What a search may find. */
export interface MemoryFilter {
  /** Items have all of these tags. */
  readonly tags: readonly string[];
  readonly outcome: MemoryOutcome | null;
  /** Null: both. */
  readonly scope: MemoryScope | null;
  /** Only items that changed at or after it; milliseconds since the epoch. */
  readonly sinceMs: number;
  /** True: no items of installed tools. Default: false. */
  readonly withoutTools?: boolean;
  /** True: no distilled items that have not helped yet. Default: false. */
  readonly confirmedOnly?: boolean;
}

export const NO_FILTER: MemoryFilter = { tags: [], outcome: null, scope: null, sinceMs: 0 };

/** A memory without the rest of a long content, and how well it fits. */
export interface FoundMemory {
  readonly memory: Memory;
  /** Larger is better; 0 if nothing was searched for. */
  readonly relevance: number;
  /** The share of the query's words that it has, rare words counting more: from 0 to 1. */
  readonly coverage: number;
}

/** Sequence numbers of one project; of global memories the project is number 0. */
export const SEQS_PER_PROJECT = 2 ** 32;
/** Characters of a content that a search returns. */
export const EXCERPT_CHARS = 600;
const FIELDS = [
  'id',
  'project',
  'scope',
  'title',
  'description',
  'tags',
  'outcome',
  'task',
  'context',
  'origin',
  'is_distilled',
  'owner',
  'source',
  'provenance',
  'contradicts',
  'alpha',
  'beta',
  'uses',
  'is_quarantined',
  'replaced_by',
  'created_ms',
  'updated_ms',
  'used_ms',
];
/** Every column of `items` but the content, as SQL. */
export const COLUMNS = `${FIELDS.map((name) => `items.${name}`).join(', ')},
  (SELECT json_group_array(old.id ORDER BY old.seq) FROM items old
    WHERE old.replaced_by = items.id AND old.replaced_by <> '') AS replaces`;

/** The beginning of the content, as a column. */
export const excerpt = `substr(items.content, 1, ${EXCERPT_CHARS}) AS content`;

/** The numbers of one project's memories. */
export function seqRange(number: number): { first: number; last: number } {
  return { first: number * SEQS_PER_PROJECT, last: (number + 1) * SEQS_PER_PROJECT - 1 };
}

/** Where the memories lie that a search of this project may find. */
export function rangesOf(number: number, { scope }: MemoryFilter): { first: number; last: number }[] {
  return [...(scope === 'global' ? [] : [seqRange(number)]), ...(scope === 'project' ? [] : [seqRange(0)])];
}

/** The next free number of a project, as SQL. */
export function nextSeq(number: number): string {
  const { first, last } = seqRange(number);
  return `(SELECT coalesce(max(seq) + 1, ${first + 1}) FROM items WHERE seq BETWEEN ${first} AND ${last})`;
}

/** Conditions on `items` with the parameters ?5 to ?7; without any, an empty text. */
export function filterSql({ tags, outcome, sinceMs, withoutTools = false, confirmedOnly = false }: MemoryFilter) {
  const params = [JSON.stringify(tags), outcome ?? '', sinceMs];
  if (tags.length === 0 && outcome === null && sinceMs === 0 && !withoutTools && !confirmedOnly)
    return { conditions: '', params: [] };
  return {
    conditions: `${withoutTools ? "AND items.origin <> 'tool'" : ''}
      ${confirmedOnly ? 'AND (items.is_distilled = 0 OR items.alpha > items.beta)' : ''} AND (?6 = '' OR items.outcome = ?6) AND items.updated_ms >= ?7
      AND NOT EXISTS (SELECT 1 FROM json_each(?5) wanted
        WHERE NOT EXISTS (SELECT 1 FROM json_each(items.tags) own WHERE own.value = wanted.value))`,
    params,
  };
}

/** A row of `items` with a `content`. */
export function toMemory(row: Row): Memory {
  return {
    id: textOf(row, 'id'),
    project: textOf(row, 'project'),
    scope: textOf(row, 'scope') === 'global' ? 'global' : 'project',
    title: textOf(row, 'title'),
    description: textOf(row, 'description'),
    content: textOf(row, 'content'),
    tags: listIn(row, 'tags'),
    outcome: outcomeIn(row),
    task: textOf(row, 'task'),
    context: textOf(row, 'context'),
    origin: originIn(row),
    owner: textOf(row, 'owner'),
    source: textOf(row, 'source'),
    provenance: listIn(row, 'provenance'),
    contradicts: listIn(row, 'contradicts'),
    confidence: meanOf({ alpha: numberOf(row, 'alpha'), beta: numberOf(row, 'beta') }),
    uses: integerOf(row, 'uses'),
    isQuarantined: integerOf(row, 'is_quarantined') !== 0,
    replaces: listIn(row, 'replaces'),
    replacedBy: textOf(row, 'replaced_by'),
    createdMs: integerOf(row, 'created_ms'),
    updatedMs: integerOf(row, 'updated_ms'),
    usedMs: row.used_ms === null ? null : integerOf(row, 'used_ms'),
  };
}

/** SQLite gives a number as it is, whole or not. */
export const numberOf = integerOf;

function listIn(row: Row, column: string): string[] {
  const value: unknown = JSON.parse(textOf(row, column));
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function outcomeIn(row: Row): MemoryOutcome {
  const outcome = textOf(row, 'outcome');
  return outcome === 'success' || outcome === 'failure' ? outcome : 'mixed';
}

function originIn(row: Row): MemoryOrigin {
  const origin = textOf(row, 'origin');
  if (integerOf(row, 'is_distilled') === 1) return 'distilled';
  return origin === 'person' || origin === 'model' || origin === 'tool' ? origin : 'import';
}

/** Whole memories of any project, in any order; those that are missing are left out. */
export async function readMemories(database: Pick<Database, 'read'>, ids: readonly string[]): Promise<Memory[]> {
  const rows = await database.read(
    `SELECT ${COLUMNS}, items.content FROM items WHERE id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  );
  return rows.map(toMemory);
}

/** The number of a project, which is given at its first use. */
export async function numberOfProject(database: Pick<Database, 'write'>, project: string): Promise<number> {
  const [, rows = []] = await database.write([
    { sql: 'INSERT OR IGNORE INTO projects (root) VALUES (?)', params: [project] },
    { sql: 'SELECT number FROM projects WHERE root = ?', params: [project] },
  ]);
  return integerOf(rows[0] ?? {}, 'number');
}
