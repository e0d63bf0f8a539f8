import type { GitleaksConfig, RuleConfig } from './config.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import type { RuleFile } from './rule-pack.ts';
import { ruleFault } from './toml-table.ts';

export interface LoadDeps {
  /** The text of a file that `extend.path` names, as it is written there. Throws where it cannot be read. */
  readFile(path: string): string;
  /** gitleaks' own configuration, which `extend.useDefault` means; null where it is not to be had. */
  official: string | null;
}

/** Files above the outermost one that are heeded; the `extend` of the last is not. */
const MAX_EXTEND_DEPTH = 2;

/**
 * A gitleaks configuration with all that it extends, as gitleaks reads it: settings it does not know are passed over,
 * faults are SCHEMA_INVALID naming file and rule. That the patterns compile is for the engine to see.
 */
export function loadConfig(file: RuleFile, deps: LoadDeps): GitleaksConfig {
  return { ...settled(extended(readConfigFile(file, 'weak'), deps, 0)), exactGroups: false };
}

/** A file of our own pack: nothing it says is passed over, and nothing that needs a path or another file. */
export function loadPackFile(file: RuleFile): GitleaksConfig {
  const config = readConfigFile(file, 'strict');
  for (const rule of config.rules.values()) checkPackRule(rule);
  return { ...settled(config), exactGroups: true };
}

/**
 * Checked as a whole. Allowlists for certain rules are handed to them only here: gitleaks loses those of an extended
 * file.
 */
function settled({ name, rules, targeted, allowlists, patterns }: ConfigFile): Omit<GitleaksConfig, 'exactGroups'> {
  for (const rule of rules.values()) checkRule(rule);
  for (const [id, lists] of targeted) {
    const rule = rules.get(id);
    if (rule === undefined) throw ruleFault(name, `an allowlist is for rule "${id}", which is not there`);
    rules.set(id, { ...rule, allowlists: [...rule.allowlists, ...lists] });
  }
  return { name, rules: [...rules.values()], allowlists, patterns };
}

function extended(file: ConfigFile, deps: LoadDeps, depth: number): ConfigFile {
  const { useDefault, path, disabledRules } = file.extend;
  if (depth === MAX_EXTEND_DEPTH) return file;
  if (useDefault && path !== '') throw ruleFault(file.name, '"extend.path" and "extend.useDefault" exclude each other');
  if (!useDefault && path === '') return file;
  const base = extended(readConfigFile(baseFile(file, deps), 'weak'), deps, depth + 1);
  for (const rule of base.rules.values())
    if (!disabledRules.includes(rule.id)) file.rules.set(rule.id, merged(rule, file.rules.get(rule.id)));
  return {
    ...file,
    allowlists: [...file.allowlists, ...base.allowlists],
    patterns: [...file.patterns, ...base.patterns],
  };
}

function baseFile(file: ConfigFile, { readFile, official }: LoadDeps): RuleFile {
  const { useDefault, path } = file.extend;
  if (!useDefault) return { name: path, text: readExtended(file.name, path, readFile) };
  if (official === null) throw ruleFault(file.name, 'it extends the configuration of gitleaks, which is not installed');
  return { name: 'gitleaks.toml', text: official };
}

function readExtended(name: string, path: string, readFile: LoadDeps['readFile']): string {
  try {
    return readFile(path);
  } catch (cause) {
    throw ruleFault(name, `it extends ${path}, which cannot be read`, cause);
  }
}

/** The base with our changes; our `required` and `skipReport` are lost, as in gitleaks. */
function merged(base: RuleConfig, ours: RuleConfig | undefined): RuleConfig {
  if (ours === undefined) return base;
  return {
    ...base,
    where: ours.where,
    regex: ours.regex || base.regex,
    path: ours.path || base.path,
    secretGroup: ours.secretGroup || base.secretGroup,
    entropy: ours.entropy || base.entropy,
    keywords: [...base.keywords, ...ours.keywords],
    tags: [...base.tags, ...ours.tags],
    allowlists: [...base.allowlists, ...ours.allowlists],
  };
}

function checkRule({ where, id, regex, path }: RuleConfig): void {
  if (id.trim() === '') throw ruleFault(where, 'it has no id');
  if (regex === '' && path === '') throw ruleFault(where, 'it has neither regex nor path');
}

function checkPackRule(rule: RuleConfig): void {
  const { where, keywords, regex, path, allowlists } = rule;
  if (keywords.includes('')) throw ruleFault(where, 'a keyword is empty');
  if (regex === '') throw ruleFault(where, 'it has no regex');
  if (path !== '' || allowlists.some(({ paths, commits }) => paths.length + commits.length > 0))
    throw ruleFault(where, 'paths and commits are not known where the pack is used');
}
