import type { ToolEffects } from '../call/effects.ts';
import { ContextdError } from '../core/errors.ts';
import { invisibleIn } from '../core/invisible.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { BUDGET_CLASSES, type BudgetClass, TIMEOUT_LONGEST_MS, TIMEOUT_MAX_MS } from '../core/limits.ts';
import {
  RUNTIMES,
  type Runtime,
  runtimeOf,
  SECCOMP_RULES,
  type SeccompRule,
  type ToolLimits,
  type ToolProfile,
} from '../core/profile.ts';
import { toolOfShellName } from '../core/shell-names.ts';
import { parseEffects } from './effects.ts';
import { limitGrants, parseGrants, type ToolGrant } from './grants.ts';
import { TOOL_NAME_PATTERN } from './tool-name.ts';

/** The content of `tool.json`. Unknown keys are errors: a typo must not silently widen or drop a rule. */
export interface ToolManifest {
  name: string;
  purpose: string;
  /** Semantic version of the tool. */
  version: string;
  /** Where the bundle comes from, without credentials; null: not stated. */
  source: string | null;
  /** The author's signature; null: not signed. */
  signature: ToolSignature | null;
  /** What a person must accept: `grants` of tool.json, then each limit that is above the usual one. */
  grants: readonly ToolGrant[];
  profile: ToolProfile;
  /** What its calls do. A tool that states nothing may do anything to files. */
  effects: ToolEffects;
  /** True for a verb of the daemon (`"runtime": "host"`), which only a core tool can be. */
  isHost: boolean;
  /** The kind of answers it gives, which sets their default budget (BUDGET_DEFAULT_TOKENS, or the configuration). */
  budget: BudgetClass;
  /** True if every byte of its texts counts, as in a file to be edited: they are never densified. */
  isExact: boolean;
  /** Lines of the text form made from the facts, such as `wrote {path}`; null: the facts are printed as JSON. */
  text: readonly string[] | null;
  /** For core tools: the property names of its answers and failures. They are not searched for secrets. */
  answerNames: readonly string[];
}

/** `ed25519:KEY:SIGNATURE`: an Ed25519 signature and the public key it was made with, both in base64. */
export interface ToolSignature {
  publicKey: Buffer;
  signature: Buffer;
}

const KEYS = [
  'name',
  'purpose',
  'version',
  'source',
  'signature',
  'runtime',
  'entry',
  'grants',
  'effects',
  'min_isolation',
  'seccomp',
  'limits',
  'budget',
  'exact',
  'text',
  'answer_names',
];
/** Agents read it among their instructions, and a person before they agree. */
const PURPOSE = /^(?![#\s]).{1,200}$/u;

const ENTRY_DEFAULT = 'main.js';
const ENTRY_MAX_CHARS = 200;

/** Semantic versioning 2.0 without build metadata, which does not take part in comparisons. */
const VERSION = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
const VERSION_MAX_CHARS = 64;
const SOURCE_SCHEMES = ['https:', 'git+https:', 'git+ssh:', 's3:'];
const SOURCE_MAX_CHARS = 2_048;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Templates of the text form. A brace only stands around the name of a fact. */
const TEXT_LINES_MAX = 12;
const TEXT_LINE = /^(?=.{1,200}$)(?:[^{}]|\{[a-z][a-z0-9_]*\})+$/u;

/** `name_#` stands for `name_1` to `name_99`. */
const ANSWER_NAME = /^[a-z][a-z0-9_]{0,63}?(?:_#)?$/;

/** Bounds of each limit. Below the lower one no program of any language starts. */
const LIMITS = {
  memory_mb: { min: 64, max: 1_048_576, isWhole: true },
  pids: { min: 16, max: 32_768, isWhole: true },
  cpus: { min: 0.01, max: 4_096, isWhole: false },
  timeout_ms: { min: 1, max: TIMEOUT_MAX_MS, isWhole: true },
  default_timeout_ms: { min: 1, max: TIMEOUT_MAX_MS, isWhole: true },
} as const;

/** Parses `tool.json`; SCHEMA_INVALID names the file and every fault. */
export function parseManifest(file: string, text: string): ToolManifest {
  const reader = new ManifestReader(parseObject(file, text));
  const limits = reader.limits();
  const manifest: ToolManifest = {
    name: reader.name(),
    purpose: reader.purpose(),
    version: reader.version(),
    source: reader.source(),
    signature: reader.signature(),
    grants: reader.grants(limits),
    profile: {
      runtime: reader.runtime(),
      entry: reader.entry(),
      minIsolation: reader.minIsolation(),
      seccomp: reader.seccomp(),
      limits,
    },
    effects: reader.effects(),
    isHost: reader.isHost(),
    budget: reader.budget(),
    isExact: reader.isExact(),
    text: reader.text(),
    answerNames: reader.answerNames(),
  };
  const { faults } = reader;
  if (faults.length === 0) return manifest;
  throw new ContextdError('SCHEMA_INVALID', `${file} is not a valid tool manifest: ${faults.join('; ')}`, {
    remedy:
      'Correct the file and install the tool again. If somebody else made it, it may need a newer contextd than yours.',
    details: { faults },
  });
}

/** Collects the faults. Reads a wrong value as some valid one: the manifest is thrown away in that case. */
class ManifestReader {
  readonly faults: string[];
  readonly #value: JsonObject;

  constructor(value: JsonObject) {
    this.#value = value;
    this.faults = unknownKeys(value, KEYS);
  }

  name(): string {
    const { name } = this.#value;
    if (typeof name === 'string' && TOOL_NAME_PATTERN.test(name)) {
      const owner = toolOfShellName(name);
      if (owner === name) return name;
      return this.#fault(`"name" is ${name}, by which shells find the tool ${owner}`, '');
    }
    return this.#fault(`"name" must match ${TOOL_NAME_PATTERN}`, '');
  }

  purpose(): string {
    const { purpose } = this.#value;
    if (typeof purpose === 'string' && PURPOSE.test(purpose) && invisibleIn(purpose) === null) return purpose;
    return this.#fault('"purpose" must be one line of at most 200 characters that all print', '');
  }

  version(): string {
    const { version } = this.#value;
    if (typeof version === 'string' && version.length <= VERSION_MAX_CHARS && VERSION.test(version)) return version;
    return this.#fault('"version" must be a semantic version, such as "1.0.0" or "1.0.0-beta.1"', '');
  }

  source(): string | null {
    const { source } = this.#value;
    if (source === undefined) return null;
    if (typeof source === 'string' && isSource(source)) return source;
    return this.#fault(
      `"source" must be a URL without credentials that begins with one of ${SOURCE_SCHEMES.join(', ')}`,
      null,
    );
  }

  signature(): ToolSignature | null {
    const { signature } = this.#value;
    if (signature === undefined) return null;
    const parsed = typeof signature === 'string' ? parseSignature(signature) : null;
    return parsed ?? this.#fault('"signature" must be "ed25519:KEY:SIGNATURE", both in base64', null);
  }

  grants(limits: ToolLimits): ToolGrant[] {
    return [...parseGrants(this.#value.grants, this.faults), ...limitGrants(limits)];
  }

  entry(): string {
    const entry = this.#entry();
    if (isInside(entry)) return entry;
    return this.#fault('"entry" must be a path inside the bundle, such as "main.js" or "bin/tool"', '');
  }

  isHost(): boolean {
    return this.#value.runtime === 'host';
  }

  /** Without the key the name of the entry decides. */
  runtime(): Runtime {
    const { runtime = runtimeOf(this.#entry()) } = this.#value;
    const known = this.isHost() ? 'node' : RUNTIMES.find((one) => one === runtime);
    return known ?? this.#fault(`"runtime" must be one of ${RUNTIMES.join(', ')}`, 'node');
  }

  minIsolation(): 'full' | 'reduced' {
    const { min_isolation: level } = this.#value;
    if (level === 'full' || level === 'reduced') return level;
    return this.#fault('"min_isolation" must be "full" or "reduced"', 'full');
  }

  effects(): ToolEffects {
    return parseEffects(this.#value.effects, this.faults);
  }

  budget(): BudgetClass {
    const { budget = 'answer' } = this.#value;
    const known = BUDGET_CLASSES.find((one) => one === budget);
    return known ?? this.#fault(`"budget" must be one of ${BUDGET_CLASSES.join(', ')}`, 'answer');
  }

  isExact(): boolean {
    const { exact = false } = this.#value;
    return typeof exact === 'boolean' ? exact : this.#fault('"exact" must be true or false', false);
  }

  text(): string[] | null {
    const { text } = this.#value;
    if (text === undefined) return null;
    const isList = Array.isArray(text) && text.length <= TEXT_LINES_MAX;
    if (isList && text.every(isTextLine)) return text;
    const form = 'one line of up to 200 characters each; {name} stands for the fact of that name';
    return this.#fault(`"text" must be a list of at most ${TEXT_LINES_MAX} templates, ${form}`, null);
  }

  answerNames(): string[] {
    const { answer_names: names = [] } = this.#value;
    if (isListOfNames(names)) return names;
    return this.#fault(`"answer_names" must be a list of names that match ${ANSWER_NAME}`, []);
  }

  seccomp(): SeccompRule[] {
    const { seccomp = [] } = this.#value;
    if (isListOf(seccomp, SECCOMP_RULES) && new Set(seccomp).size === seccomp.length) return seccomp;
    return this.#fault(`"seccomp" must be a list of ${SECCOMP_RULES.join(', ')}, each at most once`, []);
  }

  limits(): ToolLimits {
    const { limits = {} } = this.#value;
    if (!isJsonObject(limits)) return this.#fault('"limits" must be an object', {});
    this.faults.push(...unknownKeys(limits, Object.keys(LIMITS)).map((fault) => `"limits" has an ${fault}`));
    const [memoryMb, pids] = [this.#limit(limits, 'memory_mb'), this.#limit(limits, 'pids')];
    const [cpus, timeoutMs] = [this.#limit(limits, 'cpus'), this.#limit(limits, 'timeout_ms')];
    const defaultTimeoutMs = this.#limit(limits, 'default_timeout_ms');
    if (defaultTimeoutMs !== undefined && defaultTimeoutMs > (timeoutMs ?? TIMEOUT_LONGEST_MS))
      this.faults.push('"limits.default_timeout_ms" must be at most "limits.timeout_ms"');
    return {
      ...(memoryMb === undefined ? {} : { memoryMb }),
      ...(pids === undefined ? {} : { pids }),
      ...(cpus === undefined ? {} : { cpus }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(defaultTimeoutMs === undefined ? {} : { defaultTimeoutMs }),
    };
  }

  /** '' if it is not a text, which is not inside the bundle. */
  #entry(): string {
    const { entry = ENTRY_DEFAULT } = this.#value;
    return typeof entry === 'string' ? entry : '';
  }

  #limit(limits: JsonObject, key: keyof typeof LIMITS): number | undefined {
    const value = limits[key];
    const { min, max, isWhole } = LIMITS[key];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value >= min && value <= max && (Number.isInteger(value) || !isWhole))
      return value;
    return this.#fault(`"limits.${key}" must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`, undefined);
  }

  #fault<T>(fault: string, instead: T): T {
    this.faults.push(fault);
    return instead;
  }
}

function isTextLine(line: Json): line is string {
  return typeof line === 'string' && TEXT_LINE.test(line) && invisibleIn(line) === null;
}

function isListOfNames(value: Json): value is string[] {
  return Array.isArray(value) && value.every((name: Json) => typeof name === 'string' && ANSWER_NAME.test(name));
}

function unknownKeys(value: JsonObject, known: readonly string[]): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown key "${key}"`);
}

/** True for a URL that says where a bundle comes from. Credentials in it would end up in every copy of the bundle. */
function isSource(text: string): boolean {
  if (text.length > SOURCE_MAX_CHARS || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, host, username, password } = new URL(text);
  const hasCredentials = password !== '' || (username !== '' && protocol !== 'git+ssh:');
  return SOURCE_SCHEMES.includes(protocol) && host !== '' && !hasCredentials;
}

function parseSignature(text: string): ToolSignature | null {
  const [algorithm, key = '', value = '', ...more] = text.split(':');
  if (algorithm !== 'ed25519' || more.length > 0) return null;
  const [publicKey, signature] = [Buffer.from(key, 'base64'), Buffer.from(value, 'base64')];
  const isExact = publicKey.toString('base64') === key && signature.toString('base64') === value;
  const hasLengths = publicKey.length === PUBLIC_KEY_BYTES && signature.length === SIGNATURE_BYTES;
  return isExact && hasLengths ? { publicKey, signature } : null;
}

/** True for a relative path of plain names: no `..`, no empty part, no character that is special to a shell. */
function isInside(path: string): boolean {
  const parts = path.split('/');
  return (
    path.length <= ENTRY_MAX_CHARS && parts.every((part) => /^[A-Za-z0-9_.@+-]+$/.test(part) && !/^\.+$/.test(part))
  );
}

function isListOf<T extends string>(value: Json | undefined, known: readonly T[]): value is T[] {
  return Array.isArray(value) && value.every((item: Json) => known.some((one) => one === item));
}

function parseObject(file: string, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw new ContextdError('SCHEMA_INVALID', `${file} is not JSON`, { remedy: 'Correct the file.', cause });
  }
  throw new ContextdError('SCHEMA_INVALID', `${file} is not a JSON object`, { remedy: 'Correct the file.' });
}
