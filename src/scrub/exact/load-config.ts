import type { GitleaksConfig, RuleConfig } from './config.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import type { RuleFile } from './rule-pack.ts';
import { ruleFault } from './toml-table.ts';

export interface LoadDeps {
  /** Returns the text of the file that `extend.path` names, as it is written there. Throws if it cannot be read. */
  readFile(path: string): string;
  /** gitleaks' own configuration, for `extend.useDefault`; null if it is not available. */
  official: string | null;
}

/** Levels of `extend` above the outermost file; the `extend` of the last one is ignored. */
const MAX_EXTEND_DEPTH = 2;

/**
 * Loads a gitleaks configuration with everything it extends, as gitleaks reads it: unknown settings are ignored, faults
 * are SCHEMA_INVALID and name file and rule. The engine checks that the patterns compile.
 */
export function loadConfig(file: RuleFile, deps: LoadDeps): GitleaksConfig {
  return { ...settled(extended(readConfigFile(file, 'weak'), deps, 0)), exactGroups: false };
}

/** Loads a file of our own pack: nothing in it is ignored, and nothing may need a path or another file. */
export function loadPackFile(file: RuleFile): GitleaksConfig {
  const config = readConfigFile(file, 'strict');
  for (const rule of config.rules.values()) checkPackRule(rule);
  return { ...settled(config), exactGroups: true };
}

/**
 * Checks the configuration as a whole. Allowlists for certain rules are added to those rules only here: gitleaks loses
 * those of an extended file.
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

/** Merges our changes into the base rule. `required` and `skipReport` of ours are lost, as in gitleaks. */
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
