import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { BUDGET_CLASSES, type BudgetClass } from '../core/limits.ts';
import {
  GRANTS,
  type Grant,
  SECCOMP_RULES,
  type SeccompRule,
  type ToolLimits,
  type ToolProfile,
} from '../core/profile.ts';

/** `tool.json`, closed: an unknown key is an error, because a typo there would silently widen or drop a rule. */
export interface ToolManifest {
  name: string;
  purpose: string;
  grants: readonly Grant[];
  profile: ToolProfile;
  /** Which default budget its answers have (BUDGET_DEFAULT_TOKENS; of `answer` the configuration may say another). */
  budget: BudgetClass;
  /** Every byte of its texts counts, as in a file that is to be edited: they are never densified. */
  isExact: boolean;
}

/** Names that are safe as a file name, an argument and an MCP tool name alike. */
export const TOOL_NAME_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

const KEYS = ['name', 'purpose', 'entry', 'grants', 'min_isolation', 'seccomp', 'limits', 'budget', 'exact'];
const ENTRY_DEFAULT = 'main.js';
const ENTRY_MAX_CHARS = 200;

/** Least and most of each limit: less than the least, and no program of any language starts. */
const LIMITS = {
  memory_mb: { min: 64, max: 1_048_576, isWhole: true },
  pids: { min: 16, max: 32_768, isWhole: true },
  cpus: { min: 0.01, max: 4_096, isWhole: false },
  timeout_ms: { min: 1, max: 300_000, isWhole: true },
} as const;

/** Parses `tool.json`; SCHEMA_INVALID names the file and every fault. */
export function parseManifest(file: string, text: string): ToolManifest {
  const reader = new ManifestReader(parseObject(file, text));
  const manifest: ToolManifest = {
    name: reader.name(),
    purpose: reader.purpose(),
    grants: reader.listOf('grants', GRANTS, 'required'),
    profile: {
      entry: reader.entry(),
      minIsolation: reader.minIsolation(),
      seccomp: reader.listOf<SeccompRule>('seccomp', SECCOMP_RULES, 'optional'),
      limits: reader.limits(),
    },
    budget: reader.budget(),
    isExact: reader.isExact(),
  };
  const { faults } = reader;
  if (faults.length === 0) return manifest;
  throw new ContextdError('SCHEMA_INVALID', `${file} is not a valid tool manifest: ${faults.join('; ')}`, {
    remedy: 'Correct the file and install the tool again.',
    details: { faults },
  });
}

/** Collects what is wrong; a value that is wrong is read as any that is right, since nobody will see it. */
class ManifestReader {
  readonly faults: string[];
  readonly #value: JsonObject;

  constructor(value: JsonObject) {
    this.#value = value;
    this.faults = unknownKeys(value, KEYS);
  }

  name(): string {
    const { name } = this.#value;
    if (typeof name === 'string' && TOOL_NAME_PATTERN.test(name)) return name;
    return this.#fault(`"name" must match ${TOOL_NAME_PATTERN}`, '');
  }

  purpose(): string {
    const { purpose } = this.#value;
    if (typeof purpose === 'string' && purpose !== '') return purpose;
    return this.#fault('"purpose" must be a non-empty string', '');
  }

  entry(): string {
    const { entry = ENTRY_DEFAULT } = this.#value;
    if (typeof entry === 'string' && isInside(entry)) return entry;
    return this.#fault('"entry" must be a path inside the bundle, such as "main.js" or "bin/tool"', '');
  }

  minIsolation(): 'full' | 'reduced' {
    const { min_isolation: level } = this.#value;
    if (level === 'full' || level === 'reduced') return level;
    return this.#fault('"min_isolation" must be "full" or "reduced"', 'full');
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

  listOf<T extends string>(key: string, known: readonly T[], presence: 'required' | 'optional'): T[] {
    const list = this.#value[key] ?? (presence === 'optional' ? [] : undefined);
    if (isListOf(list, known) && new Set(list).size === list.length) return list;
    return this.#fault(`"${key}" must be a list of ${known.join(', ')}, each at most once`, []);
  }

  limits(): ToolLimits {
    const { limits = {} } = this.#value;
    if (!isJsonObject(limits)) return this.#fault('"limits" must be an object', {});
    this.faults.push(...unknownKeys(limits, Object.keys(LIMITS)).map((fault) => `"limits" has an ${fault}`));
    const [memoryMb, pids] = [this.#limit(limits, 'memory_mb'), this.#limit(limits, 'pids')];
    const [cpus, timeoutMs] = [this.#limit(limits, 'cpus'), this.#limit(limits, 'timeout_ms')];
    return {
      ...(memoryMb === undefined ? {} : { memoryMb }),
      ...(pids === undefined ? {} : { pids }),
      ...(cpus === undefined ? {} : { cpus }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
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

function unknownKeys(value: JsonObject, known: readonly string[]): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown key "${key}"`);
}

/** Relative, of plain names: no `..`, no empty part, nothing that a shell or a terminal would trip over. */
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
