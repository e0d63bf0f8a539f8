import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify, type TomlTable, type TomlValue } from 'smol-toml';
import { ContextdError, isErrno } from '../core/errors.ts';
import { Detector } from './exact/detector.ts';
import { loadConfig } from './exact/load-config.ts';
import type { RuleFile } from './exact/rule-pack.ts';
import { ruleFault } from './exact/toml-table.ts';

/** What the `.gitleaks.toml` of a project does to the rules. */
export interface WorkspaceRules {
  /** Changes when the rules do; engines are kept by it. */
  key: string;
  /** Rules beside all others. */
  files: readonly RuleFile[];
  /** What a person approved of exactly this file: disabled rules, and allowlists for all rules. Null: nothing. */
  allowances: Allowances | null;
}

/** Plain data: it goes to the thread that scans. */
export interface Allowances {
  disabledRules: readonly string[];
  /** Global allowlists, and those for certain rules by `targetRules`. */
  allowlists: RuleFile;
}

/** What there is to approve. */
interface RulesReview {
  path: string;
  /** Null: there is no such file. */
  sha256: string | null;
  approved: boolean;
  rules: number;
  /** One sentence each. */
  allowances: readonly string[];
  /** Why the file cannot be used at all; null if it can. */
  fault: string | null;
}

interface WorkspaceRulesDeps {
  /** True when a person approved a file with this hash for this project. */
  isApproved(root: string, sha256: string): boolean;
  /**
   * Called once for each state of a file that cannot be used. The message contains no text of the file except names.
   */
  onFault(root: string, problem: string): void;
}

export interface WorkspaceRulesReader {
  /**
   * Null if there is no file or it cannot be used; the other rules then apply alone. Costs one stat if nothing changed.
   */
  read(root: string): Promise<WorkspaceRules | null>;
  review(root: string): Promise<RulesReview>;
}

const WORKSPACE_FILE = '.gitleaks.toml';
const MAX_BYTES = 256 * 1024;
/** Projects whose file is remembered. */
const MAX_REMEMBERED = 200;

interface Known {
  stamp: string;
  sha256: string | null;
  config: WorkspaceConfig | null;
  fault: string | null;
}

/** Reads the rules a project brings. They only add, until a person approves the file by its hash. */
export function createWorkspaceRules(deps: WorkspaceRulesDeps): WorkspaceRulesReader {
  const known = new Map<string, Known>();
  const current = async (root: string): Promise<Known> => {
    const file = join(root, WORKSPACE_FILE);
    const stamp = await stampOf(file);
    const before = known.get(root);
    if (before?.stamp === stamp) return before;
    const now = stamp === '' ? { stamp, ...NOTHING } : { stamp, ...(await readFile(file)) };
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(root, now);
    if (now.fault !== null) deps.onFault(root, now.fault);
    return now;
  };
  return {
    async read(root) {
      const { sha256, config } = await current(root);
      if (sha256 === null || config === null) return null;
      const approved = deps.isApproved(root, sha256);
      const allowances = approved ? config.allowances : null;
      return { key: `${sha256}${approved ? '+' : ''}`, files: config.files, allowances };
    },
    async review(root) {
      const { sha256, config, fault } = await current(root);
      return {
        path: join(root, WORKSPACE_FILE),
        sha256,
        approved: sha256 !== null && deps.isApproved(root, sha256),
        rules: config?.rules ?? 0,
        allowances: config?.descriptions ?? [],
        fault,
      };
    },
  };
}

const NOTHING = { sha256: null, config: null, fault: null };

/** Changes when the file does; "" without a file. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    if (isErrno(error)) return '';
    throw error;
  }
}

async function readFile(path: string): Promise<Omit<Known, 'stamp'>> {
  let sha256: string | null = null;
  try {
    const bytes = await readBounded(path);
    sha256 = createHash('sha256').update(bytes).digest('hex');
    return { sha256, config: readWorkspaceConfig(bytes.toString('utf8')), fault: null };
  } catch (thrown) {
    return { sha256, config: null, fault: ContextdError.from(thrown).message };
  }
}

/** The workspace is not trusted: no link is followed, no pipe waited for, and reads are bounded. */
async function readBounded(path: string): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw unusable('it is not a regular file');
    if (stats.size > MAX_BYTES) throw unusable(`it has ${stats.size} bytes, the most is ${MAX_BYTES}`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (isErrno(error, 'ELOOP')) throw unusable('it is a link');
    if (isErrno(error)) throw unusable(`it cannot be read (${error.code})`);
    throw error;
  } finally {
    await file?.close();
  }
}

function unusable(problem: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${WORKSPACE_FILE}: ${problem}`);
}

const NAME = '.gitleaks.toml';
const MAX_RULES = 500;
/** Characters of a pattern that a person is shown. */
const SHOWN_CHARS = 120;

/** A project's file, taken apart: what it may do by itself, and what only a person can allow. */
interface WorkspaceConfig {
  rules: number;
  /** The rules it adds, as a file of their own. */
  files: readonly RuleFile[];
  allowances: { disabledRules: readonly string[]; allowlists: RuleFile } | null;
  /** The allowances in words. */
  descriptions: readonly string[];
}

/**
 * Reads a file additively: its rules are further rules, whatever their ids; allowlists for other rules, `disabledRules`
 * and rules that only change another rule become allowances; no other file is read. An allowlist within its own rule
 * only narrows that rule and stays. SCHEMA_INVALID for a file that gitleaks would refuse.
 */
function readWorkspaceConfig(text: string): WorkspaceConfig {
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
    descriptions: [...disabledRules.map((id) => `turns the rule ${id} off`), ...lists.map(inWords)],
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
