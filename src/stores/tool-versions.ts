import { type Database, integerOf, type Row, type Statement, textOf } from './sqlite.ts';

/** Where the bytes of an installed tool came from. Unknown and unused fields are "". */
export interface ToolOriginFacts {
  /** As a person would type it, without credentials. */
  source: string;
  /** The commit of a git repository. */
  commit: string;
  /** SHA-256 of an archive, hex. */
  archiveSha256: string;
  /** Who signed it, as verified. */
  signer: string;
}

/** One version of an installed tool that a person accepted for a project. */
export interface ToolVersion extends ToolOriginFacts {
  project: string;
  name: string;
  bundleSha256: string;
  grants: readonly string[];
  /** Milliseconds since the epoch. */
  acceptedMs: number;
}

/** Versions of one tool that a project keeps: the current one, and those that a rollback can return to. */
const KEPT = 5;

/**
 * The versions of installed tools that projects accepted, the newest first. What may run is decided by the consents of the
 * project alone; this says where it came from and what was there before. The statements are meant for the transaction that
 * changes the consents.
 */
export interface ToolVersions {
  of(project: string): Promise<readonly ToolVersion[]>;
  /** The hashes of all bundles that a project may still use or return to. */
  hashes(): Promise<ReadonlySet<string>>;
  add(version: ToolVersion): readonly Statement[];
  /** Forgets every later version of the same tool, so that this one is the newest. */
  keepUpTo(version: Pick<ToolVersion, 'project' | 'name' | 'acceptedMs'>): readonly Statement[];
  /** Forgets every version of the tool. */
  remove(project: string, name: string): readonly Statement[];
  forget(project: string): Promise<void>;
}

export function createToolVersions({ database }: { database: Database }): ToolVersions {
  return {
    async of(project) {
      const sql = 'SELECT * FROM tool_versions WHERE project = ? ORDER BY name, accepted_ms DESC';
      return (await database.read(sql, project)).map(toVersion);
    },
    async hashes() {
      const rows = await database.read('SELECT DISTINCT bundle_sha256 FROM tool_versions');
      return new Set(rows.map((row) => textOf(row, 'bundle_sha256')));
    },
    add(version) {
      const { project, name, bundleSha256, source, commit, archiveSha256, signer, grants, acceptedMs } = version;
      const columns = [
        'project',
        'name',
        'accepted_ms',
        'bundle_sha256',
        'source',
        'commit_id',
        'archive_sha256',
        'signer',
        'grants',
      ];
      const old = `SELECT accepted_ms FROM tool_versions WHERE project = ? AND name = ? ORDER BY accepted_ms DESC LIMIT ${KEPT}`;
      return [
        {
          sql: `INSERT OR REPLACE INTO tool_versions (${columns.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          params: [
            project,
            name,
            acceptedMs,
            bundleSha256,
            source,
            commit,
            archiveSha256,
            signer,
            JSON.stringify(grants),
          ],
        },
        {
          sql: `DELETE FROM tool_versions WHERE project = ? AND name = ? AND accepted_ms NOT IN (${old})`,
          params: [project, name, project, name],
        },
      ];
    },
    keepUpTo: ({ project, name, acceptedMs }) => [
      {
        sql: 'DELETE FROM tool_versions WHERE project = ? AND name = ? AND accepted_ms > ?',
        params: [project, name, acceptedMs],
      },
    ],
    remove: (project, name) => [
      { sql: 'DELETE FROM tool_versions WHERE project = ? AND name = ?', params: [project, name] },
    ],
    async forget(project) {
      await database.write([{ sql: 'DELETE FROM tool_versions WHERE project = ?', params: [project] }]);
    },
  };
}

function toVersion(row: Row): ToolVersion {
  const grants: unknown = JSON.parse(textOf(row, 'grants'));
  const isList = Array.isArray(grants) && grants.every((grant) => typeof grant === 'string');
  return {
    project: textOf(row, 'project'),
    name: textOf(row, 'name'),
    bundleSha256: textOf(row, 'bundle_sha256'),
    source: textOf(row, 'source'),
    commit: textOf(row, 'commit_id'),
    archiveSha256: textOf(row, 'archive_sha256'),
    signer: textOf(row, 'signer'),
    // The consents decide; a damaged list only shows fewer grants.
    grants: isList ? grants : [],
    acceptedMs: integerOf(row, 'accepted_ms'),
  };
}
