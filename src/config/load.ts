import { readFile } from 'node:fs/promises';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import type { Paths } from './paths.ts';
import type { Config } from './schema.ts';
import { checkConfig, type Fault } from './validate.ts';

/**
 * The settings in force: config.json over the defaults. A missing file means defaults. Throws SCHEMA_INVALID with
 * every fault and its path in the message and in `details.faults` (style 16: never silently less protection).
 */
export async function loadConfig(paths: Pick<Paths, 'configFile'>): Promise<Config> {
  return acceptConfig(paths.configFile, await readConfigFile(paths));
}

/** What a person wrote into config.json, unchecked beyond being a JSON object; {} when there is no file. */
export async function readConfigFile(paths: Pick<Paths, 'configFile'>): Promise<JsonObject> {
  const text = await readText(paths.configFile);
  if (text === undefined) return {};
  const value = parse(paths.configFile, text);
  if (isJsonObject(value)) return value;
  throw refusal(paths.configFile, [{ path: '', message: 'must be a JSON object' }]);
}

/** Throws SCHEMA_INVALID naming `file` unless the settings are valid. */
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
        remedy: 'Make it a file that this user can read, or remove it to use the defaults.',
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
    remedy: 'Correct it (docs/config.schema.json lists every setting), or remove it to use the defaults.',
    details: { path: file, faults },
  });
}
