import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { LOCK_FILE } from '../../install/lock-file.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { readManifest } from '../init/manifest.ts';
import { namedTools } from '../init/named-tools.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';
import { fail, ok, warn } from './check.ts';

/** The current project is registered, and every link leads to the installed proxy. */
export async function checkProject(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  if (root === undefined) return [ok('project', `${context.cwd} is not in a project`)];
  const { tools } = await withClient(context.paths, (client) => client.listTools({ root, offered: false }));
  const accepted = ok('project', `${root}, ${tools.length} tools accepted`);
  const absent = await checkAbsent(
    root,
    tools.map(({ name }) => name),
  );
  return [accepted, ...absent, await checkLinks(context, root), ...(await checkPrograms(context, root))];
}

/** Colleagues have committed what their `ctxd tool install` wrote. */
async function checkAbsent(root: string, accepted: readonly string[]): Promise<Check[]> {
  const absent = (await namedTools(root)).filter((name) => !accepted.includes(name));
  if (absent.length === 0) return [];
  const remedy = `To install what ${LOCK_FILE} names: ctxd tool install`;
  return [warn('tools', `not installed here: ${absent.join(', ')}`, remedy)];
}

/** `.claude/bin` comes first on the PATH of agents, so whatever it holds runs instead of a program of the same name. */
async function checkPrograms(context: CliContext, root: string): Promise<Check[]> {
  const manifest = await readManifest(context.paths.projectsDir, root);
  const names = await readdir(join(root, '.claude/bin')).catch(() => []);
  const foreign = names.filter((name) => manifest?.links[`.claude/bin/${name}`] === undefined);
  if (manifest === undefined || foreign.length === 0) return [];
  const detail = `${join(root, '.claude/bin')} holds ${foreign.join(', ')}, which contextd did not create`;
  return [warn('links', detail, 'Agents run it instead of a program of that name. Remove it if you do not know it.')];
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
