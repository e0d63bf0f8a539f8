import type { GitleaksConfig } from './exact/config.ts';
import { readConfigFile } from './exact/config-file.ts';
import type { Allowances } from './workspace-rules.ts';

/** The same configurations with what a person approved: rules that are off, and allowlists that hold for the rest. */
export function applyAllowances(configs: readonly GitleaksConfig[], given: Allowances | null): GitleaksConfig[] {
  if (given === null) return [...configs];
  const off = new Set(given.disabledRules);
  const { allowlists, targeted } = readConfigFile(given.allowlists, 'weak');
  return configs.map((config) => ({
    ...config,
    rules: config.rules
      .filter(({ id }) => !off.has(id))
      .map((rule) => ({ ...rule, allowlists: [...rule.allowlists, ...(targeted.get(rule.id) ?? [])] })),
    allowlists: [...config.allowlists, ...allowlists],
  }));
}
