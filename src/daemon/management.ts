import type { AuditLog } from '../audit/log.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Paths } from '../config/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { StopCause } from '../core/lifecycle.ts';
import type { CallApprovals } from '../features/approvals/call-approvals.ts';
import { type CallApprovalManagementDeps, createCallApprovalManagement } from '../features/approvals/management.ts';
import { createAuditManagement } from '../features/audit/management.ts';
import { type BackupDeps, createBackupManagement } from '../features/backup/management.ts';
import { type BranchManagementDeps, createBranchManagement } from '../features/branches/management.ts';
import { type CheckpointManagementDeps, createCheckpointManagement } from '../features/checkpoints/management.ts';
import { type Acts, holdActs } from '../features/hand-over/acts.ts';
import type { Departure } from '../features/hand-over/departure.ts';
import type { checkHealth } from '../features/health/health.ts';
import { createHttpManagement, type HttpManagementDeps } from '../features/http/management.ts';
import type { Jobs } from '../features/jobs/jobs.ts';
import { createRunningManagement } from '../features/jobs/running-management.ts';
import { createMemoryManagement, type MemoryManagementDeps } from '../features/memory/management.ts';
import {
  createNetworkCredentialManagement,
  type NetworkCredentialManagementDeps,
} from '../features/network/credential-management.ts';
import type { HostNetworks } from '../features/network/host-network.ts';
import { createNetworkManagement, type NetworkManagementDeps } from '../features/network/management.ts';
import { createOutsideManagement } from '../features/outside/management.ts';
import type { Outside } from '../features/outside/outside.ts';
import { createPortManagement, type PortDeps } from '../features/ports/management.ts';
import { checkApart, checkProjectRoot } from '../features/projects/project-root.ts';
import { acceptance, findBadLinks } from '../features/projects/registered-projects.ts';
import { forRegisteredProjects } from '../features/projects/require-project.ts';
import { createRoutingManagement, type RoutingManagementDeps } from '../features/routing/management.ts';
import type { ToolHabits } from '../features/routing/tool-habits.ts';
import { createSecretManagement } from '../features/secrets/management.ts';
import { createHookManagement, type HookDeps } from '../features/sessions/hook-management.ts';
import { createSessionManagement, type SessionManagementDeps } from '../features/sessions/management.ts';
import type { SessionEnd } from '../features/sessions/session-end.ts';
import type { RecordedSettings } from '../features/settings/recorded-settings.ts';
import type { CallFigures } from '../features/shared/call-figures.ts';
import type { CallGate } from '../features/shared/call-gate.ts';
import { recordedMethods } from '../features/shared/recorded-acts.ts';
import { createReviews, type ReviewDeps } from '../features/shared/review-management.ts';
import { createCacheManagement } from '../features/storage/management.ts';
import {
  coreTools,
  createToolManagement,
  projectTools,
  type ToolManagementDeps,
} from '../features/tools/management.ts';
import { createToolInstallation, type ToolInstallationDeps } from '../features/tools/tool-installation.ts';
import { createUndoManagement, type UndoManagementDeps } from '../features/undo/management.ts';
import { createUpstreamManagement, type UpstreamManagementDeps } from '../features/upstreams/management.ts';
import type {
  SandboxStatus__Output as SandboxStatus,
  StatusResponse__Output as StatusResponse,
} from '../protocol/generated/management.ts';
import type { Management, RpcHandlers, RpcName } from '../protocol/management-contract.ts';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '../protocol/versions.ts';
import type { Sandbox } from '../sandbox/contract/sandbox.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { AllowedValues } from '../stores/allowed-values.ts';
import type { Consents } from '../stores/consents.ts';
import type { DaemonKeys } from '../stores/keys.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { ProjectStore } from '../stores/projects.ts';

export interface ManagementDeps
  extends Omit<ToolManagementDeps, 'catalogues' | 'upstreams'>,
    Pick<HookDeps, 'eventLog' | 'counter'>,
    Pick<BranchManagementDeps, 'branches'>,
    Pick<BackupDeps, 'database' | 'memoryDatabase' | 'sessionDatabase'>,
    Pick<CheckpointManagementDeps, 'checkpoints'>,
    Pick<HttpManagementDeps, 'httpTokens' | 'httpStanding'>,
    Pick<CallApprovalManagementDeps, 'approvalRules' | 'clientRules'>,
    Pick<UpstreamManagementDeps, 'upstreams'>,
    RoutingManagementDeps {
  toolHabits: Pick<ToolHabits, 'forget'>;
  home: string;
  paths: Paths;
  catalog: Catalog;
  projects: ProjectStore;
  consents: Consents;
  outside: Outside;
  hostNetworks: Pick<HostNetworks, 'management'>;
  liveSessions: LiveSessions;
  auditLog: AuditLog;
  sandbox: Sandbox;
  approvals: CallApprovals;
  gate: CallGate;
  callFigures: Pick<CallFigures, 'latencies'>;
  departure: Pick<Departure, 'run' | 'checkStays'>;
  moves: { acts: Pick<Acts, 'run'>; leaving: Pick<AbortController, 'signal'> };
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'issuedIn' | 'forget' | 'reveal' | 'tokensIn' | 'maskText'>;
  allowedValues: AllowedValues;
  secretNumbers: { forget(project: string): Promise<void> };
  keys: Pick<DaemonKeys, 'derive'>;
  sessionEnd: SessionEnd;
  settings: Pick<RecordedSettings, 'management'>;
  jobs: Pick<Jobs, 'running' | 'end'>;
  reviews: ReviewDeps;
  memory: MemoryManagementDeps;
  sessionKeeping: SessionManagementDeps;
  ports: PortDeps;
  undoing: UndoManagementDeps;
  networking: NetworkManagementDeps;
  installation: ToolInstallationDeps;
  credentials: NetworkCredentialManagementDeps;
  serving: UpstreamManagementDeps;
  clock: Clock;
  checkHealth(projectRoot: string): ReturnType<typeof checkHealth>;
  /** Starts an orderly shutdown of the daemon. */
  requestStop(graceMs: number, cause: StopCause): void;
}

/** The daemon's side of the management contract. Doors have checked the shape of every request. */
export function createManagement(deps: ManagementDeps): Management {
  const startedAt = deps.clock.monotonic();
  const management: RpcHandlers & Omit<Management, RpcName> = {
    serverStatus: () => serverStatus(deps, startedAt),
    async stopServer({ grace_ms, restart }) {
      deps.departure.checkStays();
      const active_calls = deps.gate.active();
      deps.requestStop(grace_ms, restart ? 'restart' : 'stop');
      return { pid: process.pid, active_calls, ended_calls: (await deps.gate.drained).ended };
    },
    async restartServer({ path }) {
      const { pid, calls, jobs } = await deps.departure.run(path);
      return { pid, carried_calls: calls, carried_jobs: jobs };
    },
    async registerProject({ root }) {
      await checkProjectRoot(root, deps.home, deps.paths);
      checkApart(root, deps.projects.roots());
      const changed = await deps.projects.register(root, coreTools(deps.catalog).map(acceptance));
      void deps.undoing.undo.prepare(root);
      return { changed, ...(await projectTools(root, deps)) };
    },
    async unregisterProject({ root }) {
      await deps.sessionEnd.endAllOf(root);
      await deps.networking.network.forget(root);
      await Promise.all([deps.allowedValues.forget(root), deps.secretNumbers.forget(root)]);
      await deps.httpTokens.forget(root);
      deps.approvals.forget(root);
      await deps.approvalRules.forget(root);
      await deps.undoing.undo.forget(root);
      const changed = await deps.projects.unregister(root);
      await deps.toolHabits.forget(root);
      await deps.toolVersions.forget(root);
      await deps.upstreams.forget(root);
      await deps.checkpoints.forget(root);
      await deps.installed.refresh();
      return { root, changed, tools: [] };
    },
    checkHealth: async ({ project_root }) => ({ checks: await deps.checkHealth(project_root) }),
    ...createAuditManagement(deps),
    ...createBackupManagement(deps),
    ...createSecretManagement(deps),
    ...createRunningManagement(deps),
    ...createBranchManagement(deps),
    ...createCacheManagement(deps),
    ...createReviews(deps.reviews),
    ...createCallApprovalManagement(deps),
    ...createOutsideManagement(deps),
    ...deps.hostNetworks.management,
    ...createPortManagement(deps.ports),
    ...createUndoManagement(deps.undoing),
    ...createMemoryManagement(deps.memory),
    ...createHookManagement(deps),
    ...createSessionManagement(deps.sessionKeeping),
    ...createCheckpointManagement(deps),
    ...createNetworkManagement(deps.networking),
    ...createNetworkCredentialManagement(deps.credentials),
    ...createToolManagement(deps),
    ...createRoutingManagement(deps),
    ...createToolInstallation(deps.installation),
    ...createHttpManagement(deps),
    ...createUpstreamManagement(deps.serving),
    ...deps.settings.management,
  };
  const recorded = { ...management, ...recordedMethods(management, deps) };
  const { acts, leaving } = deps.moves;
  return holdActs(forRegisteredProjects(recorded, deps.projects), acts, leaving.signal);
}

async function serverStatus(deps: ManagementDeps, startedAt: number): Promise<StatusResponse> {
  const projects = await deps.projects.list();
  return {
    pid: process.pid,
    version: PACKAGE_VERSION,
    uptime_ms: Math.round(deps.clock.monotonic() - startedAt),
    socket: deps.paths.socket,
    calls: deps.gate.answered(),
    active_calls: deps.gate.active(),
    projects: projects.length,
    resident_bytes: process.memoryUsage.rss(),
    protocol_version: PROTOCOL_VERSION,
    isolation: (await deps.sandbox.probe()).level,
    sandbox: await sandboxStatus(deps.sandbox),
    bad_links: await findBadLinks(projects, deps.paths.proxyBinary),
    steps: deps.callFigures.latencies(),
  };
}

async function sandboxStatus(sandbox: Sandbox): Promise<SandboxStatus> {
  const { totals, ...state } = await sandbox.status();
  return {
    spawner_pid: state.spawnerPid ?? 0,
    spawner_resident_bytes: state.spawnerRssBytes,
    running: state.running,
    processes: state.processes,
    ready: state.ready.map(({ workspace, count }) => ({ project: workspace, count })),
    ready_max: state.readyMax,
    ready_used: state.readyUsed,
    totals: totals && {
      memory_bytes: totals.memoryBytes,
      memory_max_bytes: totals.memoryMaxBytes,
      pids: totals.pids,
      pids_max: totals.pidsMax,
    },
  };
}
