import type { Catalog, CatalogTool } from '../catalog/catalog.ts';
import { checkAcceptable } from '../catalog/grants.ts';
import type { Paths } from '../config/paths.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { sessionIdFor } from '../dispatch/identify.ts';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '../protocol/versions.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { HealthCheck, Management, ProjectResult, SchemaResult, ServerStatus, ToolInfo } from '../server/door.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { AcceptedTool, ProjectStore } from '../stores/projects.ts';
import type { CallGate } from './call-gate.ts';
import { checkProjectRoot } from './project-root.ts';
import { createQuarantineManagement, type QuarantineManagementDeps } from './quarantine-management.ts';
import { createRuleManagement, type RuleManagementDeps } from './rule-management.ts';
import type { StopCause } from './stop-request.ts';

export interface ManagementDeps {
  home: string;
  paths: Paths;
  catalog: Catalog;
  projects: ProjectStore;
  auditLog: AuditLog;
  sandbox: Sandbox;
  gate: CallGate;
  scrubber: Pick<Scrubber, 'secrets'>;
  rules: RuleManagementDeps;
  quarantine: QuarantineManagementDeps;
  clock: Clock;
  checkHealth(projectRoot: string): Promise<HealthCheck[]>;
  /** Begins the orderly end of the daemon. */
  requestStop(graceMs: number, cause: StopCause): void;
}

const AUDIT_DEFAULT = 20;
const AUDIT_MAX = 1000;

/** What the CLI may ask of the daemon, one method per rpc of ManagementService. */
export function createManagement(deps: ManagementDeps): Management {
  const startedAt = deps.clock.monotonic();
  return {
    serverStatus: () => serverStatus(deps, startedAt),
    async stopServer(graceMs, isRestart) {
      const activeCalls = deps.gate.active();
      deps.requestStop(graceMs, isRestart ? 'restart' : 'stop');
      const { ended } = await deps.gate.drained;
      return { pid: process.pid, activeCalls, endedCalls: ended };
    },
    registerProject: (root) => registerProject(root, deps),
    async unregisterProject(root) {
      const known = await deps.projects.find(root);
      return {
        root,
        changed: await deps.projects.unregister(root),
        tools: toolInfos(known?.tools ?? [], deps.catalog),
      };
    },
    async listTools(root) {
      if (root === '') return deps.catalog.list().map(toolInfo);
      const project = await deps.projects.find(root);
      if (project === null) throw notRegistered(root);
      return toolInfos(project.tools, deps.catalog);
    },
    async tailAudit(limit, projectRoot) {
      const records = await deps.auditLog.tail(
        Math.min(limit || AUDIT_DEFAULT, AUDIT_MAX),
        projectRoot === '' ? undefined : projectRoot,
      );
      return records.map((record) => JSON.stringify(record));
    },
    checkHealth: deps.checkHealth,
    async sessionSecrets(root, hint) {
      const session = sessionIdFor(hint, deps.clock.now());
      return { root, session, secrets: deps.scrubber.secrets(`${root}\0${session}`) };
    },
    stats: (projectRoot, days) => deps.auditLog.stats(days, projectRoot),
    ...createRuleManagement(deps.rules),
    ...createQuarantineManagement(deps.quarantine),
    async getSchema(tool) {
      return schemaOf(tool, deps.catalog);
    },
  };
}

async function serverStatus(deps: ManagementDeps, startedAt: number): Promise<ServerStatus> {
  return {
    pid: process.pid,
    version: PACKAGE_VERSION,
    uptimeMs: Math.round(deps.clock.monotonic() - startedAt),
    socket: deps.paths.socket,
    calls: deps.gate.answered(),
    activeCalls: deps.gate.active(),
    projects: (await deps.projects.list()).length,
    residentBytes: process.memoryUsage.rss(),
    protocolVersion: PROTOCOL_VERSION,
    isolation: (await deps.sandbox.probe()).level,
    sandbox: await deps.sandbox.status(),
  };
}

async function registerProject(root: string, deps: ManagementDeps): Promise<ProjectResult> {
  await checkProjectRoot(root, deps.home, deps.paths);
  const core = deps.catalog.list().filter(({ origin }) => origin === 'core');
  const accepted = core.map(acceptance);
  const changed = await deps.projects.register(root, accepted);
  return { root, changed, tools: core.map(toolInfo) };
}

/** What a person accepts with `ctxd init`: this tool, these bytes, these grants. */
export function acceptance(tool: CatalogTool): AcceptedTool {
  checkAcceptable(tool.manifest.name, tool.manifest.grants);
  return {
    name: tool.manifest.name,
    bundleSha256: tool.bundleSha256,
    origin: tool.origin,
    grants: tool.manifest.grants,
  };
}

function toolInfos(accepted: readonly AcceptedTool[], catalog: Catalog): ToolInfo[] {
  return accepted.flatMap((entry) => {
    const versions = catalog.versions(entry.name);
    const tool = versions.find(({ bundleSha256 }) => bundleSha256 === entry.bundleSha256) ?? versions[0];
    return tool === undefined ? [] : [toolInfo(tool)];
  });
}

function toolInfo(tool: CatalogTool): ToolInfo {
  return {
    name: tool.manifest.name,
    purpose: tool.manifest.purpose,
    bundleSha256: tool.bundleSha256,
    origin: tool.origin,
    schemaJson: tool.schemaJson,
    toolMd: tool.toolMd,
    toolExtendedMd: tool.toolExtendedMd,
    grants: [...tool.manifest.grants],
  };
}

function schemaOf(name: string, catalog: Catalog): SchemaResult {
  const [tool] = catalog.versions(name);
  if (tool === undefined) {
    throw new ContextdError('TOOL_NOT_FOUND', `there is no tool named ${JSON.stringify(name.slice(0, 100))}`, {
      remedy: 'See `ctxd tool list`.',
    });
  }
  return {
    schemaJson: tool.schemaJson,
    toolMd: tool.toolMd,
    toolExtendedMd: tool.toolExtendedMd,
    bundleSha256: tool.bundleSha256,
  };
}

function notRegistered(root: string): ContextdError {
  return new ContextdError('NOT_FOUND', `${root} is not a registered project`, { remedy: 'Run `ctxd init` there.' });
}
