import { parse } from 'smol-toml';

export type Table = Readonly<Record<string, unknown>>;

/** Null if it is not TOML. */
export function parseToml(text: string): Table | null {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

export function asTable(value: unknown): Table | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : null;
}

export function hasOnly(table: Table, keys: readonly string[]): boolean {
  return Object.keys(table).every((key) => keys.includes(key));
}

/** A name or a version: no path, no option, no address. */
export function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9][\w.-]*$/.test(value);
}

/** A path that stays below the directory of its file. */
export function isBelow(value: unknown): boolean {
  return typeof value === 'string' && /^(?!\/)[\w./-]+$/.test(value) && !value.split('/').includes('..');
}
