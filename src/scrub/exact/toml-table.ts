import type { TomlTable, TomlValue } from 'smol-toml';
import { ContextdError } from '../../core/errors.ts';

/** A fault in a rule file. `where` names the file and the rule. */
export function ruleFault(where: string, problem: string, cause?: unknown): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${where}: ${problem}`, {
    remedy: 'Correct the rule file. contextd never scrubs with an incomplete set of rules.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * Reads a TOML table key by key, keys in any case. `weak` reads as gitleaks does: unknown keys are ignored, values of
 * another type are converted if possible. `strict` is for our own files: each key must be known, each value of its
 * type.
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

  /** Empty if the key is missing. */
  text(key: string): string {
    return this.#convert(key, 'a string', weakText, (value) => typeof value === 'string') ?? '';
  }

  /** 0 if the key is missing. */
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

  /** Refuses settings that have no meaning here. */
  refuse(...keys: readonly string[]): void {
    const found = keys.find((key) => this.#values.has(key));
    if (found !== undefined) throw ruleFault(this.where, `"${found}" is a gitleaks setting that is not supported here`);
  }

  /** Must be called after the last read. */
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

/*
 * The conversions gitleaks' configuration reader makes between types (viper over mapstructure, weakly typed).
 * undefined: it would refuse the value.
 */

function weakText(value: TomlValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

/** A text is cut at its commas; one value is a list of one. */
function weakTexts(value: TomlValue): string[] | undefined {
  if (value === '') return [];
  if (typeof value === 'string') return value.split(',');
  if (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0 && !(value instanceof Date))
    return [];
  const texts: string[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const text = weakText(item);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

function weakNumber(value: TomlValue): number | undefined {
  if (value === '') return 0;
  if (typeof value === 'string')
    return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? Number(value)
    : undefined;
}

function weakWhole(value: TomlValue): number | undefined {
  if (typeof value === 'string') return value === '' ? 0 : wholeFromText(value);
  const number = weakNumber(value);
  return number === undefined ? undefined : Math.trunc(number);
}

function weakTruth(value: TomlValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) !== 0;
  if (typeof value !== 'string') return undefined;
  if (/^(?:1|t|T|TRUE|true|True)$/.test(value)) return true;
  return /^(?:|0|f|F|FALSE|false|False)$/.test(value) ? false : undefined;
}

/** Go's integers: 0x, 0o or a leading 0, 0b, `_` between digits. */
function wholeFromText(text: string): number | undefined {
  const [, sign, digits] = /^([+-]?)(0x[0-9a-f_]+|0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits.replaceAll('_', '').replace(/^0(?=\d)/, '0o'));
  return sign === '-' ? -value : value;
}
