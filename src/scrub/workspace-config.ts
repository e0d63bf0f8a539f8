import { parse, stringify, type TomlTable, type TomlValue } from 'smol-toml';
import { Detector } from './exact/detector.ts';
import { loadConfig } from './exact/load-config.ts';
import type { RuleFile } from './exact/rule-pack.ts';
import { ruleFault } from './exact/toml-table.ts';

const NAME = '.gitleaks.toml';
const MAX_RULES = 500;
/** Characters of a pattern that a person is shown. */
const SHOWN_CHARS = 120;

/** A project's file, taken apart: what it may do unasked, and what only a person can allow. */
export interface WorkspaceConfig {
  rules: number;
  /** The rules it adds, as a file of their own. */
  files: readonly RuleFile[];
  allowances: { disabledRules: readonly string[]; allowlists: RuleFile } | null;
  /** The allowances in words. */
  told: readonly string[];
}

/**
 * Additive reading: its rules are further rules, whatever their ids; allowlists for other rules, `disabledRules` and
 * rules that only change another are set aside as allowances; no other file is ever read. An allowlist within a rule of
 * its own only narrows that rule and stays. SCHEMA_INVALID for a file that gitleaks would refuse.
 */
export function readWorkspaceConfig(text: string): WorkspaceConfig {
  const file = lowerKeys(parseToml(text));
  const tables = tablesOf(file.rules).map(lowerKeys);
  if (tables.length > MAX_RULES) throw ruleFault(NAME, `it has ${tables.length} rules, the most is ${MAX_RULES}`);
  const added = tables.filter((rule) => hasText(rule.regex));
  const files = added.length === 0 ? [] : [{ name: NAME, text: stringify({ rules: added }) }];
  for (const one of files) check(one);
  const lists = [...globalLists(file), ...tables.filter((rule) => !hasText(rule.regex)).flatMap(listsForRule)];
  const disabledRules = textsOf(lowerKeys(tableOf(file.extend)).disabledrules);
  const allowlists = { name: NAME, text: stringify({ allowlists: lists }) };
  if (lists.length > 0) check({ name: NAME, text: stringify({ allowlists: lists.map(withoutTargets) }) });
  return {
    rules: added.length,
    files,
    allowances: lists.length + disabledRules.length === 0 ? null : { disabledRules, allowlists },
    told: [...disabledRules.map((id) => `turns the rule ${id} off`), ...lists.map(inWords)],
  };
}

/** As gitleaks would load it, every pattern compiled. */
function check(file: RuleFile): void {
  new Detector(loadConfig(file, { readFile: refuse, official: null }), { compile: 'now' });
}

function refuse(): string {
  throw ruleFault(NAME, 'other files are not read');
}

function parseToml(text: string): TomlTable {
  try {
    return parse(text);
  } catch (cause) {
    throw ruleFault(NAME, 'it is not valid TOML', cause);
  }
}

function globalLists(file: TomlTable): TomlTable[] {
  return [...tablesOf(file.allowlist), ...tablesOf(file.allowlists)].map(lowerKeys);
}

/** A rule without a pattern changes the rule of its id: its allowlists are for that one. */
function listsForRule(rule: TomlTable): TomlTable[] {
  const id = hasText(rule.id) ? [rule.id] : [];
  return globalLists(rule).map((list) => ({ ...list, targetrules: id }));
}

function withoutTargets({ targetrules: _, ...list }: TomlTable): TomlTable {
  return list;
}

function inWords(list: TomlTable): string {
  const targets = textsOf(list.targetrules);
  const kinds = ['regexes', 'stopwords', 'paths', 'commits'].flatMap((kind) => {
    const values = textsOf(list[kind]);
    return values.length === 0 ? [] : [`${kind} ${values.map(shown).join(', ')}`];
  });
  const whose = targets.length === 0 ? 'every rule' : targets.join(', ');
  return `excuses from ${whose} what matches ${kinds.join(' or ') || 'nothing'}`;
}

function shown(value: string): string {
  return value.length <= SHOWN_CHARS ? value : `${value.slice(0, SHOWN_CHARS)}…`;
}

function lowerKeys(table: TomlTable): TomlTable {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key.toLowerCase(), value]));
}

function tableOf(value: TomlValue | undefined): TomlTable {
  return value !== undefined && isTable(value) ? value : {};
}

function tablesOf(value: TomlValue | undefined): TomlTable[] {
  if (Array.isArray(value)) return value.filter(isTable);
  return value !== undefined && isTable(value) ? [value] : [];
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}

function textsOf(value: TomlValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function hasText(value: TomlValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
