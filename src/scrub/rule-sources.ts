import { fileURLToPath } from 'node:url';
import { type RuleFile, readRulePack } from './exact/rule-pack.ts';
import type { GitleaksPlaces } from './gitleaks/binary.ts';
import { findOfficialConfig } from './gitleaks/official-config.ts';
import { PINNED_VERSION } from './gitleaks/pinned.ts';

/** All that a full engine reads: our own pack, and gitleaks' configuration where this machine has it. */
export interface RuleSources {
  pack: readonly RuleFile[];
  official: RuleFile | null;
  /**
   * Whether tests of this version have compiled every pattern, so that each may wait for its first use. Default false:
   * all are compiled at once, and a bad one is SCHEMA_INVALID.
   */
  isKnownToCompile?: boolean;
}

/** Reads what there is now. System errors of the pack pass through: without rules nothing may be scrubbed. */
export async function readRuleSources(places: GitleaksPlaces): Promise<RuleSources> {
  const rules = fileURLToPath(new URL('./rules/', import.meta.url));
  const official = await findOfficialConfig(places);
  return {
    pack: readRulePack(rules),
    official: official?.file ?? null,
    isKnownToCompile: official === null || official.version === PINNED_VERSION,
  };
}
