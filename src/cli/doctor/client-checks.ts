import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { parseJson } from '../init/json-edit.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';

/** Settings of Claude Code that look right but do not work. Claude Code merges the lists of all its files. */
export async function checkClientSettings(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  const folders = [context.env.home, ...(root === undefined ? [] : [root])];
  const paths = folders.flatMap((folder) =>
    ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name)),
  );
  const files: SettingsFile[] = [];
  const traps: Check[] = [];
  for (const path of paths) {
    const settings = await readSettings(path);
    if (settings === 'broken')
      traps.push(warn('client settings', `${path} is not JSON`, 'Correct it: Claude Code ignores the whole file.'));
    else if (settings !== undefined) files.push({ path, settings });
  }
  traps.push(...files.flatMap(spellingTraps), ...sandboxTraps(files));
  return traps.length === 0 ? [ok('client settings', 'no known problem')] : traps;
}

interface SettingsFile {
  path: string;
  settings: JsonObject;
}

/** A rule that ends in `*:*` never matches. */
function spellingTraps({ path, settings }: SettingsFile): Check[] {
  const rules = ['allow', 'ask', 'deny'].flatMap((kind) => stringsAt(settings, 'permissions', kind));
  const wrong = rules.filter((rule) => rule.includes('.claude/tools/') && rule.endsWith('*:*)'));
  return wrong.map((rule) =>
    warn('client settings', `${rule} in ${path} never matches`, 'Write Bash(.claude/tools/*) instead.'),
  );
}

/** Claude Code's own sandbox forbids unix sockets, and `allowUnixSockets` has no effect on Linux. */
function sandboxTraps(files: readonly SettingsFile[]): Check[] {
  const excluded = files.flatMap(({ settings }) => stringsAt(settings, 'sandbox', 'excludedCommands'));
  const sandboxes = files.map(({ path, settings }) => ({ path, sandbox: objectAt(settings, 'sandbox') }));
  const open = sandboxes.some(({ sandbox }) => objectAt(sandbox, 'network').allowAllUnixSockets === true);
  if (open || excluded.some((command) => command.startsWith('safe_bash '))) return [];
  return sandboxes
    .filter(({ sandbox }) => sandbox.enabled === true)
    .map(({ path }) => {
      const detail = `${path} turns Claude Code's sandbox on: the tools cannot reach the daemon from inside it`;
      return warn(
        'client settings',
        detail,
        'Add "safe_bash *" to sandbox.excludedCommands there, or run `ctxd init`.',
      );
    });
}

function objectAt(value: JsonObject, name: string): JsonObject {
  const found = value[name];
  return isJsonObject(found) ? found : {};
}

function stringsAt(settings: JsonObject, group: string, name: string): string[] {
  const section = settings[group];
  const values: Json | undefined = isJsonObject(section) ? section[name] : undefined;
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}

async function readSettings(file: string): Promise<JsonObject | 'broken' | undefined> {
  try {
    if (!(await lstat(file)).isFile()) return undefined;
    const value = parseJson(await readFile(file, 'utf8'));
    return isJsonObject(value) ? value : 'broken';
  } catch (error) {
    if (error instanceof SyntaxError) return 'broken';
    if (isErrno(error)) return undefined;
    throw error;
  }
}
