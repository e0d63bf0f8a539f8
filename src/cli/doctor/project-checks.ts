import { join } from 'node:path';
import { listTools } from '../../catalog/tool-list.ts';
import { TOOL_LIMITS } from '../../catalog/verify-tool/check.ts';
import { LOCK_FILE } from '../../install/lock-file.ts';
import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { foreignPrograms, moveCommand } from '../init/foreign-programs.ts';
import { readManifest } from '../init/manifest.ts';
import { namedTools } from '../init/named-tools.ts';
import { findProjectRoot, realOrGiven } from '../project-root.ts';
import type { Check } from '../render.ts';
import { isReported } from '../set-aside.ts';
import { fail, ok, warn } from './check.ts';

/** The current project is registered, and every link leads to the installed proxy. */
export async function checkProject(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  if (root === undefined) return [ok('project', `${context.cwd} is not in a project`)];
  const { tools } = await withClient(context.paths, (client) => client.listTools({ root, offered: false }));
  const accepted = ok('project', `${root}, ${tools.length} tools accepted`);
  const files = OwnedDirectory.at(root);
  const absent = checkAbsent(
    files,
    tools.map(({ name }) => name),
  );
  return [
    accepted,
    checkToolList(tools),
    ...absent,
    await checkLinks(context, files),
    ...(await checkPrograms(context, files)),
  ];
}

/** CE-1.1: what an agent reads to know the tools of this project. */
function checkToolList(tools: readonly ToolInfo[]): Check {
  const known = tools.map(({ name, origin, schema_tokens: schemaTokens }) => ({
    name,
    isCore: origin === 'core',
    schemaTokens,
  }));
  const { listed, searched, tokens } = listTools(known);
  const { most } = TOOL_LIMITS.allSchemasTokens;
  const others = searched.length === 0 ? '' : `; ${searched.length} are found with tool_browse`;
  const unused = tools.length - listed.length - searched.length;
  const forServers = unused === 0 ? '' : `; ${unused} are for resources and prompts of MCP servers`;
  const shown = `agents are shown ${listed.length}, ${tokens} of at most ${most} tokens`;
  return ok('tool list', `${tools.length} tools: ${shown}${others}${forServers}`);
}

/** Paths that one check names. */
const NAMED_MAX = 5;

/** What calls left in the project for a person to judge, until a person accepts it or it is gone. */
export async function checkReported(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  if (root === undefined) return [];
  const { items } = await withClient(context.paths, (client) =>
    client.listQuarantine({ root, which: '', unseen: true }),
  );
  const reported = items.filter(isReported);
  if (reported.length === 0) return [];
  const named = reported.slice(0, NAMED_MAX).map(({ path, reason }) => `${path} (${reason})`);
  const more = reported.length > NAMED_MAX ? ` and ${reported.length - NAMED_MAX} more` : '';
  const remedy =
    'Look at each: ctxd quarantine list. To keep what it holds: ctxd quarantine accept ID; otherwise remove it.';
  return [warn('reported files', `calls left ${named.join(', ')}${more}`, remedy)];
}

/** Colleagues have committed what their `ctxd tool install` wrote. */
function checkAbsent(root: OwnedDirectory, accepted: readonly string[]): Check[] {
  const absent = namedTools(root).filter((name) => !accepted.includes(name));
  if (absent.length === 0) return [];
  const remedy = `To install what ${LOCK_FILE} names: ctxd tool install`;
  return [warn('tools', `not installed here: ${absent.join(', ')}`, remedy)];
}

/** `.claude/bin` comes first on the PATH of agents, so whatever it holds runs instead of a program of the same name. */
async function checkPrograms(context: CliContext, root: OwnedDirectory): Promise<Check[]> {
  const manifest = await readManifest(context.paths.projectsDir, root.path);
  if (manifest === undefined) return [];
  const { proxyBinary } = context.paths;
  const links = new Map(Object.entries(manifest.links));
  const programs = foreignPrograms(root, { links, files: new Set(Object.keys(manifest.files)), proxyBinary });
  const foreign = programs.filter((path) => !links.has(path));
  if (foreign.length === 0) return [];
  const tools = [...links.keys()].map((path) => path.split('/')[2] ?? '');
  const shown = `${foreign.slice(0, PROGRAMS_SHOWN).join(', ')}${foreign.length > PROGRAMS_SHOWN ? ', …' : ''}`;
  const detail = `contextd did not create ${shown}, which agents can run, in .claude/bin in place of a program of that name`;
  const remedy = `Look at what it does. Then delete it, or move it away: ${moveCommand(root.path, foreign, tools)}`;
  return [fail('programs', detail, remedy)];
}

const PROGRAMS_SHOWN = 5;

async function checkLinks(context: CliContext, root: OwnedDirectory): Promise<Check> {
  const manifest = await readManifest(context.paths.projectsDir, root.path);
  if (manifest === undefined)
    return fail('links', `there is no record of \`ctxd init\` in ${root.path}`, 'Run `ctxd init` there.');
  const { proxyBinary } = context.paths;
  const proxy = await realOrGiven(proxyBinary);
  const links = Object.keys(manifest.links).map((path) => ({ path, found: root.inspect(path) }));
  const bad: typeof links = [];
  for (const link of links)
    if (link.found.kind !== 'link' || (await realOrGiven(link.found.target)) !== proxy) bad.push(link);
  if (bad.length === 0) return ok('links', `${links.length} lead to ${proxyBinary}`);
  // `ctxd init` replaces another link by its own, but never a file or directory.
  const inTheWay = bad.filter(({ found }) => found.kind !== 'link' && found.kind !== 'missing');
  const named = inTheWay.map(({ path }) => join(root.path, path)).join(', ');
  const first = named === '' ? '' : `Move away or delete ${named}: contextd did not create it. `;
  const remedy = `${first}${first === '' ? 'Run' : 'Then run'} \`ctxd init ${root.path}\`.`;
  return fail('links', `not leading to ${proxyBinary}: ${bad.map(({ path }) => path).join(', ')}`, remedy);
}
