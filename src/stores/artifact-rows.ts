import type { OutputGap } from '../core/gap.ts';
import type { Json } from '../core/json.ts';
import type { Statement } from './sqlite.ts';

/** One stream of an artifact. The artifact's bytes are its streams as UTF-8, one after another in this order. */
export interface ArtifactPart {
  field: string;
  bytes: number;
  /** What is missing in the middle. Default: nothing. */
  gap?: OutputGap;
  /** True for the `data` of an answer, as JSON. */
  isData?: true;
}

/** Texts that are about to be stored. */
export interface NewContent {
  /** JSON: `[[field, bytes], …]`, with the figures of a gap or `"data"` as a third item. */
  parts: string;
  bytes: number;
  nowMs: number;
}

/** An artifact that is about to be stored. */
interface ArtifactRow extends NewContent {
  id: string;
  session: Buffer;
  requestId: string;
  tool: string;
  droppedBytes: number;
  /** Tag of the command of the call, or null if the artifact is not the output of a call. */
  commandTag: Buffer | null;
}

/** Keeps a content that is already there, and marks it as used now. */
export function insertContent(row: NewContent, hash: Buffer, inFile: 0 | 1): Statement {
  return {
    sql: `INSERT INTO contents (hash, bytes, in_file, used_ms) VALUES (?, ?, ?, ?)
          ON CONFLICT (hash) DO UPDATE SET used_ms = excluded.used_ms`,
    params: [hash, row.bytes, inFile, row.nowMs],
  };
}

export function insertBody(hash: Buffer, body: Buffer): Statement {
  return {
    sql: 'INSERT INTO bodies SELECT id, ? FROM contents WHERE hash = ? ON CONFLICT DO NOTHING',
    params: [body, hash],
  };
}

export function insertArtifact(row: ArtifactRow, hash: Buffer): Statement {
  return {
    sql: `INSERT INTO artifacts (id, session, content, request_id, tool, parts, dropped_bytes, created_ms, command)
          SELECT ?, ?, id, ?, ?, ?, ?, ?, ? FROM contents WHERE hash = ?`,
    params: [
      row.id,
      row.session,
      row.requestId,
      row.tool,
      row.parts,
      row.droppedBytes,
      row.nowMs,
      row.commandTag,
      hash,
    ],
  };
}

/** Gives an artifact another content. Everything else stays. */
export function updateArtifact(id: string, { parts }: NewContent, hash: Buffer): Statement {
  return {
    sql: `UPDATE artifacts SET content = (SELECT id FROM contents WHERE hash = ?), parts = ?, revision = revision + 1
          WHERE id = ?`,
    params: [hash, parts, id],
  };
}

/** Gives an artifact a longer content. Cursors into the former one stay valid. */
export function growArtifact(id: string, { parts }: NewContent, hash: Buffer, droppedBytes: number): Statement {
  return {
    sql: `UPDATE artifacts SET content = (SELECT id FROM contents WHERE hash = ?), parts = ?, dropped_bytes = ?
          WHERE id = ?`,
    params: [hash, parts, droppedBytes, id],
  };
}

export function parseParts(text: string): ArtifactPart[] {
  const parsed: Json = JSON.parse(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.flatMap((part: Json) => {
    if (!Array.isArray(part)) return [];
    const [field, bytes, figures] = part;
    if (typeof field !== 'string' || typeof bytes !== 'number') return [];
    const gap = parseGap(figures);
    return [{ field, bytes, ...(gap === null ? {} : { gap }), ...(figures === DATA_MARK ? { isData: true } : {}) }];
  });
}

/** In the place of the figures of a gap: the part is the `data` of an answer. */
const DATA_MARK = 'data';

function parseGap(figures: Json | undefined): OutputGap | null {
  if (!Array.isArray(figures)) return null;
  const numbers = figures.map((figure: Json) => (typeof figure === 'number' ? figure : Number.NaN));
  const [start, end, bytes, firstLine, lastLine, nextLine] = numbers;
  if (start === undefined || end === undefined || bytes === undefined) return null;
  if (firstLine === undefined || lastLine === undefined || nextLine === undefined) return null;
  return { start, end, bytes, firstLine, lastLine, nextLine };
}

export function sumBytes(parts: readonly ArtifactPart[]): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}

export function renderParts(parts: readonly ArtifactPart[]): string {
  return JSON.stringify(
    parts.map(({ field, bytes, gap, isData }) => [
      field,
      bytes,
      ...(gap ? [figuresOf(gap)] : []),
      ...(isData ? [DATA_MARK] : []),
    ]),
  );
}

function figuresOf({ start, end, bytes, firstLine, lastLine, nextLine }: OutputGap): number[] {
  return [start, end, bytes, firstLine, lastLine, nextLine];
}
