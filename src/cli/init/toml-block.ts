import { parse, stringify, TomlError } from 'smol-toml';
import { ContextdError } from '../../core/errors.ts';

// A table of contextd in a user's TOML file. It is a block of lines at the end of the file, so the rest stays byte for byte.

/** The lines of one table, without a last line end. */
export function tableLines(
  path: readonly string[],
  value: Readonly<Record<string, string | readonly string[]>>,
): string[] {
  const nested = path.reduceRight<object>((within, name) => ({ [name]: within }), value);
  return stringify(nested).trimEnd().split('\n');
}

/** Returns true if the text has a value at this path. Throws SCHEMA_INVALID if it is not TOML. */
export function hasTable(text: string, path: readonly string[]): boolean {
  let value: unknown = parseToml(text);
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = Reflect.get(value, name);
  }
  return true;
}

/** Throws SCHEMA_INVALID if a table cannot be added, such as below an inline table. */
export function checkToml(text: string): void {
  parseToml(text);
}

function parseToml(text: string): object {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ''] = error.message.split('\n');
    throw new ContextdError('SCHEMA_INVALID', `line ${error.line}: ${what}`);
  }
}
