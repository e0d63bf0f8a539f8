import type { Catalog } from '../catalog/catalog.ts';
import type { InstalledSource } from '../catalog/installed-source.ts';
import type { Environment } from '../config/env.ts';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { ViewMaker } from '../dispatch/view/run-view.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Dense } from '../memory/dense/dense.ts';
import type { Distiller } from '../memory/distill/distiller.ts';
import type { Memories } from '../memory/memories.ts';
import type { Retrievals } from '../memory/retrievals.ts';
import type { MemoryStore } from '../memory/store.ts';
import type { Runner } from '../runner/runner.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Scanner } from '../scrub/scan/scanner.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { Seeds } from '../scrub/vault/seeds.ts';
import type { WorkspaceRulesReader } from '../scrub/workspace-rules.ts';
import type { Door } from '../server/grpc.ts';
import type { Branches } from '../session/branches/branches.ts';
import type { BranchFiles } from '../session/branches/files/branch-files.ts';
import type { Checkpoints } from '../session/checkpoints/checkpoints.ts';
import type { Contexts } from '../session/compile/contexts.ts';
import type { StoredEventLog } from '../session/events/event-log.ts';
import type { Undo } from '../session/undo/undo.ts';
import type { AllowedValues } from '../stores/allowed-values.ts';
import type { ArtifactStore } from '../stores/artifacts.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { Consents } from '../stores/consents.ts';
import type { Journal } from '../stores/journal.ts';
import type { DaemonKeys } from '../stores/keys.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { NetworkLog } from '../stores/network-log.ts';
import type { NetworkRules } from '../stores/network-rules.ts';
import type { ProjectStore } from '../stores/projects.ts';
import type { SessionStore } from '../stores/sessions.ts';
import type { Database } from '../stores/sqlite.ts';
import type { ToolVersions } from '../stores/tool-versions.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import type { CallGate } from './call-gate.ts';
import type { HostNetworks } from './host-network.ts';
import type { StopCause } from './lifecycle.ts';
import type { Network } from './network.ts';
import type { NetworkCredentials } from './network-credentials.ts';
import type { NetworkJournal } from './network-journal.ts';
import type { Outside } from './outside.ts';
import type { SessionEnd } from './session-end.ts';
import type { Sharing } from './sharing.ts';
import type { StandingAuditor } from './standing-auditor.ts';

export interface ComposeDeps {
  environment: Environment;
  paths: Paths;
  config: Config;
  clock: Clock;
  timer: Timer;
  logger: Logger;
  /** Starts the orderly end of the daemon. Calls in flight get `graceMs` milliseconds. */
  requestStop(graceMs: number, cause: StopCause): void;
}

export interface Stores {
  database: Database;
  keys: DaemonKeys;
  consents: Consents;
  projects: ProjectStore;
  outside: Outside;
  hostNetworks: HostNetworks;
  sessions: SessionStore;
  liveSessions: LiveSessions;
  journal: Journal;
  networkRules: NetworkRules;
  networkCredentials: NetworkCredentials;
  networkLog: NetworkLog;
  toolVersions: ToolVersions;
  allowedValues: AllowedValues;
  artifacts: ArtifactStore;
  auditLog: AuditLog;
  memoryDatabase: Database;
  memoryStore: MemoryStore;
}

/** Lessons of earlier work, and what brings them to other machines and back. */
export interface Remembering {
  /** Null: no embedding model is configured. */
  dense: Dense | null;
  sharing: Sharing;
  memories: Memories;
  retrievals: Retrievals;
  distiller: Distiller;
}

/** What happened in sessions. */
export interface SessionKeeping {
  counter: TokenCounter;
  eventLog: StoredEventLog;
  contexts: Contexts;
}

export interface Scrubbing {
  workspaceRules: WorkspaceRulesReader;
  /** Null if scrub.seeds is off. */
  seeds: Seeds | null;
  scanner: Scanner;
  scrubber: Scrubber;
  auditor: StandingAuditor;
}

export interface Execution {
  checkpoints: Checkpoints;
  installed: InstalledSource;
  catalog: Catalog;
  sandbox: Sandbox;
  network: Network;
  networkJournal: NetworkJournal;
  jobs: Jobs;
  branches: Branches;
  branchFiles: BranchFiles;
  undo: Undo;
  runner: Runner;
  views: ViewMaker;
}

export interface Entrance {
  gate: CallGate;
  door: Door;
  sessionEnd: SessionEnd;
}

/** Every part of the daemon that another part, or a test, may hold. */
export type DaemonParts = Stores & Scrubbing & Remembering & SessionKeeping & Execution & Entrance;
