import { lstat, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Project } from '../stores/projects.ts';

/** A tool link that does not lead to the installed proxy, and what it is instead. */
export interface BadLink {
  path: string;
  found: string;
}

/**
 * SEC-4.2: the links of the registered projects lead to the installed proxy. A bad link cannot harm the daemon, which
 * trusts no path of a workspace; it is told because whoever calls it would not be calling contextd.
 */
export async function findBadLinks(projects: readonly Project[], proxyBinary: string): Promise<BadLink[]> {
  const checks = projects.flatMap((project) =>
    project.tools.map(({ name }) => checkLink(join(project.root, '.claude', 'tools', name, name), proxyBinary)),
  );
  return (await Promise.all(checks)).filter((bad) => bad !== null);
}

export async function warnOfBadLinks(projects: readonly Project[], proxyBinary: string, logger: Logger): Promise<void> {
  for (const { path, found } of await findBadLinks(projects, proxyBinary))
    logger.warn('project.bad_link', { path, found });
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
