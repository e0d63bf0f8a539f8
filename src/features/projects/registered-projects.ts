import { existsSync } from 'node:fs';
import { lstat, readdir, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog, CatalogTool } from '../../catalog/catalog.ts';
import { isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { AcceptedTool, Project, ProjectStore } from '../../stores/projects.ts';
import type { ToolVersions } from '../../stores/tool-versions.ts';

/**
 * Accepts the core tools of a new installation in every project that had accepted the old ones: a person put the
 * installation here. A tool that the project had not accepted, or that asks for more grants than before, stays as it
 * is until `ctxd init` is run again.
 */
export async function followInstallation(catalog: Catalog, projects: ProjectStore, logger: Logger): Promise<void> {
  for (const project of await projects.list()) {
    if (await projects.change(project.root, (tools) => tools.map((tool) => upgraded(tool, catalog))))
      logger.info('project.core_tools_upgraded', { project: project.root });
  }
}

function upgraded(accepted: AcceptedTool, catalog: Catalog): AcceptedTool {
  const tool = catalog.versions(accepted.name).find(({ origin }) => origin === 'core');
  if (accepted.origin !== 'core' || tool === undefined) return accepted;
  const asksForMore = tool.manifest.grants.some((grant) => !accepted.grants.includes(grant));
  return asksForMore ? accepted : acceptance(tool);
}

/** What a person accepts by running `ctxd init`: this tool, these bytes, these grants. */
export function acceptance(tool: CatalogTool): AcceptedTool {
  return {
    name: tool.manifest.name,
    bundleSha256: tool.sha256,
    origin: tool.origin,
    grants: tool.manifest.grants,
  };
}

/** The hashes of the installed tools that any project accepts. */
export async function installedHashes(projects: Pick<ProjectStore, 'list'>): Promise<ReadonlySet<string>> {
  const accepted = (await projects.list()).flatMap(({ tools }) => tools);
  return new Set(accepted.filter(({ origin }) => origin === 'installed').map(({ bundleSha256 }) => bundleSha256));
}

/**
 * Removes bundles that no project may use or return to, and what an installation that died left. Nothing runs yet, so
 * nothing has them open.
 */
export async function removeUnusedBundles(
  { toolsDir, stagingDir }: { toolsDir: string; stagingDir: string },
  { catalog, toolVersions }: { catalog: Pick<Catalog, 'list'>; toolVersions: Pick<ToolVersions, 'hashes'> },
  running: readonly string[] = [],
): Promise<void> {
  await rm(stagingDir, { recursive: true, force: true });
  const used = new Set([...running, ...(await toolVersions.hashes()), ...catalog.list().map(({ sha256 }) => sha256)]);
  const present = await readdir(toolsDir);
  const unused = present.filter((name) => !used.has(name));
  await Promise.all(unused.map((name) => rm(join(toolsDir, name), { recursive: true, force: true })));
}

/** A tool link that does not lead to the installed proxy, and what it is instead. */
interface BadLink {
  path: string;
  found: string;
}

export async function warnOfBadLinks(projects: readonly Project[], proxyBinary: string, logger: Logger): Promise<void> {
  for (const { path, found } of await findBadLinks(projects, proxyBinary))
    logger.warn('project.bad_link', { path, found });
}

/**
 * SEC-4.2: the tool links of registered projects that do not lead to the installed proxy. The daemon trusts no path of
 * a workspace, so a bad link cannot harm it. It is reported because calls through it bypass contextd.
 */
export async function findBadLinks(projects: readonly Project[], proxyBinary: string): Promise<BadLink[]> {
  // A project that a person has deleted has no links.
  const checks = projects
    .filter(({ root }) => existsSync(root))
    .flatMap((project) =>
      project.tools.map(({ name }) => checkLink(join(project.root, '.claude', 'tools', name, name), proxyBinary)),
    );
  return (await Promise.all(checks)).filter((bad) => bad !== null);
}

async function checkLink(path: string, proxyBinary: string): Promise<BadLink | null> {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return { path, found: 'not a link' };
    if ((await realpath(path)) === proxyBinary) return null;
    return { path, found: `a link to ${await readlink(path)}` };
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return { path, found: `unreadable (${thrown.code})` };
    throw thrown;
  }
}
