import type { TomlTable, TomlValue } from 'smol-toml';
import { ContextdError } from '../../core/errors.ts';

/** A fault in a rule file. `where` names the file and the rule. */
export function ruleFault(where: string, problem: string, cause?: unknown): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${where}: ${problem}`, {
    remedy: 'Mend the rule file; nothing is scrubbed with a rule left out.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A TOML table read key by key. Keys are case-insensitive, as gitleaks reads them; a key nobody asked for is a fault. */
export class TableReader {
  readonly where: string;
  readonly #values = new Map<string, TomlValue>();
  readonly #asked = new Set<string>();

  constructor(table: TomlTable, where: string) {
    this.where = where;
    for (const [name, value] of Object.entries(table)) {
      const key = name.toLowerCase();
      if (this.#values.has(key)) throw ruleFault(where, `"${name}" is given twice in different case`);
      this.#values.set(key, value);
    }
  }

  text(key: string): string | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === 'string') return value;
    throw ruleFault(this.where, `"${key}" must be a string`);
  }

  number(key: string): number | undefined {
    const value = this.#take(key);
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)) return value;
    throw ruleFault(this.where, `"${key}" must be a number of 0 or more`);
  }

  texts(key: string): string[] {
    const value = this.#take(key);
    if (value === undefined) return [];
    if (Array.isArray(value)) {
      const texts = value.filter((item) => typeof item === 'string');
      if (texts.length === value.length) return texts;
    }
    throw ruleFault(this.where, `"${key}" must be a list of strings`);
  }

  /** `[[key]]`; a single `[key]` counts as a list of one. `name` says what an item is called in messages. */
  tables(key: string, name: (position: number, item: TomlTable) => string): TableReader[] {
    const value = this.#take(key);
    if (value === undefined) return [];
    const items = Array.isArray(value) ? value : [value];
    return items.map((item, position) => {
      if (!isTable(item)) throw ruleFault(this.where, `"${key}" must be a table`);
      return new TableReader(item, name(position + 1, item));
    });
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  /** Refuses keys that gitleaks knows and this engine does not: they would change what a rule finds. */
  refuse(...keys: readonly string[]): void {
    const found = keys.find((key) => this.#values.has(key));
    if (found !== undefined) throw ruleFault(this.where, `"${found}" is a gitleaks setting that is not supported yet`);
  }

  /** Call it after every read. */
  close(): void {
    const unknown = [...this.#values.keys()].find((key) => !this.#asked.has(key));
    if (unknown !== undefined) throw ruleFault(this.where, `"${unknown}" is not a known setting`);
  }

  #take(key: string): TomlValue | undefined {
    this.#asked.add(key);
    return this.#values.get(key);
  }
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}
