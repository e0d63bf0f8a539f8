import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { compareText } from './consents.ts';
import { type Database, integerOf, textOf } from './sqlite.ts';

/** A person's rule: calls that it covers need a person's yes. */
export interface ApprovalRule {
  /** Unique, and never used again after the rule is removed. */
  readonly id: string;
  /** A project root, or '' for every project. */
  readonly scope: string;
  /** The name of a tool; `*` stands for any characters. */
  readonly tool: string;
  /** A RE2 pattern that the input must contain. '': any input. */
  readonly when: string;
  /** Why the person wants to be asked; may be empty. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly givenMs: number;
  /** The account that made it, as ctxd named it. */
  readonly givenBy: string;
}

export type NewApprovalRule = Omit<ApprovalRule, 'givenMs'>;

/** Kept in memory too, because every call asks. No file of a project is read. */
export interface ApprovalRules {
  start(): Promise<void>;
  /** All rules, oldest first. The same array until one changes. */
  list(): readonly ApprovalRule[];
  add(rule: NewApprovalRule): Promise<ApprovalRule>;
  remove(id: string): Promise<void>;
  /** Removes the rules of a project. */
  forget(project: string): Promise<void>;
}

const EVERYWHERE = '';

export function createApprovalRules({ database, clock }: { database: Database; clock: Clock }): ApprovalRules {
  let held: readonly ApprovalRule[] = [];
  const keep = (rules: readonly ApprovalRule[]): void => {
    held = rules.toSorted((a, b) => a.givenMs - b.givenMs || compareText(a.id, b.id));
  };
  return {
    async start() {
      keep(
        (await database.read('SELECT * FROM approval_rules')).map((row) => ({
          id: textOf(row, 'id'),
          scope: textOf(row, 'scope'),
          tool: textOf(row, 'tool'),
          when: textOf(row, 'pattern'),
          reason: textOf(row, 'reason'),
          givenMs: integerOf(row, 'given_ms'),
          givenBy: textOf(row, 'given_by'),
        })),
      );
    },
    list: () => held,
    async add(rule) {
      const given = { ...rule, givenMs: clock.now() };
      const { id, scope, tool, when, reason, givenMs, givenBy } = given;
      await database.write([
        {
          sql: 'INSERT INTO approval_rules (id, scope, tool, pattern, reason, given_ms, given_by) VALUES (?, ?, ?, ?, ?, ?, ?)',
          params: [id, scope, tool, when, reason, givenMs, givenBy],
        },
      ]);
      keep([...held, given]);
      return given;
    },
    async remove(id) {
      await database.write([{ sql: 'DELETE FROM approval_rules WHERE id = ?', params: [id] }]);
      keep(held.filter((rule) => rule.id !== id));
    },
    async forget(project) {
      if (project === EVERYWHERE) return;
      await database.write([{ sql: 'DELETE FROM approval_rules WHERE scope = ?', params: [project] }]);
      keep(held.filter(({ scope }) => scope !== project));
    },
  };
}

/** What an answer to the rule is given for. Another tool or pattern has another hash. */
export function approvalRuleHash({ tool, when }: Pick<ApprovalRule, 'tool' | 'when'>): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, when]))
    .digest('hex');
}
