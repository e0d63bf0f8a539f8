import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { OutputGap } from '../core/gap.ts';
import { ARTIFACT_ID_PATTERN, newArtifactId } from '../core/ids.ts';
import { KeyedLock } from '../core/lock.ts';
import type { Logger } from '../core/log.ts';
import { ArtifactFiles, fromArtifactFault } from './artifact-files.ts';
import { ArtifactPruner, removeContent } from './artifact-pruner.ts';
import {
  type ArtifactPart,
  growArtifact,
  insertArtifact,
  insertBody,
  insertContent,
  type NewContent,
  parseParts,
  renderParts,
  sumBytes,
  updateArtifact,
} from './artifact-rows.ts';
import type { DaemonKeys } from './keys.ts';
import { bytesOf, type Database, integerOf, type Row, type Statement, textOf } from './sqlite.ts';

export type { ArtifactPart } from './artifact-rows.ts';

/** Contents up to this size in bytes are stored in the database, in the group-committed transaction of their put. */
export const SMALL_MAX_BYTES = 64 * 1024;
/** Minimum milliseconds between two records of the last use of a content. */
const TOUCH_MS = 60_000;

export interface ArtifactStream {
  field: string;
  text: string;
  /** The gap in the middle. Default: none. */
  gap?: OutputGap;
  /** True for the `data` of an answer, as JSON. */
  isData?: true;
}

export interface ArtifactInfo {
  parts: readonly ArtifactPart[];
  bytes: number;
  /** Bytes beyond `output_max` that were never stored. */
  droppedBytes: number;
  tool: string;
  /** How often its text was replaced. A cursor into an earlier text is not valid for a later one. */
  revision: number;
}

/** An artifact that is being written. */
export interface NewArtifact {
  /** `art_…`. It must not leave the daemon before the artifact is committed. */
  id: string;
  /** Resolves when the artifact is complete and handed to the operating system. Errors: STORAGE_FULL. */
  committed: Promise<void>;
}

/** Stores complete scrubbed outputs. An artifact belongs to the session that made it and does not exist for others. */
export interface ArtifactStore {
  start(): Promise<void>;
  /** Waits for a running prune. */
  stop(): Promise<void>;
  /** `command` identifies the work that the call was asked to do, for `previous`. Null: not the output of a call. */
  put(
    session: SessionRef,
    requestId: string,
    tool: string,
    streams: readonly ArtifactStream[],
    droppedBytes: number,
    command?: string | null,
  ): NewArtifact;
  /** Id of the output that a call of the session stored, or null. */
  ofCall(session: SessionRef, requestId: string): Promise<string | null>;
  /** Id of the last earlier output of the same tool with the same command in the same session, or null. */
  previous(session: SessionRef, id: string): Promise<string | null>;
  /**
   * Replaces the texts of an artifact, because more of them is masked now. Cursors into the old texts become EXPIRED,
   * because they hold byte offsets of those. Errors: NOT_FOUND, EXPIRED, STORAGE_FULL.
   */
  replace(session: SessionRef, id: string, streams: readonly ArtifactStream[]): Promise<void>;
  /** Like `replace`, for texts that only grew at the end of the last one: cursors stay valid. */
  grow(session: SessionRef, id: string, streams: readonly ArtifactStream[], droppedBytes: number): Promise<void>;
  /** Runs `work`, which reads an artifact and then changes it. Works on the same artifact run one after another. */
  exclusively<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Errors: NOT_FOUND (including artifacts of other sessions), EXPIRED. */
  info(session: SessionRef, id: string): Promise<ArtifactInfo>;
  /** Bytes `[start, end)`; an `end` past the last byte is capped. Errors: NOT_FOUND, EXPIRED, ARGS_INVALID. */
  read(session: SessionRef, id: string, start: number, end: number): Promise<Buffer>;
  /** Removes old artifacts, then the least recently used ones while over the quota. Returns the number removed. */
  prune(): Promise<number>;
}

export interface ArtifactDeps {
  database: Database;
  keys: DaemonKeys;
  /** Paths.artifactsDir. */
  dir: string;
  /** Config.artifacts. */
  limits: { max_age_days: number; max_bytes: number };
  clock: Clock;
  logger: Logger;
}

type PointToContent = (content: NewContent, hash: Buffer) => Statement;

export function createArtifactStore(deps: ArtifactDeps): ArtifactStore {
  return new Artifacts(deps);
}

class Artifacts implements ArtifactStore {
  readonly #deps: ArtifactDeps;
  #parts: { files: ArtifactFiles; pruner: ArtifactPruner } | undefined;
  /** By artifact id, for `exclusively`. */
  readonly #changing = new KeyedLock();

  constructor(deps: ArtifactDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const files = new ArtifactFiles(this.#deps.dir, this.#deps.keys.derive('content'));
    try {
      await files.prepare();
    } catch (error) {
      throw fromArtifactFault(error, this.#deps.dir);
    }
    const pruner = new ArtifactPruner({ ...this.#deps, files });
    await pruner.start();
    this.#parts = { files, pruner };
  }

  async stop(): Promise<void> {
    await this.#parts?.pruner.stop();
  }

  put(
    session: SessionRef,
    requestId: string,
    tool: string,
    streams: readonly ArtifactStream[],
    droppedBytes: number,
    command: string | null = null,
  ): NewArtifact {
    const id = newArtifactId();
    const tag = this.#tagOf(session);
    const commandTag = command === null ? null : this.#deps.keys.derive('command', `${tool}\0${command}`);
    const committed = this.#keep(streams, (content, hash) =>
      insertArtifact({ ...content, id, session: tag, requestId, tool, droppedBytes, commandTag }, hash),
    );
    // A failure before anyone waits must not end the process. A later waiter still gets it.
    committed.catch(() => {});
    return { id, committed };
  }

  async previous(session: SessionRef, id: string): Promise<string | null> {
    const tag = this.#tagOf(session);
    const [row] = await this.#deps.database.read(
      `SELECT earlier.id FROM artifacts AS this JOIN artifacts AS earlier
         ON earlier.session = this.session AND earlier.command = this.command
         AND (earlier.created_ms, earlier.request_id) < (this.created_ms, this.request_id)
       WHERE this.id = ? AND this.session = ? ORDER BY earlier.created_ms DESC, earlier.request_id DESC LIMIT 1`,
      id,
      tag,
    );
    return row === undefined ? null : textOf(row, 'id');
  }

  async ofCall(session: SessionRef, requestId: string): Promise<string | null> {
    const [row] = await this.#deps.database.read(
      'SELECT id FROM artifacts WHERE session = ? AND command IS NOT NULL AND request_id = ?',
      this.#tagOf(session),
      requestId,
    );
    return row === undefined ? null : textOf(row, 'id');
  }

  replace(session: SessionRef, id: string, streams: readonly ArtifactStream[]): Promise<void> {
    return this.#change(session, id, streams, (content, hash) => updateArtifact(id, content, hash));
  }

  grow(session: SessionRef, id: string, streams: readonly ArtifactStream[], droppedBytes: number): Promise<void> {
    return this.#change(session, id, streams, (content, hash) => growArtifact(id, content, hash, droppedBytes));
  }

  exclusively<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#changing.run(id, work);
  }

  async info(session: SessionRef, id: string): Promise<ArtifactInfo> {
    const row = await this.#find(
      session,
      id,
      `SELECT parts, dropped_bytes, tool, revision, used_ms, content FROM artifacts JOIN contents ON contents.id = content
       WHERE artifacts.id = ? AND session = ?`,
    );
    await this.#touch(row);
    const parts = parseParts(textOf(row, 'parts'));
    return {
      parts,
      bytes: sumBytes(parts),
      droppedBytes: integerOf(row, 'dropped_bytes'),
      tool: textOf(row, 'tool'),
      revision: integerOf(row, 'revision'),
    };
  }

  async read(session: SessionRef, id: string, start: number, end: number): Promise<Buffer> {
    checkRange(start, end);
    const row = await this.#find(
      session,
      id,
      `SELECT hash, bytes, in_file, used_ms, content, coalesce(substr(body, ?3, ?4), x'') AS slice
       FROM artifacts JOIN contents ON contents.id = content LEFT JOIN bodies USING (content)
       WHERE artifacts.id = ?1 AND session = ?2`,
      [start + 1, end - start],
    );
    await this.#touch(row);
    if (integerOf(row, 'in_file') === 0) return bytesOf(row, 'slice');
    return this.#readFile(row, id, start, end);
  }

  prune(): Promise<number> {
    return this.#ready().pruner.prune();
  }

  /** Replaces the texts of an artifact and removes the old ones. */
  async #change(
    session: SessionRef,
    id: string,
    streams: readonly ArtifactStream[],
    point: PointToContent,
  ): Promise<void> {
    const row = await this.#find(session, id, 'SELECT content FROM artifacts WHERE id = ? AND session = ?');
    await this.#keep(streams, point);
    const { files } = this.#ready();
    await removeContent({ database: this.#deps.database, files }, integerOf(row, 'content'));
  }

  /** Stores the texts. `point` returns the statement that points an artifact at them. */
  async #keep(streams: readonly ArtifactStream[], point: PointToContent): Promise<void> {
    const parts = streams.map(({ text, ...stream }) => ({ ...stream, bytes: Buffer.byteLength(text) }));
    const bytes = sumBytes(parts);
    const content = { parts: renderParts(parts), bytes, nowMs: this.#deps.clock.now() };
    const texts = streams.map((stream) => stream.text);
    await (bytes <= SMALL_MAX_BYTES ? this.#putRow(content, texts, point) : this.#putFile(content, texts, point));
    this.#ready().pruner.add(bytes);
  }

  async #putRow(content: NewContent, texts: readonly string[], point: PointToContent): Promise<void> {
    const hash = this.#ready().files.hashOf(texts);
    const body = Buffer.concat(texts.map((text) => Buffer.from(text, 'utf8')));
    await this.#deps.database.write([insertContent(content, hash, 0), insertBody(hash, body), point(content, hash)]);
  }

  async #putFile(content: NewContent, texts: readonly string[], point: PointToContent): Promise<void> {
    const { files, pruner } = this.#ready();
    try {
      const staged = await files.stage(texts);
      await files.withContent(staged.hash, async () => {
        await files.publish(staged);
        await this.#deps.database.write([insertContent(content, staged.hash, 1), point(content, staged.hash)]);
      });
    } catch (error) {
      pruner.expectOrphans();
      throw fromArtifactFault(error, this.#deps.dir);
    }
  }

  async #readFile(row: Row, id: string, start: number, end: number): Promise<Buffer> {
    const bytes = integerOf(row, 'bytes');
    const last = Math.min(end, bytes);
    const slice = await this.#ready().files.read(bytesOf(row, 'hash'), bytes, Math.min(start, last), last);
    if (slice === null) throw expiredArtifact(id);
    return slice;
  }

  async #find(session: SessionRef, id: string, sql: string, more: readonly number[] = []): Promise<Row> {
    if (!ARTIFACT_ID_PATTERN.test(id)) throw unknownArtifact(id);
    const tag = this.#tagOf(session);
    const [row] = await this.#deps.database.read(sql, id, tag, ...more);
    if (row) return row;
    const [tombstone] = await this.#deps.database.read(
      'SELECT id FROM tombstones WHERE id = ? AND session = ?',
      id,
      tag,
    );
    throw tombstone ? expiredArtifact(id) : unknownArtifact(id);
  }

  /** Records the use of a content. A failure (a full disk) does not fail the read. */
  async #touch(row: Row): Promise<void> {
    const nowMs = this.#deps.clock.now();
    if (integerOf(row, 'used_ms') > nowMs - TOUCH_MS) return;
    const sql = 'UPDATE contents SET used_ms = ? WHERE id = ?';
    try {
      await this.#deps.database.write([{ sql, params: [nowMs, integerOf(row, 'content')] }]);
    } catch (error) {
      this.#deps.logger.warn('artifacts.touch_failed', { code: ContextdError.from(error).code });
    }
  }

  #tagOf(session: SessionRef): Buffer {
    return this.#deps.keys.derive('session', sessionKey(session)).subarray(0, 16);
  }

  #ready(): { files: ArtifactFiles; pruner: ArtifactPruner } {
    if (this.#parts === undefined) throw new Error('the artifact store is not started');
    return this.#parts;
  }
}

/** Reads all texts of an artifact. Errors: NOT_FOUND, EXPIRED. */
export async function readStreams(
  artifacts: ArtifactStore,
  session: SessionRef,
  id: string,
): Promise<ArtifactStream[]> {
  const { parts, bytes } = await artifacts.info(session, id);
  const body = await artifacts.read(session, id, 0, bytes);
  let at = 0;
  return parts.map(({ bytes: length, ...part }) => {
    const text = body.toString('utf8', at, at + length);
    at += length;
    return { ...part, text };
  });
}

function unknownArtifact(id: string): ContextdError {
  return new ContextdError('NOT_FOUND', `this session has no artifact ${id.slice(0, 40)}`, {
    remedy: 'Use an id from the refs of an answer of this session.',
  });
}

function expiredArtifact(id: string): ContextdError {
  return new ContextdError('EXPIRED', `artifact ${id} has expired and was removed`, {
    remedy: 'Run the command again.',
  });
}

function checkRange(start: number, end: number): void {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return;
  throw new ContextdError('ARGS_INVALID', `${start}-${end} is not a byte range of an artifact`, {
    remedy: 'Ask for 0 <= start <= end.',
    details: { start, end },
  });
}
