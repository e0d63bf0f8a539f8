import { lstat, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { parseJson } from '../init/json-edit.ts';
import { readManifest } from '../init/manifest.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';
import { fail, ok, warn } from './check.ts';

/** The current project is registered, and every link leads to the installed proxy. */
export async function checkProject(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  if (root === undefined) return [ok('project', `${context.cwd} is not in a project`)];
  const { tools } = await withClient(context.paths, (client) => client.listTools({ root }));
  return [ok('project', `${root}, ${tools.length} tools accepted`), await checkLinks(context, root)];
}

async function checkLinks(context: CliContext, root: string): Promise<Check> {
  const manifest = await readManifest(context.paths.projectsDir, root);
  if (manifest === undefined)
    return fail('links', `there is no record of \`ctxd init\` in ${root}`, 'Run `ctxd init` there.');
  const { proxyBinary } = context.paths;
  const paths = Object.keys(manifest.links);
  const bad: string[] = [];
  for (const path of paths) if (!(await leadsTo(join(root, path), proxyBinary))) bad.push(path);
  if (bad.length === 0) return ok('links', `${paths.length} lead to ${proxyBinary}`);
  const inTheWay = [];
  for (const path of bad) if (await isKeptByInit(join(root, path))) inTheWay.push(join(root, path));
  const first = inTheWay.length === 0 ? '' : `Move away or delete ${inTheWay.join(', ')}: contextd did not create it. `;
  const remedy = `${first}${first === '' ? 'Run' : 'Then run'} \`ctxd init ${root}\`.`;
  return fail('links', `not leading to ${proxyBinary}: ${bad.join(', ')}`, remedy);
}

/** `ctxd init` replaces another link by its own, but never a file or directory. */
async function isKeptByInit(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && !stats.isSymbolicLink();
}

async function leadsTo(link: string, target: string): Promise<boolean> {
  try {
    return (await lstat(link)).isSymbolicLink() && (await realpath(link)) === (await realpath(target));
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}

/** Settings of Claude Code that look right but do not work. */
export async function checkClientSettings(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  const folders = [context.env.home, ...(root === undefined ? [] : [root])];
  const files = folders.flatMap((folder) =>
    ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name)),
  );
  const traps = (await Promise.all(files.map(trapsIn))).flat();
  return traps.length === 0 ? [ok('client settings', 'no known problem')] : traps;
}

async function trapsIn(file: string): Promise<Check[]> {
  const settings = await readSettings(file);
  if (settings === undefined) return [];
  if (settings === 'broken')
    return [warn('client settings', `${file} is not JSON`, 'Correct it: Claude Code ignores the whole file.')];
  return [...spellingTraps(file, settings), ...sandboxTraps(file, settings)];
}

/** A rule that ends in `*:*` never matches. */
function spellingTraps(file: string, settings: JsonObject): Check[] {
  const rules = ['allow', 'ask', 'deny'].flatMap((kind) => stringsAt(settings, 'permissions', kind));
  const wrong = rules.filter((rule) => rule.includes('.claude/tools/') && rule.endsWith('*:*)'));
  return wrong.map((rule) =>
    warn('client settings', `${rule} in ${file} never matches`, 'Write Bash(.claude/tools/*) instead.'),
  );
}

/** Claude Code's own sandbox forbids unix sockets, and `allowUnixSockets` has no effect on Linux. */
function sandboxTraps(file: string, settings: JsonObject): Check[] {
  const sandbox = isJsonObject(settings.sandbox) ? settings.sandbox : {};
  const network = isJsonObject(sandbox.network) ? sandbox.network : {};
  const excluded = stringsAt(settings, 'sandbox', 'excludedCommands').some((one) => one.startsWith('.claude/tools/'));
  if (sandbox.enabled !== true || excluded || network.allowAllUnixSockets === true) return [];
  const detail = `${file} turns Claude Code's sandbox on: the tools cannot reach the daemon from inside it`;
  return [
    warn('client settings', detail, 'Add ".claude/tools/*" to sandbox.excludedCommands there, or run `ctxd init`.'),
  ];
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
