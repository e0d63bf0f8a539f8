import type {
  Management,
  NetworkLogEntry,
  NetworkRuleInfo,
  NetworkState,
  QuarantinedItem,
  RunningItem,
} from '#src/call/management.js';
import type { CallAnswer, CallRequest } from '#src/call/request.js';
import { failureEnvelope } from '#src/core/envelope.js';
import { type ContextdError, ERROR_TABLE } from '#src/core/errors.js';

/** Answers with the call as it reached dispatch. */
export function echo({ requestId, tool, inputJson }: CallRequest): CallAnswer {
  return { line: JSON.stringify({ requestId, tool, input: inputJson.toString() }), exitCode: 0, errorLine: '' };
}

export function refuse(request: CallRequest, error: ContextdError): CallAnswer {
  const envelope = failureEnvelope({ error, meta: { version: 'response-v2', request_id: request.requestId } });
  return { line: JSON.stringify(envelope), exitCode: ERROR_TABLE[error.code].exitCode, errorLine: error.message };
}

/** A management service with fixed answers, except for the given ones. */
export function management(own: Partial<Management> = {}): Management {
  return { ...FIXED, ...own };
}

const NO_BRANCH_FILES = {
  ...{ branch: '', state: '', changes: [], conflicts: [], skipped: [], commits: [] },
  ...{ patch: '', patch_left: 0, undone_by: '' },
};
const NO_UNDO = {
  ...{ ref: '', request_id: '', tool: '', at_ms: 0, files: [], not_covered: [], shared: false, undone_by: '' },
};
const CHECKPOINT = {
  ...{ id: 'cp_0000000000', session: 's', branch: '', name: '', cause: 'asked', position: 1, created_ms: 5 },
  summary: '1 calls, 0 failed',
};
const NO_RULES = { sha256: '', approved: false, rules: 0, allowances: [], fault: '' };

function setAside(id: string): QuarantinedItem {
  return {
    ...{ id, path: 'a/.envrc', moved: `a/.envrc.quarantined-${id}`, reason: 'r', set_aside_ms: 4, kind: 'file' },
    ...{ size_bytes: 0, sha256: '', no_hash_because: 'n', preview: '' },
  };
}

const RUNNING: RunningItem = {
  ...{ id: 'job_0123abcd', kind: 'job', project: '/p', session: 's', tool: 'safe_bash', job: 1 },
  ...{ started_ms: 5, command: 'npm run dev', memory_bytes: 2 ** 21, cpu_ms: 1500 },
};

const RULE: NetworkRuleInfo = {
  ...{ from: 'project', pattern: 'registry.npmjs.org', verdict: 'allow', group: 'npm', once: false, expires_ms: 0 },
  ...{ private_addresses: [], given_ms: 5, given_by: 'ann', overridden_by: '' },
};
const NETWORK: NetworkState = {
  ...{ root: '/p', is_on: true, is_on_from: 'machine', rules: [RULE], changed: [RULE], notes: [], tools: [] },
};
const TALK: NetworkLogEntry = {
  ...{ id: 2 ** 33, at_ms: 5, project: '/p', tool: '', session: 's', request_id: 'req_1', host: 'api.example.com' },
  ...{ port: 443, via: 'connect', verdict: 'allowed', rule: 'api.example.com', why: '', up: 1, down: 2 ** 33 },
  ...{ duration_ms: 7, repeats: 1 },
};

const NO_CREDENTIALS = { credentials: [], changed: [], notes: [] };

const FIXED: Management = {
  serverStatus: async () => ({
    pid: process.pid,
    version: '1.2.3',
    uptime_ms: 1,
    socket: '/s',
    calls: 2,
    active_calls: 1,
    projects: 3,
    resident_bytes: 2 ** 33,
    protocol_version: 2,
    isolation: 'full',
    sandbox: {
      spawner_pid: 7,
      spawner_resident_bytes: 2 ** 26,
      running: 1,
      processes: 2,
      ready: [{ project: '/p', count: 2 }],
      ready_max: 32,
      ready_used: 3,
      totals: { memory_bytes: 2 ** 20, memory_max_bytes: 2 ** 34, pids: 5, pids_max: 8192 },
    },
  }),
  stopServer: async () => ({ pid: process.pid, active_calls: 0, ended_calls: 0 }),
  registerProject: async ({ root }) => ({ root, changed: true, tools: [] }),
  unregisterProject: async ({ root }) => ({ root, changed: false, tools: [] }),
  listTools: async () => ({ tools: [] }),
  installTool: async () => ({}),
  acceptTool: async ({ root }) => ({ root, tools: [] }),
  rollbackTool: async ({ root }) => ({ root, tools: [] }),
  removeTool: async ({ root }) => ({ root, tools: [] }),
  tailAudit: async () => ({ records_json: [] }),
  checkHealth: async () => ({ checks: [] }),
  sessionSecrets: async ({ root, session }) => ({ root, session, secrets: [] }),
  revealSecret: async ({ session }) => ({ summary: null, session, request_id: '', input: '', value: 'x' }),
  allowValue: async () => ({ values: [], changed: [], session: '' }),
  disallowValue: async () => ({ values: [], changed: [], session: '' }),
  listAllowedValues: async () => ({ values: [], changed: [], session: '' }),
  listSessions: async () => ({ sessions: [] }),
  readSession: async ({ session }) => ({ session, events: [] }),
  inspectSession: async ({ session, to }) => ({ session, position: to, text: '', sha256: '', stats_json: '{}' }),
  replaySession: async ({ session }) => ({ session, contexts: [] }),
  endSession: async ({ root, session }) => ({ root, session, ended: true }),
  listCaches: async () => ({ caches: [] }),
  clearCaches: async () => ({ caches: [] }),
  listRunning: async () => ({ items: [RUNNING] }),
  killRunning: async ({ id }) => ({ items: [{ ...RUNNING, id }] }),
  stats: async () => ({ rows: [] }),
  reviewRules: async ({ root }) => ({ ...NO_RULES, path: root }),
  approveRules: async ({ root, sha256 }) => ({ ...NO_RULES, path: root, sha256, approved: true }),
  revokeRules: async ({ root }) => ({ ...NO_RULES, path: root }),
  listPorts: async () => ({ ports: [{ port: 3000, address: '127.0.0.1' }] }),
  openPort: async () => ({ socket: '/run/s' }),
  changeNetwork: async ({ root, dry_run }) => ({ ...NETWORK, root, notes: dry_run ? ['planned'] : ['done'] }),
  listNetwork: async ({ root }) => ({ ...NETWORK, root }),
  listNetworkGroups: async () => ({
    groups: [{ name: 'npm', summary: 'Packages.', patterns: ['registry.npmjs.org'], mirrors: [] }],
  }),
  setHostNetwork: async (request) => request,
  readHostNetwork: async () => ({ certificates: [], ca_variables: [], registries: [], private_hosts: [] }),
  setNetworkCredential: async ({ root }) => ({ ...NO_CREDENTIALS, notes: [root] }),
  removeNetworkCredentials: async ({ host }) => ({ ...NO_CREDENTIALS, notes: [host] }),
  listNetworkCredentials: async () => NO_CREDENTIALS,
  searchMemories: async () => ({ memories: [], degraded: '' }),
  listMemories: async () => ({ memories: [], degraded: '' }),
  getMemories: async () => ({ memories: [], degraded: '' }),
  addMemories: async () => ({ results: [] }),
  rateMemory: async () => ({ memory: null, feedback: [] }),
  forgetMemories: async () => ({ memories: [], degraded: '' }),
  promoteMemory: async () => ({ memories: [], degraded: '' }),
  reportMemories: async () => ({ holdout: 0, memories: [] }),
  learnFromCalls: async () => ({ lessons: [] }),
  listLessons: async () => ({ lessons: [] }),
  syncMemories: async () => ({
    ...{ state: 'off', url: '', collection: '', project_id: '', pending: 0, foreign: 0, refused: 0 },
    ...{ synced_ms: 0, fault: '', retry_ms: 0 },
  }),
  listBranches: async () => ({ branches: [] }),
  planBranchFiles: async () => NO_BRANCH_FILES,
  endBranchFiles: async () => NO_BRANCH_FILES,
  saveCheckpoint: async ({ name }) => ({ ...CHECKPOINT, name }),
  listCheckpoints: async () => ({ checkpoints: [CHECKPOINT] }),
  readCheckpoint: async ({ id }) => ({ checkpoint: { ...CHECKPOINT, id }, text: 'x', saved_first: '', undone_by: '' }),
  exportCheckpoint: async ({ id }) => ({
    checkpoint: { ...CHECKPOINT, id },
    text: 'x',
    saved_first: '',
    undone_by: '',
  }),
  importCheckpoint: async () => CHECKPOINT,
  takeHook: async ({ items }) => ({ text: '', recorded: items.length, warm_start_tokens: 0 }),
  planUndo: async () => NO_UNDO,
  undoChanges: async () => NO_UNDO,
  readNetworkLog: async ({ after_id }) => ({ entries: after_id === 0 ? [TALK] : [] }),
  listQuarantine: async ({ which }) => ({ items: which === '' ? [] : [setAside(which)], accepted: [] }),
  restoreQuarantined: async ({ which }) => ({ items: [setAside(which)], accepted: [] }),
  acceptQuarantined: async ({ which, sha256 }) => ({
    items: [setAside(which)],
    accepted: [{ path: 'a/.envrc', sha256, accepted_ms: 5 }],
  }),
  revokeAccepted: async ({ which }) => ({
    items: [],
    accepted: [{ path: which, sha256: '0'.repeat(64), accepted_ms: 5 }],
  }),
  setToolchains: async (request) => request,
  listToolchains: async () => ({ toolchains: [], path: [] }),
  allowPath: async ({ path }) => ({ paths: [path] }),
  disallowPath: async () => ({ paths: [] }),
  listPaths: async () => ({ paths: [] }),
  getSchema: async () => ({ schema_json: '{}', tool_md: '', tool_extended_md: '', bundle_sha256: '' }),
};
