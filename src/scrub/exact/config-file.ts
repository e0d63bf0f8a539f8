import { parse, type TomlTable } from 'smol-toml';
import type { AllowlistConfig, PatternSource, RequiredConfig, RuleConfig } from './config.ts';
import { lowerCase } from './keyword-index.ts';
import type { RuleFile } from './rule-pack.ts';
import { isTable, ruleFault, TableReader } from './toml-table.ts';

/** One file of gitleaks' TOML, before the configuration it extends is added. */
export interface ConfigFile {
  name: string;
  /** In the order of the file; of rules with the same id, the last. */
  rules: Map<string, RuleConfig>;
  /** Allowlists that name no rules. */
  allowlists: AllowlistConfig[];
  /** Allowlists by the id of the rule they are meant for. */
  targeted: Map<string, AllowlistConfig[]>;
  extend: ExtendConfig;
  patterns: PatternSource[];
}

interface ExtendConfig {
  useDefault: boolean;
  /** Empty if the file extends no other file. */
  path: string;
  disabledRules: readonly string[];
}

/** Reads a file. SCHEMA_INVALID names the file and the rule. `strict` refuses what `weak` ignores, see TableReader. */
export function readConfigFile({ name, text }: RuleFile, reading: 'weak' | 'strict'): ConfigFile {
  const table = new TableReader(withoutEmpty(parseToml(name, text)), name, reading);
  if (reading === 'strict') table.refuse('extend');
  for (const key of ['title', 'description', 'minversion']) table.text(key);
  const file: ConfigFile = {
    name,
    rules: new Map(),
    allowlists: [],
    targeted: new Map(),
    extend: readExtend(table.table('extend', name)),
    patterns: [],
  };
  readSharedAllowlists(file, table);
  const nameRule = (position: number, item: TomlTable): string => `${name}: rule ${nameOf(item, position)}`;
  for (const item of table.tables('rules', nameRule)) addRule(file, readRule(item), item);
  table.close();
  checkRequired(file);
  return file;
}

function parseToml(name: string, text: string): TomlTable {
  try {
    return parse(text);
  } catch (cause) {
    throw ruleFault(name, `not valid TOML: ${cause instanceof Error ? cause.message : 'unreadable'}`, cause);
  }
}

/** gitleaks ignores an empty table, at the top level only. */
function withoutEmpty(table: TomlTable): TomlTable {
  const isEmpty = (value: TomlTable[string]): boolean => isTable(value) && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(table).filter(([, value]) => !isEmpty(value)));
}

function nameOf(rule: TomlTable, position: number): string {
  const id = Object.entries(rule).find(([key]) => key.toLowerCase() === 'id')?.[1];
  return typeof id === 'string' && id.trim() !== '' ? `"${id}"` : `number ${position}`;
}

function readExtend(table: TableReader | undefined): ExtendConfig {
  const extend = {
    useDefault: table?.truth('usedefault') ?? false,
    path: table?.text('path') ?? '',
    disabledRules: table?.texts('disabledrules') ?? [],
  };
  table?.text('url');
  table?.close();
  return extend;
}

function addRule(file: ConfigFile, rule: RuleConfig, { where, reading }: TableReader): void {
  if (reading === 'strict' && file.rules.has(rule.id)) throw ruleFault(where, 'the id is used twice in this file');
  file.rules.set(rule.id, rule);
  for (const source of [rule.regex, rule.path]) if (source !== '') file.patterns.push({ source, where });
  for (const list of rule.allowlists) notePatterns(file, list);
}

function notePatterns(file: ConfigFile, { where, regexes, paths }: AllowlistConfig): void {
  for (const source of [...regexes, ...paths]) file.patterns.push({ source, where });
}

function readRule(rule: TableReader): RuleConfig {
  rule.text('description');
  const config = {
    where: rule.where,
    id: rule.text('id'),
    regex: rule.text('regex'),
    path: rule.text('path'),
    secretGroup: rule.whole('secretgroup') ?? 0,
    entropy: rule.number('entropy'),
    keywords: rule.texts('keywords').map(lowerCase),
    tags: rule.texts('tags'),
    allowlists: readAllowlists(rule).map(readAllowlist),
    required: readRequired(rule),
    skipReport: rule.truth('skipreport'),
  };
  rule.close();
  return config;
}

function readRequired(rule: TableReader): RequiredConfig[] {
  return rule
    .tables('required', (position) => `${rule.where}, required ${position}`)
    .map((item) => {
      const required = {
        id: item.text('id'),
        withinLines: item.whole('withinlines'),
        withinColumns: item.whole('withincolumns'),
      };
      if (required.id === '') throw ruleFault(item.where, 'it names no rule');
      item.close();
      return required;
    });
}

function checkRequired(file: ConfigFile): void {
  for (const { where, required } of file.rules.values())
    for (const { id } of required)
      if (!file.rules.has(id)) throw ruleFault(where, `the required rule "${id}" is not in this file`);
}

/** An allowlist that names rules applies to those rules only. */
function readSharedAllowlists(file: ConfigFile, table: TableReader): void {
  for (const item of readAllowlists(table)) {
    const targets = item.texts('targetrules');
    const list = readAllowlist(item);
    notePatterns(file, list);
    if (targets.length === 0) file.allowlists.push(list);
    for (const id of targets) file.targeted.set(id, [...(file.targeted.get(id) ?? []), list]);
  }
}

/** `[[allowlists]]`, or the one `[allowlist]` of older files. */
function readAllowlists(owner: TableReader): TableReader[] {
  const old = owner.table('allowlist', `${owner.where}, allowlist`);
  const lists = owner.tables('allowlists', (position) => `${owner.where}, allowlist ${position}`);
  if (old === undefined) return lists;
  if (lists.length > 0) throw ruleFault(owner.where, '"allowlist" and "allowlists" cannot be used together');
  return [old];
}

function readAllowlist(list: TableReader): AllowlistConfig {
  list.text('description');
  const config = {
    where: list.where,
    condition: readCondition(list),
    target: readTarget(list),
    regexes: list.texts('regexes'),
    paths: list.texts('paths'),
    commits: list.texts('commits').map((commit) => lowerCase(commit).trim()),
    stopwords: [...new Set(list.texts('stopwords').map(lowerCase))],
  };
  if (config.regexes.length + config.paths.length + config.commits.length + config.stopwords.length === 0)
    throw ruleFault(list.where, 'it has none of commits, paths, regexes and stopwords');
  list.close();
  return config;
}

function readCondition(list: TableReader): AllowlistConfig['condition'] {
  const condition = list.text('condition').toUpperCase();
  if (['', 'OR', '||'].includes(condition)) return 'or';
  if (['AND', '&&'].includes(condition)) return 'and';
  throw ruleFault(list.where, `"condition" is "${condition}", must be OR or AND`);
}

function readTarget(list: TableReader): AllowlistConfig['target'] {
  const target = list.text('regextarget');
  if (target === '' || target === 'secret') return 'secret';
  if (target === 'match' || target === 'line') return target;
  throw ruleFault(list.where, `"regexTarget" is "${target}", must be secret, match or line`);
}
