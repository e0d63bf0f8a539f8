import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { nearestNames } from '../core/nearest-names.ts';
import { shownAddress } from '../core/shown-address.ts';
import { valueAt } from './load.ts';
import { CONFIG_SCHEMA, type Config } from './schema.ts';

/** A setting and its dotted key, such as `budget.max_tokens`. */
export interface Setting {
  key: string;
  value: Json;
  from: 'file' | 'default';
}

/** `written`: the content of the file, without the defaults. Values of `tools.env` are hidden. */
export function listSettings(config: Config, written: JsonObject): Setting[] {
  return settingKeys().map((key) => ({
    key,
    value: shownValue(key, readSetting(config, key)),
    from: valueAt(written, pointerOf(key)) === undefined ? 'default' : 'file',
  }));
}

/** The value of a setting or of a group. Throws ARGS_INVALID for an unknown key. */
export function readSetting(config: Config, key: string): Json {
  const value = valueAt(config, pointerOf(key));
  if (value === undefined) throw unknownKey(key);
  return value;
}

/** Returns the key. Throws ARGS_INVALID if there is no such setting. */
export function requireSetting(key: string): string {
  if (settingKeys().includes(key)) return key;
  throw unknownKey(key);
}

/**
 * A value as lists and logs may show it: variables of tools may be secrets, and an address may hold one. `ctxd config get KEY` prints the
 * value itself.
 */
export function shownValue(key: string, value: Json): Json {
  if (typeof value === 'string' && /^https?:\/\//i.test(value)) return shownAddress(value);
  if (key !== 'tools.env' || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, '(hidden)']));
}

export function pointerOf(key: string): string {
  return `/${key.replaceAll('.', '/')}`;
}

/** Every key of the schema, in its order. */
export function settingKeys(): string[] {
  return Object.entries(CONFIG_SCHEMA.properties).flatMap(([group, schema]) =>
    isGroup(schema) ? keysWithin(group, schema.properties) : [],
  );
}

function keysWithin(group: string, properties: JsonObject): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    isGroup(schema) ? keysWithin(`${group}.${name}`, schema.properties) : [`${group}.${name}`],
  );
}

/** Each setting of a group has a default; a setting that is an object may have parts without one. */
function isGroup(schema: unknown): schema is { properties: JsonObject } {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return false;
  return Object.values(schema.properties).every((property) => isJsonObject(property) && property.default !== undefined);
}

function unknownKey(key: string): ContextdError {
  const nearest = nearestNames(key, settingKeys());
  const hint = nearest.length === 0 ? '' : `; did you mean ${nearest.join(', ')}?`;
  return new ContextdError('ARGS_INVALID', `there is no setting ${JSON.stringify(key)}${hint}`, {
    remedy: '`ctxd config list` prints all settings.',
  });
}
