import type { Clock } from '../core/clock.ts';
import { textOf } from './rows.ts';
import type { Database } from './sqlite.ts';

/** Which `.gitleaks.toml` a person approved for a project, by its hash. In memory too: asked on every call. */
export interface RuleApprovals {
  start(): Promise<void>;
  isApproved(root: string, sha256: string): boolean;
  /** Takes the place of an earlier approval. The project must be registered. */
  approve(root: string, sha256: string): Promise<void>;
  /** False when there was none. */
  revoke(root: string): Promise<boolean>;
}

export function createRuleApprovals({ database, clock }: { database: Database; clock: Clock }): RuleApprovals {
  const approved = new Map<string, string>();
  return {
    async start() {
      for (const row of await database.read('SELECT root, sha256 FROM rule_approvals'))
        approved.set(textOf(row, 'root'), textOf(row, 'sha256'));
    },
    isApproved: (root, sha256) => approved.get(root) === sha256,
    async approve(root, sha256) {
      const sql = 'INSERT OR REPLACE INTO rule_approvals (root, sha256, approved_ms) VALUES (?, ?, ?)';
      await database.write([{ sql, params: [root, sha256, clock.now()] }]);
      approved.set(root, sha256);
    },
    async revoke(root) {
      await database.write([{ sql: 'DELETE FROM rule_approvals WHERE root = ?', params: [root] }]);
      return approved.delete(root);
    },
  };
}
