import { fileURLToPath } from 'node:url';
import { type RuleFile, readRulePack } from './exact/rule-pack.ts';
import type { GitleaksPlaces } from './gitleaks/binary.ts';
import { findOfficialConfig } from './gitleaks/official-config.ts';

/** Everything a full engine reads: our own pack, and gitleaks' configuration if this machine has it. */
export interface RuleSources {
  pack: readonly RuleFile[];
  official: RuleFile | null;
}

/** Reads what there is now. System errors of the pack pass through: without rules nothing may be scrubbed. */
export async function readRuleSources(places: GitleaksPlaces): Promise<RuleSources> {
  const rules = fileURLToPath(new URL('./rules/', import.meta.url));
  return { pack: readRulePack(rules), official: (await findOfficialConfig(places))?.file ?? null };
}
