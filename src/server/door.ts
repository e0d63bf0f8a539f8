export interface ServerStatus {
  pid: number;
  version: string;
  uptimeMs: number;
  socket: string;
  /** Calls answered since start. */
  calls: number;
  activeCalls: number;
  projects: number;
  residentBytes: number;
  protocolVersion: number;
  isolation: 'full' | 'reduced' | 'unavailable';
  sandbox: SandboxState;
}

/** What runs and waits in sandboxes. */
export interface SandboxState {
  spawnerPid: number | null;
  /** Bytes. */
  spawnerRssBytes: number;
  running: number;
  processes: number;
  ready: readonly { workspace: string; count: number }[];
  readyMax: number;
  readyUsed: number;
  totals: { memoryBytes: number; memoryMaxBytes: number; pids: number; pidsMax: number } | null;
}

export interface StopResult {
  pid: number;
  activeCalls: number;
  /** Calls of those that were ended because they took longer than the grace. */
  endedCalls: number;
}

export interface ToolInfo {
  name: string;
  purpose: string;
  bundleSha256: string;
  origin: 'core' | 'installed';
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
  grants: readonly string[];
}

export interface ProjectResult {
  root: string;
  /** False when the call changed nothing. */
  changed: boolean;
  tools: readonly ToolInfo[];
}

export interface SchemaResult {
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
  bundleSha256: string;
}

export interface HealthCheck {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it; "" when ok. */
  remedy: string;
}

/** What a session's vault holds; never a value. */
export interface SessionSecrets {
  root: string;
  session: string;
  secrets: readonly SecretInfo[];
}

export interface SecretInfo {
  token: string;
  rule: string;
  kind: string;
  /** Null: no tool's answer. */
  tool: string | null;
  /** Milliseconds since the epoch. */
  firstSeenAt: number;
  uses: number;
  opened: number;
  /** Milliseconds since the epoch; null: never. */
  lastOpenedAt: number | null;
}

/** The calls of one tool in one session on one UTC day. Times in milliseconds. */
export interface StatsRow {
  day: string;
  project: string;
  session: string;
  tool: string;
  calls: number;
  failed: number;
  secrets: number;
  missedByFirstPass: number;
  missedByEngine: number;
  durationMs: number;
  scrubMs: number;
  followUps: number;
  /** Calls whose tokens are known: the sums of tokens hold these alone. */
  countedCalls: number;
  estimatedCalls: number;
  tokensRun: number;
  tokensReturned: number;
  /** Net of follow-ups; may be negative. */
  tokensSaved: number;
  artifacts: number;
  truncated: number;
  /** Calls whose time in the tool is known: `addedMs` holds these alone. */
  timedCalls: number;
  addedMs: number;
}

/** What the `.gitleaks.toml` of a project adds, and what only an approval lets it do. */
export interface RulesReviewResult {
  path: string;
  /** Null: there is no such file. */
  sha256: string | null;
  approved: boolean;
  rules: number;
  allowances: readonly string[];
  /** Null when the file can be used. */
  fault: string | null;
}

/** Set-aside paths and accepted content of a project. Paths are relative to it, times milliseconds since the epoch. */
export interface QuarantineInfo {
  items: readonly QuarantinedInfo[];
  accepted: readonly { path: string; sha256: string; at: number }[];
}

export interface QuarantinedInfo {
  id: string;
  path: string;
  moved: string;
  reason: string;
  at: number;
  kind: 'file' | 'directory' | 'link' | 'other';
  /** Null if the bytes were not counted. */
  sizeBytes: number | null;
  /** Null if it has none, which `noHashBecause` explains. */
  sha256: string | null;
  noHashBecause: string | null;
  preview: string | null;
}

/** What ctxd may ask, one method per rpc of ManagementService, and the schema question of both callers. */
export interface Management {
  serverStatus(): Promise<ServerStatus>;
  /**
   * `graceMs` milliseconds for calls in flight; 0: the configured default. Returns when no call is under way any more,
   * before the daemon ends. `isRestart`: another daemon is started afterwards.
   */
  stopServer(graceMs: number, isRestart: boolean): Promise<StopResult>;
  registerProject(root: string): Promise<ProjectResult>;
  unregisterProject(root: string): Promise<ProjectResult>;
  /** "" lists the core tools. */
  listTools(root: string): Promise<readonly ToolInfo[]>;
  /** Audit records as stored, oldest first. `limit` 0 is the default number; `projectRoot` "" is every project. */
  tailAudit(limit: number, projectRoot: string): Promise<readonly string[]>;
  /** `projectRoot` "": isolation is that of the machine, not that of one project's calls. */
  checkHealth(projectRoot: string): Promise<readonly HealthCheck[]>;
  /** `session` "" is the one that a call without a name gets today. */
  sessionSecrets(root: string, session: string): Promise<SessionSecrets>;
  /** Of `days` UTC days, today included; 0: 7. `projectRoot` "" is every project. */
  stats(projectRoot: string, days: number): Promise<readonly StatsRow[]>;
  /** NOT_FOUND for a project that is not registered. */
  reviewRules(root: string): Promise<RulesReviewResult>;
  /** CONFLICT when the file has another hash by now. */
  approveRules(root: string, sha256: string): Promise<RulesReviewResult>;
  revokeRules(root: string): Promise<RulesReviewResult>;
  /** `which` "" is everything. NOT_FOUND for a project that is not registered, PATH_NOT_FOUND for an unknown `which`. */
  listQuarantine(root: string, which: string): Promise<QuarantineInfo>;
  /** CONFLICT if something has its name, and while a command runs. */
  restoreQuarantined(root: string, which: string): Promise<QuarantineInfo>;
  /** CONFLICT if it has another hash by now. */
  acceptQuarantined(root: string, which: string, sha256: string): Promise<QuarantineInfo>;
  revokeAccepted(root: string, which: string): Promise<QuarantineInfo>;
  /** What the daemon accepted for a tool. Throws TOOL_NOT_FOUND. */
  getSchema(tool: string, projectRoot: string): Promise<SchemaResult>;
}
