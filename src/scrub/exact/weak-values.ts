import type { TomlValue } from 'smol-toml';

/*
 * The conversions gitleaks' configuration reader makes between types (viper over mapstructure, weakly typed).
 * undefined: it would refuse the value.
 */

export function weakText(value: TomlValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

/** A text is cut at its commas; one value is a list of one. */
export function weakTexts(value: TomlValue): string[] | undefined {
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

export function weakNumber(value: TomlValue): number | undefined {
  if (value === '') return 0;
  if (typeof value === 'string')
    return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? Number(value)
    : undefined;
}

export function weakWhole(value: TomlValue): number | undefined {
  if (typeof value === 'string') return value === '' ? 0 : wholeFromText(value);
  const number = weakNumber(value);
  return number === undefined ? undefined : Math.trunc(number);
}

export function weakTruth(value: TomlValue): boolean | undefined {
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
