import { parse, type TomlTable } from 'smol-toml';
import { lowerCase } from './keyword-index.ts';
import type { RuleFile } from './rule-pack.ts';
import { ruleFault, TableReader } from './toml-table.ts';

/** What excuses a match. gitleaks' own words and defaults. */
export interface AllowlistConfig {
  /** Names the allowlist in messages. */
  where: string;
  /** Whether one kind of the configured (regexes, stopwords) is enough, or all must hold. */
  condition: 'or' | 'and';
  /** What the regexes are matched against. Stopwords always look at the secret. */
  target: 'secret' | 'match' | 'line';
  regexes: readonly string[];
  /** Lower case. */
  stopwords: readonly string[];
}

export interface RuleConfig {
  /** Names the file and the rule in messages. */
  where: string;
  id: string;
  regex: string;
  /** 0: the first group that is not empty, or the whole match when there is none. */
  secretGroup: number;
  /** Bits; a secret of no more is dropped. 0: no such check. */
  entropy: number;
  /** Lower case. The rule runs where one of them is in the text; none: it always runs. */
  keywords: readonly string[];
  /** Those of the rule and of its file. */
  allowlists: readonly AllowlistConfig[];
}

/** Reads one file of rules in gitleaks' TOML. SCHEMA_INVALID names the file and the rule. */
export function parseRuleFile({ name, text }: RuleFile): RuleConfig[] {
  const file = new TableReader(parseToml(name, text), name);
  file.refuse('extend');
  for (const key of ['title', 'description', 'minversion']) file.text(key);
  const shared = readAllowlists(file);
  const rules = file.tables('rules', (position, item) => `${name}: rule ${nameOf(item, position)}`);
  file.close();
  const read = rules.map((rule) => readRule(rule, shared));
  const twice = read.find(({ id }, position) => read.findIndex((other) => other.id === id) !== position);
  if (twice) throw ruleFault(twice.where, 'the id is used twice in this file');
  return read;
}

function parseToml(name: string, text: string): TomlTable {
  try {
    return parse(text);
  } catch (cause) {
    throw ruleFault(name, `not valid TOML: ${cause instanceof Error ? cause.message : 'unreadable'}`, cause);
  }
}

function nameOf(rule: TomlTable, position: number): string {
  const id = Object.entries(rule).find(([key]) => key.toLowerCase() === 'id')?.[1];
  return typeof id === 'string' && id !== '' ? `"${id}"` : `number ${position}`;
}

function readRule(rule: TableReader, shared: readonly AllowlistConfig[]): RuleConfig {
  rule.refuse('path', 'required', 'decoders', 'skipreport', 'maxdecodedepth');
  rule.text('description');
  rule.texts('tags');
  const id = rule.text('id')?.trim() ?? '';
  const regex = rule.text('regex') ?? '';
  if (id === '') throw ruleFault(rule.where, 'it has no id');
  if (regex === '') throw ruleFault(rule.where, 'it has no regex');
  const secretGroup = rule.number('secretgroup') ?? 0;
  if (!Number.isInteger(secretGroup)) throw ruleFault(rule.where, '"secretGroup" must be a whole number');
  const config = {
    where: rule.where,
    id,
    regex,
    secretGroup,
    entropy: rule.number('entropy') ?? 0,
    keywords: rule.texts('keywords').map(lowerCase),
    allowlists: [...shared, ...readAllowlists(rule)],
  };
  if (config.keywords.includes('')) throw ruleFault(rule.where, 'a keyword is empty');
  rule.close();
  return config;
}

function readAllowlists(owner: TableReader): AllowlistConfig[] {
  if (owner.has('allowlist') && owner.has('allowlists'))
    throw ruleFault(owner.where, '"allowlist" and "allowlists" cannot be used together');
  const name = (position: number): string => `${owner.where}, allowlist ${position}`;
  return [...owner.tables('allowlist', name), ...owner.tables('allowlists', name)].map(readAllowlist);
}

function readAllowlist(list: TableReader): AllowlistConfig {
  list.refuse('paths', 'commits', 'targetrules');
  list.text('description');
  const regexes = list.texts('regexes');
  const stopwords = list.texts('stopwords').map(lowerCase);
  if (regexes.length + stopwords.length === 0) throw ruleFault(list.where, 'it has neither regexes nor stopwords');
  const config = {
    where: list.where,
    condition: readCondition(list),
    target: readTarget(list),
    regexes,
    stopwords: [...new Set(stopwords)],
  };
  list.close();
  return config;
}

function readCondition(list: TableReader): AllowlistConfig['condition'] {
  const condition = list.text('condition')?.toUpperCase() ?? '';
  if (['', 'OR', '||'].includes(condition)) return 'or';
  if (['AND', '&&'].includes(condition)) return 'and';
  throw ruleFault(list.where, `"condition" is "${condition}", must be OR or AND`);
}

function readTarget(list: TableReader): AllowlistConfig['target'] {
  const target = list.text('regextarget')?.toLowerCase() ?? '';
  if (target === '' || target === 'secret') return 'secret';
  if (target === 'match' || target === 'line') return target;
  throw ruleFault(list.where, `"regexTarget" is "${target}", must be secret, match or line`);
}
