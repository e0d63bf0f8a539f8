import { CONFIG_SCHEMA, type Config } from '../config/schema.ts';
import { valueAt } from '../config/validate.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** A setting by its dotted key, such as `budget.max_tokens`. */
export interface Setting {
  key: string;
  value: Json;
  from: 'file' | 'default';
}

/** Every key that the schema knows, in its order. */
function settingKeys(): string[] {
  return Object.entries(CONFIG_SCHEMA.properties).flatMap(([group, schema]) =>
    'properties' in schema ? Object.keys(schema.properties).map((name) => `${group}.${name}`) : [],
  );
}

/** The value in force of a setting or of a group. Throws ARGS_INVALID for an unknown key. */
export function readSetting(config: Config, key: string): Json {
  const value = valueAt(config, pointerOf(key));
  if (value === undefined) throw unknownKey(key);
  return value;
}

export function listSettings(config: Config, written: JsonObject): Setting[] {
  return settingKeys().map((key) => ({
    key,
    value: readSetting(config, key),
    from: valueAt(written, pointerOf(key)) === undefined ? 'default' : 'file',
  }));
}

/** The key itself when there is such a setting. */
export function requireSetting(key: string): string {
  if (settingKeys().includes(key)) return key;
  throw unknownKey(key);
}

/** A copy of the written settings with one changed. */
export function withSetting(written: JsonObject, key: string, value: Json): JsonObject {
  const [group = '', name = ''] = key.split('.');
  const present = written[group];
  return { ...written, [group]: { ...(isJsonObject(present) ? present : {}), [name]: value } };
}

/** JSON where it is JSON, else the text itself: `debug` needs no quotes. */
export function parseValue(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function pointerOf(key: string): string {
  return `/${key.replaceAll('.', '/')}`;
}

function unknownKey(key: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `there is no setting ${JSON.stringify(key)}`, {
    remedy: `There are ${settingKeys().join(', ')}.`,
  });
}
