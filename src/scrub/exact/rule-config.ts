import type { RuleConfig } from './config.ts';
import { loadPackFile } from './load-config.ts';
import type { RuleFile } from './rule-pack.ts';

export type { RuleConfig };

/** The rules of a pack file, each with the allowlists of its file. */
export function parseRuleFile(file: RuleFile): RuleConfig[] {
  const { rules, allowlists } = loadPackFile(file);
  return rules.map((rule) => ({ ...rule, allowlists: [...allowlists, ...rule.allowlists] }));
}
