import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { callHooks } from '../init/client-settings.ts';
import { hasEntry, parseJson } from '../init/json-edit.ts';
import { readManifest } from '../init/manifest.ts';
import { findProjectRoot, realOrGiven } from '../project-root.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';

/** Settings of Claude Code that look right but do not work. Claude Code merges the lists of all its files. */
export async function checkClientSettings(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  const folders = [context.env.home, ...(root === undefined ? [] : [root])];
  const named = folders.flatMap((folder) => SETTINGS_FILES.map((file) => ({ folder, file })));
  const files: SettingsFile[] = [];
  const traps: Check[] = [];
  for (const { folder, file } of named) {
    const path = join(folder, file);
    const settings = readSettings(await realOrGiven(folder), file);
    if (settings === 'broken')
      traps.push(warn('client settings', `${path} is not JSON`, 'Correct it: Claude Code ignores the whole file.'));
    else if (settings !== undefined) files.push({ path, settings });
  }
  traps.push(...files.flatMap(spellingTraps), ...files.flatMap(wideRules), ...sandboxTraps(files));
  const isSetUp = root !== undefined && (await readManifest(context.paths.projectsDir, root)) !== undefined;
  if (isSetUp) traps.push(...hookTraps(await realOrGiven(root), files));
  return traps.length === 0 ? [ok('client settings', 'no known problem')] : traps;
}

const SETTINGS_FILES = ['.claude/settings.json', '.claude/settings.local.json'];

interface SettingsFile {
  path: string;
  settings: JsonObject;
}

/** A rule that ends in `*:*` never matches. */
function spellingTraps({ path, settings }: SettingsFile): Check[] {
  const rules = ['allow', 'ask', 'deny'].flatMap((kind) => stringsAt(settings, 'permissions', kind));
  const wrong = rules.filter((rule) => rule.includes('.claude/tools/') && rule.endsWith('*:*)'));
  return wrong.map((rule) =>
    warn('client settings', `${rule} in ${path} never matches`, 'Delete it. `ctxd init` writes the rules that work.'),
  );
}

/** What an earlier version or a person allowed: it lets agents run programs that a repository brings, or any program. */
function wideRules({ path, settings }: SettingsFile): Check[] {
  return stringsAt(settings, 'permissions', 'allow').flatMap((rule) => {
    const what = WIDE_RULES.find(({ pattern }) => pattern.test(rule))?.allows;
    if (what === undefined) return [];
    const detail = `${rule} in ${path} lets agents run ${what} without a question`;
    return [warn('client settings', detail, 'Delete it. `ctxd init` allows each tool by its exact name.')];
  });
}

const WIDE_RULES = [
  { pattern: /^Bash\((?:.*\/)?\.claude\/(?:tools|bin)\/:?\*(?!:\*\)$)/s, allows: 'programs that a repository brings' },
  { pattern: /^Bash\(jobs(?: |:)?\*/s, allows: 'any program (`jobs -x` of bash)' },
];

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

/** Without these hooks secrets that Claude Code's own tools meet reach its model. */
function hookTraps(root: string, files: readonly SettingsFile[]): Check[] {
  const off = files.filter(({ settings }) => settings.disableAllHooks === true);
  if (off.length > 0)
    return off.map(({ path }) =>
      warn('client hooks', `${path} turns all hooks off: ${UNMASKED}`, 'Delete "disableAllHooks" there.'),
    );
  const texts = files.map(({ settings }) => JSON.stringify(settings));
  const missing = callHooks(root).filter((entry) => !texts.some((text) => hasEntry(text, entry)));
  if (missing.length === 0) return [];
  const events = missing.map(({ path }) => path[1] ?? '').join(', ');
  return [warn('client hooks', `no hook of contextd for ${events}: ${UNMASKED}`, `Run \`ctxd init ${root}\`.`)];
}

const UNMASKED = 'what its own tools show is not masked';

function objectAt(value: JsonObject, name: string): JsonObject {
  const found = value[name];
  return isJsonObject(found) ? found : {};
}

function stringsAt(settings: JsonObject, group: string, name: string): string[] {
  const section = settings[group];
  const values: Json | undefined = isJsonObject(section) ? section[name] : undefined;
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}

function readSettings(folder: string, file: string): JsonObject | 'broken' | undefined {
  try {
    const found = OwnedDirectory.at(folder).inspect(file);
    if (found.kind !== 'file') return undefined;
    const value = parseJson(found.text);
    return isJsonObject(value) ? value : 'broken';
  } catch (error) {
    if (error instanceof SyntaxError) return 'broken';
    if (isErrno(error) || error instanceof ContextdError) return undefined;
    throw error;
  }
}
