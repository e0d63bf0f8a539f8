import { readFile } from 'node:fs/promises';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { shownAddress } from '../core/shown-address.ts';
import type { Paths } from './paths.ts';
import { CONFIG_ORDER, CONFIG_SCHEMA, type Config } from './schema.ts';

/**
 * The settings in force: config.json over the defaults. Without a file, the defaults. Throws SCHEMA_INVALID with every
 * fault and its path in the message and in `details.faults`, so that a typo never removes protection silently.
 */
export async function loadConfig(paths: Pick<Paths, 'configFile'>): Promise<Config> {
  return acceptConfig(paths.configFile, await readConfigFile(paths));
}

/** What a person wrote into config.json. Checked only to be a JSON object. {} if there is no file. */
export async function readConfigFile(paths: Pick<Paths, 'configFile'>): Promise<JsonObject> {
  const text = await readText(paths.configFile);
  if (text === undefined) return {};
  const value = parse(paths.configFile, text);
  if (isJsonObject(value)) return value;
  throw refusal(paths.configFile, [{ path: '', message: 'must be a JSON object' }]);
}

/** Throws SCHEMA_INVALID, which names `file`, unless the settings are valid. */
export function acceptConfig(file: string, settings: JsonObject): Config {
  const { config, faults } = checkConfig(settings);
  if (config === undefined) throw refusal(file, faults);
  return config;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw new ContextdError(
      'SCHEMA_INVALID',
      `cannot read ${file} (${isErrno(error) ? error.code : 'unknown error'})`,
      {
        remedy: 'Make it a file that this user can read.',
        cause: error,
      },
    );
  }
}

function parse(file: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'not JSON';
    throw refusal(file, [{ path: '', message: `is not JSON: ${reason}` }]);
  }
}

function refusal(file: string, faults: readonly Fault[]): ContextdError {
  const list = faults.map((fault) => `${fault.path === '' ? 'the file' : fault.path} ${fault.message}`).join('; ');
  return new ContextdError('SCHEMA_INVALID', `${file} is invalid: ${list}`, {
    remedy: 'Correct it in an editor; docs/config.schema.json lists every setting.',
    details: { path: file, faults },
  });
}

/** One fault of a configuration. */
export interface Fault {
  /** JSON pointer of the setting. "" is the whole file. */
  path: string;
  /** What is wrong, without the path. */
  message: string;
}

export type Checked = { config: Config; faults: readonly [] } | { config: undefined; faults: readonly Fault[] };

/** Checks a parsed configuration and fills in the defaults. Does not change `value`. */
export function checkConfig(value: Json): Checked {
  if (isJsonObject(value) && Object.keys(value).length === 0) return { config: defaultConfig(), faults: [] };
  const validate = compileSchema();
  const filled: unknown = structuredClone(value);
  if (!validate(filled)) return { config: undefined, faults: (validate.errors ?? []).map(describe) };
  const faults = [...checkOrder(filled), ...checkProjectIds(filled), ...checkEmbedding(filled)];
  return faults.length === 0 ? { config: withoutSchemaKey(filled), faults: [] } : { config: undefined, faults };
}

/** The value at a pointer, for example /budget/max_tokens. Undefined if there is no value. */
export function valueAt(root: unknown, pointer: string): Json | undefined {
  let value: unknown = root;
  for (const key of pointer.split('/').slice(1))
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isJson(value) ? value : undefined;
}

/** For a configuration without settings, as most are: compiling the schema takes longer than the rest of a start. */
function defaultConfig(): Config {
  const filled = {};
  fillDefaults(CONFIG_SCHEMA, filled);
  // Every section and setting has a default. A test compares them with the defaults of the compiled schema.
  return filled as Config;
}

function fillDefaults(schema: object, value: Record<string, unknown>): void {
  const properties: unknown = 'properties' in schema ? schema.properties : {};
  for (const [name, property] of isJsonObject(properties) ? Object.entries(properties) : []) {
    if (!isJsonObject(property) || !Object.hasOwn(property, 'default')) continue;
    const filled: unknown = structuredClone(property.default);
    value[name] = filled;
    if (isJsonObject(filled)) fillDefaults(property, filled);
  }
}

/** Does not validate the schema itself: a test does, and it would double the time. */
function compileSchema(): ValidateFunction<Config> {
  return new Ajv2020({
    meta: false,
    validateSchema: false,
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
  }).compile<Config>(CONFIG_SCHEMA);
}

function withoutSchemaKey(config: Config & { $schema?: string }): Config {
  const { $schema: _ignored, ...settings } = config;
  return settings;
}

function describe(error: ErrorObject): Fault {
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params.additionalProperty);
    return { path: `${error.instancePath}/${escapePointer(name)}`, message: `is not a setting${suggest(name, error)}` };
  }
  const values = error.keyword === 'enum' ? `: ${listed(error.params.allowedValues)}` : '';
  return {
    path: error.instancePath,
    message: `${error.message ?? 'is invalid'}${values}, but is ${shown(error.data)}`,
  };
}

function suggest(name: string, error: ErrorObject): string {
  const known = isJsonObject(error.parentSchema?.properties) ? Object.keys(error.parentSchema.properties) : [];
  const names = known.filter((key) => !key.startsWith('$'));
  const near = names.find(
    (key) => key.toLowerCase().replaceAll(/[_-]/g, '') === name.toLowerCase().replaceAll(/[_-]/g, ''),
  );
  return near === undefined ? `; the settings are ${names.join(', ')}` : `; did you mean ${near}?`;
}

function checkOrder(config: Config): Fault[] {
  const faults: Fault[] = [];
  for (const [low, high] of CONFIG_ORDER) {
    const [least, most] = [Number(valueAt(config, low)), Number(valueAt(config, high))];
    if (least > most) faults.push({ path: low, message: `must be at most ${high}, which is ${most}, but is ${least}` });
  }
  return faults;
}

/** One id for two projects here would mix their memories. */
function checkProjectIds({ memory }: Config): Fault[] {
  const roots = new Map<string, string>();
  return Object.entries(memory.qdrant.project_ids).flatMap(([root, id]) => {
    const other = roots.get(id);
    roots.set(id, root);
    if (other === undefined) return [];
    const path = `/memory/qdrant/project_ids/${escapePointer(root)}`;
    return [{ path, message: `must be another id than that of ${other}, but is ${shown(id)}` }];
  });
}

/** What a provider needs has no default. */
function checkEmbedding({ memory: { embedding } }: Config): Fault[] {
  const { provider, tools } = embedding;
  if (provider === 'none' && tools) return [{ path: '/memory/embedding/tools', message: 'needs a provider' }];
  const needed = { none: [], http: ['url', 'model'], local: ['folder'] } as const;
  return needed[provider].flatMap((name) =>
    embedding[name] === null
      ? [{ path: `/memory/embedding/${name}`, message: `must be set if the provider is ${provider}` }]
      : [],
  );
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(', ') : '';
}

function shown(data: unknown): string {
  const safe = typeof data === 'string' && data.includes('://') ? shownAddress(data) : data;
  const text = JSON.stringify(safe) ?? 'undefined';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isJson(value: unknown): value is Json {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint';
}
