import { fileURLToPath } from 'node:url';
import { type RuleSources, readRulePack } from './exact/rule-pack.ts';
import { readOfficialConfig } from './gitleaks/official-config.ts';

/** Reads the rules of this installation. Errors pass through: without rules nothing may be scrubbed. */
export function readRuleSources(): RuleSources {
  const rules = fileURLToPath(new URL('./rules/', import.meta.url));
  return { pack: readRulePack(rules), official: readOfficialConfig() };
}
