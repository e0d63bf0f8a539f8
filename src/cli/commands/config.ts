import { acceptConfig, checkConfig, type Fault, loadConfig, readConfigFile, valueAt } from '../../config/load.ts';
import type { Paths } from '../../config/paths.ts';
import { CONFIG_SCHEMA, type Config } from '../../config/schema.ts';
import {
  listSettings,
  pointerOf,
  readSetting,
  requireSetting,
  type Setting,
  shownValue,
} from '../../config/settings.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { writePrivateFile } from '../files/private-file.ts';
import type { View } from '../render.ts';

const configGet = defineCommand({
  name: ['config', 'get'],
  summary: 'Print the value of a setting, or of a group of settings.',
  parameters: [{ syntax: '[key]', help: 'such as budget.default_tokens; without it, every setting is listed' }],
  async run(context, args) {
    const key = args.word(0);
    if (key === undefined) return { list: await listAll(context) };
    return { value: readSetting(await loadConfig(context.paths), key) };
  },
  bare: (result) => JSON.stringify('list' in result ? result.list : result.value),
  view: (result) => {
    if ('list' in result) return tableOf(result.list);
    const { value } = result;
    return { kind: 'lines', lines: [typeof value === 'string' ? value : JSON.stringify(value)] };
  },
});

const configList = defineCommand({
  name: ['config', 'list'],
  summary: 'Print every setting, its value and where the value comes from. Values of tools.env are hidden.',
  run: listAll,
  view: tableOf,
});

interface SettingList {
  file: string;
  settings: Setting[];
}

async function listAll({ paths }: CliContext): Promise<SettingList> {
  const [config, written] = await Promise.all([loadConfig(paths), readConfigFile(paths)]);
  return { file: paths.configFile, settings: listSettings(config, written) };
}

function tableOf({ settings }: SettingList): View {
  return {
    kind: 'table',
    columns: ['SETTING', 'VALUE', 'FROM'],
    rows: settings.map(({ key, value, from }) => [key, JSON.stringify(value), from]),
    empty: '',
  };
}

const configSet = defineCommand({
  name: ['config', 'set'],
  summary: 'Change a setting. A running daemon uses it after a restart.',
  parameters: [
    { syntax: '<key>', help: 'such as budget.default_tokens' },
    { syntax: '<value>', help: 'JSON, or plain text' },
  ],
  async run(context, args) {
    const key = requireSetting(args.requiredWord(0));
    const value = expandHome(parseValue(args.requiredWord(1)), key, context.paths.userHome);
    const config = await changeSetting(context, key, value);
    const accepted = shownValue(key, readSetting(config, key));
    return { key, value: accepted, file: context.paths.configFile, restart_needed: true };
  },
  view: ({ key, value, file }) => ({
    kind: 'lines',
    lines: [`${key} is ${JSON.stringify(value)} in ${file}`, RESTART_HINT],
  }),
});

/** Writes one setting into the file, and on record. Throws ARGS_INVALID if it is invalid. */
export async function changeSetting(context: CliContext, key: string, value: Json): Promise<Config> {
  const written = await readConfigFile(context.paths);
  checkSetting(written, key, value);
  const changed = withSetting(written, key, value);
  const config = acceptConfig(context.paths.configFile, changed);
  await replaceConfig(context.paths, changed);
  await record(context);
  return config;
}

const configUnset = defineCommand({
  name: ['config', 'unset'],
  summary: 'Return a setting to its default. A running daemon uses it after a restart.',
  parameters: [{ syntax: '<key>', help: 'such as budget.default_tokens' }],
  async run(context, args) {
    const key = requireSetting(args.requiredWord(0));
    const written = await readConfigFile(context.paths);
    const wasSet = valueAt(written, pointerOf(key)) !== undefined;
    const changed = withoutSetting(written, key);
    const value = readSetting(acceptConfig(context.paths.configFile, changed), key);
    if (wasSet) await replaceConfig(context.paths, changed);
    if (wasSet) await record(context);
    return { key, value, file: context.paths.configFile, restart_needed: wasSet };
  },
  view: ({ key, value, restart_needed: wasSet }) => ({
    kind: 'lines',
    lines: wasSet
      ? [`${key} has its default again: ${JSON.stringify(value)}`, RESTART_HINT]
      : [`${key} was not set; its default is ${JSON.stringify(value)}`],
  }),
});

export const configCommands = [configGet, configSet, configUnset, configList];

const RESTART_HINT = 'A running daemon uses it after a restart: ctxd server restart';

/** The daemon puts the change on record: a running one now, otherwise the next one when it starts. */
async function record({ paths }: CliContext): Promise<void> {
  await withClient(paths, (client) => client.recordSettings({})).catch((thrown: unknown) => {
    if (ContextdError.from(thrown).code !== 'DAEMON_UNAVAILABLE') throw thrown;
  });
}

async function replaceConfig(paths: Pick<Paths, 'configFile'>, settings: JsonObject): Promise<void> {
  await writePrivateFile(paths.configFile, `${JSON.stringify(settings, null, 2)}\n`);
}

/** A copy of the file's settings with one of them changed. */
export function withSetting(written: JsonObject, key: string, value: Json): JsonObject {
  const [first = '', ...rest] = key.split('.');
  if (rest.length === 0) return { ...written, [first]: value };
  const present = written[first];
  return { ...written, [first]: withSetting(isJsonObject(present) ? present : {}, rest.join('.'), value) };
}

/** A copy of the file's settings without one of them. A group without settings is left out. */
export function withoutSetting(written: JsonObject, key: string): JsonObject {
  const [first = '', ...names] = key.split('.');
  const { [first]: present, ...others } = written;
  if (names.length === 0) return others;
  if (!isJsonObject(present)) return { ...written };
  const rest = withoutSetting(present, names.join('.'));
  return Object.keys(rest).length === 0 ? others : { ...others, [first]: rest };
}

/**
 * Replaces `~` at the start of paths by the home directory, in settings that hold absolute paths. A value that is not a
 * list is a list of one path for such a setting, so that `config set sandbox.ro_paths ~/.nvm` works.
 */
export function expandHome(value: Json, key: string, home: string): Json {
  const { items } = schemaOf(key);
  if (!isJsonObject(items) || typeof items.pattern !== 'string' || !items.pattern.startsWith('^/')) return value;
  const paths = Array.isArray(value) ? value : [value];
  return paths.map((path) => (typeof path === 'string' ? path.replace(/^~(?=\/|$)/, home) : path));
}

/**
 * Throws ARGS_INVALID if the new value is invalid, alone or together with another setting. Faults that the file had
 * before do not count.
 */
export function checkSetting(written: JsonObject, key: string, value: Json): void {
  const before = checkConfig(written).faults.map(faultKey);
  const caused = checkConfig(withSetting(written, key, value)).faults.filter((one) => !before.includes(faultKey(one)));
  if (caused.length === 0) return;
  const own = caused.filter(({ path }) => isWithin(path, pointerOf(key)));
  const why =
    own.length > 0 ? `it ${mustOf(key)}` : caused.map((one) => dotted(`${one.path} ${one.message}`)).join('; ');
  throw new ContextdError('ARGS_INVALID', `cannot set ${key} to ${JSON.stringify(shownValue(key, value))}: ${why}`, {
    remedy: own.length > 0 ? aboutSetting(key) : `Change ${caused.map(({ path }) => dotted(path)).join(', ')} first.`,
    details: { key, faults: caused },
  });
}

/** The text as JSON if it is JSON, otherwise the text itself, so that `debug` needs no quotes. */
export function parseValue(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function faultKey({ path, message }: Fault): string {
  return `${path} ${message}`;
}

function isWithin(path: string, pointer: string): boolean {
  return path === pointer || path.startsWith(`${pointer}/`);
}

/** Replaces pointers such as /timeout/max_ms by keys such as timeout.max_ms. */
function dotted(text: string): string {
  return text.replaceAll(/(?<![\w/])\/(\w+)\/(\w+)/g, '$1.$2');
}

function schemaOf(key: string): JsonObject {
  const schema = valueAt(CONFIG_SCHEMA, `/properties/${key.replaceAll('.', '/properties/')}`);
  return isJsonObject(schema) ? schema : {};
}

/** The schema's demands on a value, in words. */
function mustOf(key: string): string {
  const { type, enum: allowed, minimum, maximum, items, pattern } = schemaOf(key);
  if (Array.isArray(allowed)) return `must be one of ${allowed.join(', ')}`;
  const kinds = (Array.isArray(type) ? type : [type]).map((kind) => KINDS[String(kind)] ?? String(kind));
  const range = minimum === undefined ? '' : ` from ${minimum} to ${maximum}`;
  const shape = isJsonObject(items) ? items.pattern : pattern;
  return `must be ${kinds.join(' or ')}${range}${shape === undefined ? '' : ` that fits ${shape}`}`;
}

const KINDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'a text',
  null: 'null',
  array: 'a JSON list of different texts, each one',
  object: 'a JSON object (docs/config.schema.json)',
};

function aboutSetting(key: string): string {
  const { description, default: fallback } = schemaOf(key);
  return `${description} The default is ${JSON.stringify(fallback)}.`;
}
