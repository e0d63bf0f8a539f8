import { type Database, integerOf, type Row, textOf } from '../../stores/sqlite.ts';
import type { Branch, Closing, FilesState, OpenBranch } from './branch.ts';
import { NO_RESOLUTIONS, type Resolutions } from './files/merge-plan.ts';

/** Milliseconds for which closed branches are kept. */
const KEEP_MS = 14 * 24 * 3_600_000;

/** A call of a branch, with the token count of its answer. */
export interface BranchCall {
  readonly requestId: string;
  readonly tool: string;
  readonly tokens: number;
}

/** An open or a closed branch. */
export interface ListedBranch extends OpenBranch {
  readonly calls: number;
  /** '' for an open branch. */
  readonly closedBy: string;
  readonly closedMs: number | null;
}

/** State of a branch's own files. */
export interface StoredFiles {
  readonly state: FilesState;
  /** Resolutions of a merge that has begun. */
  readonly stored: Resolutions;
  /** The list of the project's files when the branch was opened, in the undo store; '' if it was not kept. */
  readonly tree: string;
}

/** Maximum number of branches in a list. */
const LISTED_MAX = 1_000;

/** Branches in the state database, so that they survive a restart. */
export class BranchStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The open branches, oldest first. Deletes branches that were closed more than two weeks ago. */
  async load(nowMs: number): Promise<OpenBranch[]> {
    const params = [nowMs - KEEP_MS];
    await this.#database.write([
      { sql: 'DELETE FROM branch_calls WHERE branch IN (SELECT id FROM branches WHERE closed_ms < ?)', params },
      { sql: 'DELETE FROM branches WHERE closed_ms < ?', params },
    ]);
    const rows = await this.#database.read(
      `SELECT *, (SELECT coalesce(sum(tokens), 0) FROM branch_calls WHERE branch = id) AS spent_tokens
       FROM branches WHERE closed_ms IS NULL ORDER BY opened_ms, id`,
    );
    return rows.map((row) => ({
      ...toBranch(row),
      spentTokens: integerOf(row, 'spent_tokens'),
      filesState: stateOf(row),
    }));
  }

  async add(branch: Branch): Promise<void> {
    const { id, project, session, parent, description, brief, budgetTokens, timeoutMs, openedMs, files } = branch;
    await this.#database.write([
      {
        sql: `INSERT INTO branches (id, project, session, parent, description, brief, budget_tokens, timeout_ms, opened_ms,
              files, closed_ms, closed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, '')`,
        params: [id, project, session, parent ?? '', description, brief, budgetTokens, timeoutMs, openedMs, files],
      },
    ]);
  }

  /** Deletes a branch that could not be opened. */
  async remove(id: string): Promise<void> {
    await this.#database.write([{ sql: 'DELETE FROM branches WHERE id = ?', params: [id] }]);
  }

  async addCall(branch: string, { requestId, tool, tokens }: BranchCall): Promise<void> {
    await this.#database.write([
      {
        sql: `INSERT INTO branch_calls (branch, request_id, tool, tokens) VALUES (?1, ?2, ?3, ?4)
              ON CONFLICT (branch, request_id) DO UPDATE SET tokens = tokens + ?4`,
        params: [branch, requestId, tool, tokens],
      },
    ]);
  }

  /** The calls of a branch, oldest first. */
  async calls(branch: string): Promise<BranchCall[]> {
    const sql = 'SELECT request_id, tool, tokens FROM branch_calls WHERE branch = ? ORDER BY request_id';
    const rows = await this.#database.read(sql, branch);
    return rows.map((row) => ({
      requestId: textOf(row, 'request_id'),
      tool: textOf(row, 'tool'),
      tokens: integerOf(row, 'tokens'),
    }));
  }

  /** Closes all of them or none. */
  async close(closed: readonly { id: string; by: Closing }[], nowMs: number): Promise<void> {
    await this.#database.write(
      closed.map(({ id, by }) => ({
        sql: 'UPDATE branches SET closed_ms = ?, closed_by = ? WHERE id = ? AND closed_ms IS NULL',
        params: [nowMs, by, id],
      })),
    );
  }

  /** The branches of a project, open ones first, then newest first. */
  async list(project: string): Promise<ListedBranch[]> {
    const rows = await this.#database.read(
      `SELECT *, (SELECT count(*) FROM branch_calls WHERE branch = id) AS calls,
       (SELECT coalesce(sum(tokens), 0) FROM branch_calls WHERE branch = id) AS spent_tokens
       FROM branches WHERE project = ? ORDER BY closed_ms IS NOT NULL, opened_ms DESC, id LIMIT ${LISTED_MAX}`,
      project,
    );
    return rows.map((row) => ({
      ...toBranch(row),
      spentTokens: integerOf(row, 'spent_tokens'),
      calls: integerOf(row, 'calls'),
      filesState: stateOf(row),
      closedBy: textOf(row, 'closed_by'),
      closedMs: row.closed_ms === null ? null : integerOf(row, 'closed_ms'),
    }));
  }

  /** Null if the branch has no files of its own. */
  async files(id: string): Promise<StoredFiles | null> {
    const sql = "SELECT files_state, resolutions, base_tree FROM branches WHERE id = ? AND files_state <> ''";
    const [row] = await this.#database.read(sql, id);
    if (row === undefined) return null;
    const resolutions = textOf(row, 'resolutions');
    return {
      state: stateOf(row) ?? 'open',
      // Written by `setFiles`.
      stored: resolutions === '' ? NO_RESOLUTIONS : JSON.parse(resolutions),
      tree: textOf(row, 'base_tree'),
    };
  }

  async openFiles(id: string, tree: string): Promise<void> {
    const sql = "UPDATE branches SET files_state = 'open', base_tree = ? WHERE id = ?";
    await this.#database.write([{ sql, params: [tree, id] }]);
  }

  async setFiles(id: string, state: FilesState, resolutions: Resolutions): Promise<void> {
    const sql = 'UPDATE branches SET files_state = ?, resolutions = ? WHERE id = ?';
    await this.#database.write([{ sql, params: [state, JSON.stringify(resolutions), id] }]);
  }

  /** Branches closed more than two weeks ago whose files are still kept. */
  async expired(nowMs: number): Promise<Pick<Branch, 'id' | 'project' | 'session'>[]> {
    const sql = "SELECT * FROM branches WHERE closed_ms < ? AND files_state IN ('open', 'merging')";
    return (await this.#database.read(sql, nowMs - KEEP_MS)).map(toBranch);
  }

  /** Branches whose files are kept. */
  async withFiles(): Promise<{ project: string; branch: string }[]> {
    const rows = await this.#database.read("SELECT id, project FROM branches WHERE files_state IN ('open', 'merging')");
    return rows.map((row) => ({ project: textOf(row, 'project'), branch: textOf(row, 'id') }));
  }

  /** How a branch of the session was closed ('' if it is open); null if the session never had it. */
  async closing(project: string, session: string, id: string): Promise<string | null> {
    const sql = 'SELECT closed_by FROM branches WHERE id = ? AND project = ? AND session = ?';
    const [row] = await this.#database.read(sql, id, project, session);
    return row === undefined ? null : textOf(row, 'closed_by');
  }
}

/** Null for a branch without files of its own. */
function stateOf(row: Row): FilesState | null {
  const state = textOf(row, 'files_state');
  return state === 'open' || state === 'merging' || state === 'merged' || state === 'discarded' ? state : null;
}

function toBranch(row: Row): Branch {
  return {
    id: textOf(row, 'id'),
    project: textOf(row, 'project'),
    session: textOf(row, 'session'),
    parent: textOf(row, 'parent') || null,
    description: textOf(row, 'description'),
    brief: textOf(row, 'brief'),
    budgetTokens: integerOf(row, 'budget_tokens'),
    timeoutMs: integerOf(row, 'timeout_ms'),
    openedMs: integerOf(row, 'opened_ms'),
    files: textOf(row, 'files') === 'own' ? 'own' : 'shared',
  };
}
