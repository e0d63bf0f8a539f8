import type { AuditLog } from '../../audit/log.ts';
import type { Catalog, CatalogTool } from '../../catalog/catalog.ts';
import { type InstalledSource, REINSTALL } from '../../catalog/installed-source.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  ProjectTools__Output as ProjectTools,
  RollbackToolRequest__Output as RollbackToolRequest,
  ToolInfo__Output as ToolInfo,
} from '../../protocol/generated/management.ts';
import type { SchemaResponse__Output as SchemaResponse } from '../../protocol/generated/tool.ts';
import type { Management } from '../../protocol/management-contract.ts';
import { compareText } from '../../stores/consents.ts';
import type { AcceptedTool, Project, ProjectStore } from '../../stores/projects.ts';
import type { ToolVersion, ToolVersions } from '../../stores/tool-versions.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { acceptance } from '../projects/registered-projects.ts';
import { requireProject } from '../projects/require-project.ts';
import { type CallableToolDeps, watchTools } from './callable-tools.ts';

export interface ToolManagementDeps
  extends Pick<CallableToolDeps, 'access' | 'catalogues' | 'primitives' | 'standardSurface' | 'upstreams'> {
  catalog: Pick<Catalog, 'find' | 'list' | 'versions' | 'verify'>;
  installed: Pick<InstalledSource, 'refresh' | 'read' | 'follow'>;
  projects: ProjectStore;
  toolVersions: ToolVersions;
  auditLog: Pick<AuditLog, 'stats'>;
  counter: Pick<TokenCounter, 'count'>;
}

type ToolManagement = Pick<Management, 'listTools' | 'getSchema' | 'watchTools' | 'rollbackTool' | 'removeTool'>;

/** Which tools a project has. */
export function createToolManagement(deps: ToolManagementDeps): ToolManagement {
  return {
    async listTools({ root, offered }) {
      const core = coreTools(deps.catalog);
      if (root === '') return { tools: core.map((tool) => infoOf(tool, deps)) };
      const project = offered ? await deps.projects.find(root) : await requireProject(root, deps.projects);
      if (!offered) return { tools: await infosOf(root, project?.tools ?? [], deps) };
      const installed = (project?.tools ?? []).filter(({ origin }) => origin === 'installed');
      return { tools: await infosOf(root, [...core.map(acceptance), ...installed], deps) };
    },
    getSchema: (name, root) => schemaOf(name, root, deps),
    watchTools: (watch) => watchTools(watch, deps),
    rollbackTool: (request) => rollback(request, deps),
    async removeTool({ root, name }) {
      installedTool(await requireProject(root, deps.projects), name);
      const without = (held: readonly AcceptedTool[]) => held.filter((tool) => tool.name !== name);
      await deps.projects.change(root, without, deps.toolVersions.remove(root, name));
      await deps.installed.refresh();
      return projectTools(root, deps);
    },
  };
}

export function coreTools(catalog: Pick<Catalog, 'list'>): CatalogTool[] {
  return catalog.list().filter(({ origin }) => origin === 'core');
}

/** The tools of a project, after a change. */
export async function projectTools(root: string, deps: ToolManagementDeps): Promise<ProjectTools> {
  const { tools } = await requireProject(root, deps.projects);
  return { root, tools: await infosOf(root, tools, deps) };
}

/** The installed tool of the project. Throws TOOL_NOT_FOUND if it has no such tool, PERMISSION_DENIED for a core tool. */
function installedTool(project: Project, name: string): AcceptedTool {
  const tool = project.tools.find((one) => one.name === name);
  if (tool?.origin === 'installed') return tool;
  if (tool !== undefined) {
    throw new ContextdError('PERMISSION_DENIED', `${name} is a tool of contextd itself`, {
      remedy: 'Only installed tools can be changed. `ctxd init --uninstall` takes all tools out of the project.',
    });
  }
  const installed = project.tools.filter(({ origin }) => origin === 'installed').map((one) => one.name);
  throw new ContextdError('TOOL_NOT_FOUND', `no tool ${JSON.stringify(name)} is installed in ${project.root}`, {
    remedy:
      installed.length === 0
        ? 'None is. Install one with `ctxd tool install SOURCE`.'
        : `Installed: ${installed.join(', ')}.`,
  });
}

const INSTALL_VERSION = 'Install the version you want: `ctxd tool install SOURCE@REF`.';

/**
 * Makes the version before the current one. What a person granted to it then, it has again. A preview says what would be,
 * and changes nothing.
 */
async function rollback({ root, name, preview }: RollbackToolRequest, deps: ToolManagementDeps): Promise<ProjectTools> {
  const project = await requireProject(root, deps.projects);
  const current = installedTool(project, name);
  const history = (await deps.toolVersions.of(root)).filter((version) => version.name === name);
  const before = history.slice(1).find(({ bundleSha256 }) => bundleSha256 !== current.bundleSha256);
  if (before === undefined) {
    throw new ContextdError('NOT_FOUND', `${root} had no other version of ${name}`, {
      remedy: INSTALL_VERSION,
    });
  }
  const { bundleSha256, grants } = before;
  const tool = await deps.installed.read(bundleSha256, INSTALL_VERSION);
  if (preview) {
    const others = await infosOf(
      root,
      project.tools.filter((one) => one.name !== name),
      deps,
    );
    return { root, tools: [...others, { ...infoOf(tool, deps), ...provenance(before), grants: [...grants] }] };
  }
  const changed = (held: readonly AcceptedTool[]): AcceptedTool[] =>
    held.map((one) => (one.name === name ? { ...one, bundleSha256, grants } : one));
  await deps.projects.change(root, changed, deps.toolVersions.keepUpTo(before));
  await deps.installed.refresh();
  return projectTools(root, deps);
}

async function schemaOf(
  name: string,
  root: string,
  { catalog, projects }: ToolManagementDeps,
): Promise<SchemaResponse> {
  const project = root === '' ? null : await projects.find(root);
  const accepted = project === null ? undefined : catalog.find(project, name);
  // A tool that only other projects installed must not be seen here.
  const tool = accepted ?? catalog.versions(name).find(({ origin }) => origin === 'core');
  if (tool !== undefined) return schemaInfo(tool);
  throw new ContextdError('TOOL_NOT_FOUND', `there is no tool named ${JSON.stringify(name.slice(0, 100))}`, {
    remedy: 'See `ctxd tool list`.',
  });
}

async function infosOf(root: string, accepted: readonly AcceptedTool[], deps: ToolManagementDeps): Promise<ToolInfo[]> {
  const versions = await deps.toolVersions.of(root);
  const used = await lastUses(root, deps);
  const infos = accepted.map(async (entry): Promise<ToolInfo> => {
    const version = versions.find(
      ({ name, bundleSha256 }) => name === entry.name && bundleSha256 === entry.bundleSha256,
    );
    const tool = deps.catalog.find({ tools: [entry] }, entry.name);
    const usage = { last_used: used.get(entry.name) ?? '' };
    if (tool === undefined) return { ...unusable(entry), ...provenance(version), ...usage };
    return { ...infoOf(tool, deps), ...provenance(version), ...usage, state: await stateOf(tool, deps) };
  });
  return (await Promise.all(infos)).sort((a, b) => compareText(a.name, b.name));
}

/** What a person may know of a tool, without what a project knows of it. */
export function infoOf(tool: CatalogTool, { counter }: Pick<ToolManagementDeps, 'counter'>): ToolInfo {
  return {
    name: tool.manifest.name,
    purpose: tool.manifest.purpose,
    origin: tool.origin,
    grants: [...tool.manifest.grants],
    version: tool.manifest.version,
    ...schemaInfo(tool),
    installed_from: null,
    accepted_ms: 0,
    last_used: '',
    // Without the blanks of the file, as `ctxd tool verify` counts.
    schema_tokens: counter.count(JSON.stringify(JSON.parse(tool.schemaJson))),
    state: READY,
  };
}

const READY = 'ready';

async function stateOf(tool: CatalogTool, { catalog }: Pick<ToolManagementDeps, 'catalog'>): Promise<string> {
  return catalog.verify(tool).then(
    () => READY,
    () => 'its files were changed',
  );
}

function unusable({ name, bundleSha256, origin, grants }: AcceptedTool): ToolInfo {
  return {
    name,
    origin,
    bundle_sha256: bundleSha256,
    grants: [...grants],
    accepted_ms: 0,
    last_used: '',
    purpose: '',
    version: '',
    schema_json: '{}',
    tool_md: '',
    tool_extended_md: '',
    schema_tokens: 0,
    installed_from: null,
    state: origin === 'installed' ? `its files are missing or were changed. ${REINSTALL}` : 'run `ctxd init`',
  };
}

function provenance(version: ToolVersion | undefined): Pick<ToolInfo, 'installed_from' | 'accepted_ms'> {
  if (version === undefined) return { installed_from: null, accepted_ms: 0 };
  const { source, commit, archiveSha256, signer, acceptedMs } = version;
  return {
    installed_from: { source, commit, archive_sha256: archiveSha256, signer },
    accepted_ms: acceptedMs,
  };
}

const LAST_USED_DAYS = 30;

/** The day of each tool's last call, by name. */
async function lastUses(root: string, { auditLog }: ToolManagementDeps): Promise<ReadonlyMap<string, string>> {
  const rows = await auditLog.stats(LAST_USED_DAYS, root);
  return new Map(rows.map(({ tool, day }) => [tool, day] as const).sort((a, b) => compareText(a[1], b[1])));
}

function schemaInfo(tool: CatalogTool): SchemaResponse {
  return {
    schema_json: tool.schemaJson,
    tool_md: tool.toolMd,
    tool_extended_md: tool.toolExtendedMd,
    bundle_sha256: tool.sha256,
  };
}
