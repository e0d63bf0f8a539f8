import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One TOML file of rules in gitleaks' format. `name` is used in messages. */
export interface RuleFile {
  name: string;
  text: string;
}

/** Everything a full engine reads. */
export interface RuleSources {
  /** Files of our own rules. */
  pack: readonly RuleFile[];
  /** gitleaks' own configuration. */
  official: RuleFile;
}

/**
 * Reads every *.toml of a folder, in order of name. System errors pass through: nothing may be scrubbed without rules.
 */
export function readRulePack(dir: string): RuleFile[] {
  const names = readdirSync(dir).filter((name) => name.endsWith('.toml'));
  return names.sort().map((name) => ({ name, text: readFileSync(join(dir, name), 'utf8') }));
}

/** Reads all rules from one file that the build wrote. */
export function readRuleBundle(file: string): RuleSources {
  const sources: RuleSources = JSON.parse(readFileSync(file, 'utf8'));
  return sources;
}
