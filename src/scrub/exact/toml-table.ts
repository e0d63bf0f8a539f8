import type { TomlTable, TomlValue } from 'smol-toml';
import { ContextdError } from '../../core/errors.ts';
import { weakNumber, weakText, weakTexts, weakTruth, weakWhole } from './weak-values.ts';

/** A fault in a rule file. `where` names the file and the rule. */
export function ruleFault(where: string, problem: string, cause?: unknown): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${where}: ${problem}`, {
    remedy: 'Mend the rule file; nothing is scrubbed with a rule left out.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * A TOML table read key by key, keys in any case. `weak` reads as gitleaks does: unknown keys are passed over, a value
 * of another type is converted where it can be. `strict` is for our own files: each key known, each value of its type.
 */
export class TableReader {
  readonly where: string;
  readonly reading: 'weak' | 'strict';
  readonly #values = new Map<string, TomlValue>();
  readonly #asked = new Set<string>();

  constructor(table: TomlTable, where: string, reading: 'weak' | 'strict') {
    this.where = where;
    this.reading = reading;
    for (const [name, value] of Object.entries(table)) {
      const key = name.toLowerCase();
      if (this.#values.has(key)) throw ruleFault(where, `"${name}" is given twice in different case`);
      this.#values.set(key, value);
    }
  }

  /** Empty where the key is missing. */
  text(key: string): string {
    return this.#convert(key, 'a string', weakText, (value) => typeof value === 'string') ?? '';
  }

  /** 0 where the key is missing. */
  number(key: string): number {
    return this.#convert(key, 'a number of 0 or more', weakNumber, isSize) ?? 0;
  }

  /** A whole number. */
  whole(key: string): number | undefined {
    return this.#convert(key, 'a whole number of 0 or more', weakWhole, (v) => isSize(v) && Number.isInteger(v));
  }

  truth(key: string): boolean {
    return this.#convert(key, 'true or false', weakTruth, (value) => typeof value === 'boolean') ?? false;
  }

  texts(key: string): readonly string[] {
    return this.#convert(key, 'a list of strings', weakTexts, (v) => Array.isArray(v) && v.every(isText)) ?? [];
  }

  /** `[key]`, one table. `name` says what it is called in messages. */
  table(key: string, name: string): TableReader | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (!isTable(value)) throw ruleFault(this.where, `"${key}" must be a table`);
    return new TableReader(value, name, this.reading);
  }

  /** `[[key]]`; a single `[key]` counts as a list of one. */
  tables(key: string, name: (position: number, item: TomlTable) => string): TableReader[] {
    const value = this.#take(key);
    if (value === undefined || value === '') return [];
    const items = Array.isArray(value) ? value : isTable(value) && Object.keys(value).length === 0 ? [] : [value];
    return items.map((item, position) => {
      if (!isTable(item)) throw ruleFault(this.where, `"${key}" must be a table`);
      return new TableReader(item, name(position + 1, item), this.reading);
    });
  }

  /** Refuses settings that would have no meaning where the file is used. */
  refuse(...keys: readonly string[]): void {
    const found = keys.find((key) => this.#values.has(key));
    if (found !== undefined) throw ruleFault(this.where, `"${found}" is a gitleaks setting that is not supported here`);
  }

  /** Call it after every read. */
  close(): void {
    if (this.reading === 'weak') return;
    const unknown = [...this.#values.keys()].find((key) => !this.#asked.has(key));
    if (unknown !== undefined) throw ruleFault(this.where, `"${unknown}" is not a known setting`);
  }

  #convert<T>(
    key: string,
    kind: string,
    convert: (value: TomlValue) => T | undefined,
    isOfKind: (value: TomlValue) => boolean,
  ): T | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    const converted = this.reading === 'weak' || isOfKind(value) ? convert(value) : undefined;
    if (converted === undefined) throw ruleFault(this.where, `"${key}" must be ${kind}`);
    return converted;
  }

  #take(key: string): TomlValue | undefined {
    this.#asked.add(key);
    return this.#values.get(key);
  }
}

function isText(value: TomlValue): value is string {
  return typeof value === 'string';
}

function isSize(value: TomlValue): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}
