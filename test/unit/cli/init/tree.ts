import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolText } from '#src/cli/init/agent-texts.js';
import { layoutFor } from '#src/cli/init/layout.js';
import { type ProjectChanges, prepareInit, prepareUninstall } from '#src/cli/init/project.js';

export const PROXY = '/opt/contextd/bin/contextd-proxy';

export function toolText(name: string, version = 1): ToolText {
  return {
    name,
    isCore: true,
    schemaTokens: 50,
    purpose: `Does ${name}.`,
    schemaJson: `{"type":"object","title":"${version}"}`,
    toolMd: `# ${name}\n> version ${version}\n`,
    toolExtendedMd: `# ${name}, at length\n`,
  };
}

/** A tool of other people. */
export function installedText(name: string): ToolText {
  return { ...toolText(name), isCore: false };
}

export const TOOLS = ['safe_bash', 'safe_read', 'safe_write'].map((name) => toolText(name));

/** A project and a state directory of its own. */
export interface Fixture {
  root: string;
  projectsDir: string;
  init(tools?: readonly ToolText[], proxy?: string, isSeenByGit?: boolean): Promise<ProjectChanges>;
  uninstall(): Promise<ProjectChanges | undefined>;
  remove(): Promise<void>;
}

export async function createFixture(): Promise<Fixture> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'contextd-init-')));
  const root = join(base, 'project');
  const projectsDir = join(base, 'state', 'projects');
  await mkdir(root);
  return {
    root,
    projectsDir,
    init: async (tools = TOOLS, proxy = PROXY, isSeenByGit = false) =>
      (await prepareInit(root, layoutFor(tools, root, proxy), projectsDir, isSeenByGit)).apply(),
    uninstall: async () => (await prepareUninstall(root, projectsDir))?.apply(),
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

/** Every path below a directory with its kind, mode and bytes: equal snapshots are equal trees. */
export async function snapshot(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of (await readdir(root, { recursive: true })).sort())
    found[entry] = await describePath(join(root, entry));
  return found;
}

async function describePath(path: string): Promise<string> {
  const stats = await lstat(path);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (stats.isFile()) return `file ${mode} ${(await readFile(path)).toString('base64')}`;
  return stats.isDirectory() ? `directory ${mode}` : `other ${mode}`;
}
