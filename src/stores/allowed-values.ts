import type { Clock } from '../core/clock.ts';
import { compareText } from './consents.ts';
import { type Database, integerOf, textOf } from './sqlite.ts';

/** A value that a person declared no secret. Only hashes of it are kept. */
export interface StoredValue {
  /** A project root, or '' for every project. */
  readonly scope: string;
  /** The hash of the value: hexadecimal. */
  readonly id: string;
  /** The hashes of the value and of the forms in which programs write it. */
  readonly forms: readonly string[];
  /** The rule that had found it; empty if the value was given. */
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly givenMs: number;
  /** The account that allowed it, as ctxd named it. */
  readonly givenBy: string;
}

export type NewValue = Omit<StoredValue, 'givenMs'>;

/** Kept in memory too, because every answer asks. */
export interface AllowedValues {
  start(): Promise<void>;
  /** Those of the project, then those of every project; oldest first. */
  list(project: string): readonly StoredValue[];
  /** The forms of all values allowed in a project. Null if there is no such value. The same set until one changes. */
  formsFor(project: string): ReadonlySet<string> | null;
  /** Replaces the one of the same scope and id. */
  add(value: NewValue): Promise<StoredValue>;
  remove(value: Pick<StoredValue, 'scope' | 'id'>): Promise<void>;
  /** Forgets what was allowed in a project. */
  forget(project: string): Promise<void>;
}

const EVERYWHERE = '';

export function createAllowedValues({ database, clock }: { database: Database; clock: Clock }): AllowedValues {
  let held: readonly StoredValue[] = [];
  const forms = new Map<string, ReadonlySet<string> | null>();
  const keep = (values: readonly StoredValue[]): void => {
    held = values.toSorted((a, b) => a.givenMs - b.givenMs || compareText(a.id, b.id));
    forms.clear();
  };
  const list = (project: string): StoredValue[] =>
    [...new Set([project, EVERYWHERE])].flatMap((scope) => held.filter((value) => value.scope === scope));
  const formsOf = (project: string): ReadonlySet<string> | null => {
    const all = new Set(list(project).flatMap((value) => value.forms));
    return all.size === 0 ? null : all;
  };
  return {
    async start() {
      keep(
        (await database.read('SELECT * FROM allowed_values')).map((row) => ({
          scope: textOf(row, 'scope'),
          id: textOf(row, 'id'),
          forms: textOf(row, 'forms').split(' '),
          rule: textOf(row, 'rule'),
          givenMs: integerOf(row, 'given_ms'),
          givenBy: textOf(row, 'given_by'),
        })),
      );
    },
    list,
    formsFor(project) {
      const known = forms.get(project);
      if (known !== undefined) return known;
      const found = formsOf(project);
      forms.set(project, found);
      return found;
    },
    async add(value) {
      const given = { ...value, givenMs: clock.now() };
      const { scope, id, rule, givenMs, givenBy } = given;
      await database.write([
        {
          sql: `INSERT OR REPLACE INTO allowed_values (scope, id, forms, rule, given_ms, given_by) VALUES (?, ?, ?, ?, ?, ?)`,
          params: [scope, id, given.forms.join(' '), rule, givenMs, givenBy],
        },
      ]);
      keep([...held.filter((one) => one.scope !== scope || one.id !== id), given]);
      return given;
    },
    async remove({ scope, id }) {
      await database.write([{ sql: 'DELETE FROM allowed_values WHERE scope = ? AND id = ?', params: [scope, id] }]);
      keep(held.filter((one) => one.scope !== scope || one.id !== id));
    },
    async forget(project) {
      if (project === EVERYWHERE) return;
      await database.write([{ sql: 'DELETE FROM allowed_values WHERE scope = ?', params: [project] }]);
      keep(held.filter(({ scope }) => scope !== project));
    },
  };
}
