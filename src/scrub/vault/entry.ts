import { tokenOf } from './look-alike.ts';
import { OpeningBudget } from './opening-budget.ts';
import type { SecretCall, SecretContext, Unnumbered } from './secret.ts';
import { kindOf, type SecretSummary } from './secret-summary.ts';
import { Spellings, type SpellingsState } from './spellings.ts';

/** A secret with a number. */
export interface Entry {
  /** Canonical form, which programs get. */
  value: string;
  spellings: Spellings;
  budget: OpeningBudget;
  summary: SecretSummary;
  call: SecretCall | null;
}

/** A secret as plain data. */
export interface EntryState {
  readonly key: string;
  readonly value: string;
  readonly spellings: SpellingsState;
  readonly openedMsAgo: readonly number[];
  readonly summary: SecretSummary;
  readonly call: SecretCall | null;
}

export function newEntry({ value, rule }: Unnumbered, number: number, { tool, time, call }: SecretContext): Entry {
  const use = { token: tokenOf(number), rule, kind: kindOf(rule) };
  const summary = { ...use, tool: tool ?? null, firstSeenAt: time ?? 0, uses: 0, opened: 0, lastOpenedAt: null };
  return { value, spellings: new Spellings(), budget: new OpeningBudget(), summary, call: call ?? null };
}

/** `now`: monotonic milliseconds. */
export function stateOf(key: string, { value, spellings, budget, summary, call }: Entry, now: number): EntryState {
  return { key, value, spellings: spellings.state, openedMsAgo: budget.agesMs(now), summary, call };
}

/** The secret of the daemon before. `now`: monotonic milliseconds. */
export function entryFrom({ value, summary, call, spellings, openedMsAgo }: EntryState, now: number): Entry {
  const entry = { value, spellings: new Spellings(), budget: new OpeningBudget(), summary, call };
  entry.spellings.restore(spellings);
  entry.budget.restore(openedMsAgo, now);
  return entry;
}
