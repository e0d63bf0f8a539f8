import type { ToolManifest } from '../catalog/manifest.ts';
import type { Config } from '../config/schema.ts';
import { BUDGET_DEFAULT_TOKENS, BUDGET_MIN_TOKENS } from '../core/limits.ts';
import type { CallRequest } from '../server/door.ts';

/** Tokens of the printed line. */
export interface BudgetLimits {
  /** When the call asks for none. */
  standard: number;
  /** The most it may ask for. */
  ceiling: number;
}

/** What the settings give a tool at a door: its own numbers before those of its kind, and the least of the ceilings. */
export function budgetLimits(
  budget: Config['budget'],
  { name, budget: kind }: Pick<ToolManifest, 'name' | 'budget'>,
  door: CallRequest['door'],
): BudgetLimits {
  const own = Object.hasOwn(budget.tools, name) ? budget.tools[name] : undefined;
  const ofDoor = door === 'proxy' ? undefined : budget.doors[door];
  const ceilings = [budget.max_tokens, own?.max_tokens, ofDoor?.max_tokens];
  const ceiling = Math.min(...ceilings.filter((tokens) => tokens !== undefined));
  const under = own?.default_tokens ?? (kind === 'answer' ? budget.default_tokens : BUDGET_DEFAULT_TOKENS[kind]);
  // The requirements say "under" the default, not "at most".
  return { standard: Math.max(BUDGET_MIN_TOKENS, Math.min(under - 1, ceiling)), ceiling };
}
