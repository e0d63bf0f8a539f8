import { isAbsolute } from 'node:path';
import type {
  AllowValueRequest,
  BranchFilesRequest,
  HookReport,
  HostNetwork,
  ImportedCheckpoint,
  InstallRequest,
  Management,
  MemoryRequest,
  NetworkChange,
  NetworkCredentialChange,
  NetworkLogRequest,
  PathRequest,
  SecretRequest,
  ToolchainList,
} from '../call/management.ts';
import { ContextdError } from '../core/errors.ts';
import { isInstallVariable, isToolchainVariable } from '../core/variable-names.ts';

const AUDIT_MAX_RECORDS = 1000;
const STATS_DEFAULT_DAYS = 7;
const STATS_MAX_DAYS = 366;
const PATH_MAX_CHARS = 4096;
const PORT_MAX = 65_535;

/** Checks the shape and size of every management request before the daemon acts on it. Every door uses this. */
export function checkRequests(management: Management): Management {
  return {
    serverStatus: (request) => management.serverStatus(request),
    stopServer: (request) => management.stopServer(request),
    registerProject: async (request) => management.registerProject(withRoot(request)),
    unregisterProject: async (request) => management.unregisterProject(withRoot(request)),
    listTools: (request) => management.listTools(request),
    tailAudit: async (request) => management.tailAudit({ ...request, limit: auditLimit(request.limit) }),
    checkHealth: async (request) =>
      management.checkHealth({ project_root: request.project_root === '' ? '' : rootOf(request.project_root) }),
    sessionSecrets: async (request) => management.sessionSecrets(withRoot(request)),
    revealSecret: async (request) => management.revealSecret(secretOf(request)),
    allowValue: async (request) => management.allowValue(allowanceOf(request)),
    disallowValue: async (request) => management.disallowValue({ ...withRoot(request), id: allowedIdOf(request.id) }),
    listAllowedValues: async (request) => management.listAllowedValues(withRoot(request)),
    listSessions: async (request) => management.listSessions(withRoot(request)),
    readSession: async (request) => management.readSession(withLimit(withRoot(request), 50, SESSION_EVENTS_MAX)),
    inspectSession: async (request) => management.inspectSession(withRoot(request)),
    replaySession: async (request) => management.replaySession(withRoot(request)),
    endSession: async (request) => management.endSession(withRoot(request)),
    listCaches: async (request) => management.listCaches(withProject(request)),
    clearCaches: async (request) => management.clearCaches(withProject(request)),
    listRunning: async ({ project_root }) =>
      management.listRunning({ project_root: project_root === '' ? '' : rootOf(project_root) }),
    killRunning: async ({ id }) => management.killRunning({ id: runningIdOf(id) }),
    stats: async (request) => management.stats({ ...request, days: statsDays(request.days) }),
    reviewRules: async (request) => management.reviewRules(withRoot(request)),
    approveRules: async (request) => management.approveRules(withRoot(request)),
    revokeRules: async (request) => management.revokeRules(withRoot(request)),
    listQuarantine: async (request) =>
      management.listQuarantine(request.which === '' ? withRoot(request) : withWhich(request)),
    restoreQuarantined: async (request) => management.restoreQuarantined(withWhich(request)),
    acceptQuarantined: async (request) =>
      management.acceptQuarantined({ ...withWhich(request), sha256: sha256Of(request.sha256) }),
    revokeAccepted: async (request) => management.revokeAccepted(withWhich(request)),
    setToolchains: async (request) => management.setToolchains(toolchainsOf(request)),
    listToolchains: (request) => management.listToolchains(request),
    setHostNetwork: async (request) => management.setHostNetwork(hostNetworkOf(request)),
    readHostNetwork: (request) => management.readHostNetwork(request),
    allowPath: async (request) => management.allowPath(withPath(request)),
    disallowPath: async (request) => management.disallowPath(withPath(request)),
    listPaths: async (request) => management.listPaths(withRoot(request)),
    listPorts: async (request) => management.listPorts(withRoot(request)),
    openPort: async (request) => management.openPort({ ...withRoot(request), port: portOf(request.port) }),
    changeNetwork: async (request) => management.changeNetwork(networkChangeOf(request)),
    listNetwork: async ({ root }) => management.listNetwork({ root: root === '' ? '' : rootOf(root) }),
    listNetworkGroups: (request) => management.listNetworkGroups(request),
    setNetworkCredential: async (request) => management.setNetworkCredential(credentialOf(request)),
    removeNetworkCredentials: async (request) =>
      management.removeNetworkCredentials({ ...request, root: request.root === '' ? '' : rootOf(request.root) }),
    listNetworkCredentials: async ({ root }) =>
      management.listNetworkCredentials({ root: root === '' ? '' : rootOf(root) }),
    readNetworkLog: async (request) => management.readNetworkLog(networkLogOf(request)),
    searchMemories: async (request) => management.searchMemories(withLimit(withRoot(request), 10, MEMORIES_FOUND_MAX)),
    listMemories: async (request) => management.listMemories(withLimit(withRoot(request), 100, MEMORIES_LISTED_MAX)),
    getMemories: async (request) => management.getMemories(withMemoryIds(request)),
    addMemories: async (request) => {
      if (request.drafts_json.length > MEMORIES_LISTED_MAX) throw tooMuch('memories', MEMORIES_LISTED_MAX);
      return management.addMemories(withRoot(request));
    },
    rateMemory: async (request) => management.rateMemory(withRoot(request)),
    forgetMemories: async (request) => management.forgetMemories(withMemoryIds(request)),
    promoteMemory: async (request) => management.promoteMemory(withMemoryIds(request)),
    reportMemories: async (request) => management.reportMemories(withMemoryIds(request)),
    learnFromCalls: async (request) => {
      if (request.request_ids.length > MEMORIES_LISTED_MAX) throw tooMuch('calls', MEMORIES_LISTED_MAX);
      return management.learnFromCalls(withRoot(request));
    },
    listLessons: async (request) => management.listLessons(withRoot(request)),
    listBranches: async (request) => management.listBranches(withRoot(request)),
    planBranchFiles: async (request) => management.planBranchFiles(branchFilesOf(request)),
    endBranchFiles: async (request) => management.endBranchFiles(branchFilesOf(request)),
    syncMemories: async (request) => management.syncMemories(request.root === '' ? request : withRoot(request)),
    takeHook: async (request) => management.takeHook(hookOf(request)),
    planUndo: async (request) => management.planUndo(undoOf(request)),
    undoChanges: async (request) => management.undoChanges(undoOf(request)),
    saveCheckpoint: async (request) => management.saveCheckpoint(withRoot(request)),
    listCheckpoints: async (request) => management.listCheckpoints(withRoot(request)),
    readCheckpoint: async (request) => management.readCheckpoint(withRoot(request)),
    exportCheckpoint: async (request) => management.exportCheckpoint(withRoot(request)),
    importCheckpoint: async (request) => management.importCheckpoint(importOf(request)),
    getSchema: (tool, root) => management.getSchema(tool, root),
    installTool: async (request, signal, send) => management.installTool(installOf(request), signal, send),
    acceptTool: async (request) => management.acceptTool(withRoot(request)),
    rollbackTool: async (request) => management.rollbackTool(withRoot(request)),
    removeTool: async (request) => management.removeTool(withRoot(request)),
  };
}

function withRoot<Request extends { root: string }>(request: Request): Request {
  return { ...request, root: rootOf(request.root) };
}

function secretOf(request: SecretRequest): SecretRequest {
  if (/^\[SECRET_[1-9]\d{0,8}\]$/.test(request.token)) return withRoot(request);
  throw new ContextdError('ARGS_INVALID', `not a token: ${JSON.stringify(request.token.slice(0, 40))}`, {
    remedy: 'Name one as an answer shows it, such as [SECRET_3], or by its number.',
  });
}

const ALLOWED_VALUE_MAX_CHARS = 65_536;

/** One of the two: a token of a session, or a value. */
function allowanceOf(request: AllowValueRequest): AllowValueRequest {
  const { secret, value, by } = request;
  if (secret === null) throw new ContextdError('ARGS_INVALID', 'the request has no project', { remedy: 'Send one.' });
  if (value.length > ALLOWED_VALUE_MAX_CHARS) throw tooMuch('characters in a value', ALLOWED_VALUE_MAX_CHARS);
  if (by.length > 300) throw tooMuch('characters in a name', 300);
  return { ...request, secret: value === '' ? secretOf(secret) : withRoot(secret) };
}

function allowedIdOf(id: string): string {
  if (/^[0-9a-f]{4,64}$/.test(id)) return id;
  throw new ContextdError('ARGS_INVALID', `not the id of an allowed value: ${JSON.stringify(id.slice(0, 80))}`, {
    remedy: 'Name an id from `ctxd scrub allow list`, or at least four characters of its beginning.',
  });
}

/** Empty stays empty, which means all projects. */
function withProject<Request extends { project_root: string }>(request: Request): Request {
  return { ...request, project_root: request.project_root === '' ? '' : rootOf(request.project_root) };
}

const UNDO_NAME = /^(?:undo_[0-9a-z]{8}|req_[0-9A-Z]{26})?$/;

function branchFilesOf(request: BranchFilesRequest): BranchFilesRequest {
  const { keep_base, take_branch, merge_text } = request;
  for (const path of [...keep_base, ...take_branch, ...merge_text]) {
    if (path !== '' && !path.startsWith('/') && !path.split('/').includes('..')) continue;
    throw new ContextdError('ARGS_INVALID', `${JSON.stringify(path.slice(0, 200))} is no path in the project`, {
      remedy: 'Name paths relative to the project, as `ctxd branch diff` shows them.',
    });
  }
  return withRoot(request);
}

function undoOf<Request extends { root: string; which: string }>(request: Request): Request {
  if (UNDO_NAME.test(request.which)) return withRoot(request);
  throw new ContextdError('ARGS_INVALID', `${JSON.stringify(request.which.slice(0, 100))} names no call`, {
    remedy: 'Pass a ref (undo_…) or a request id (req_…) of an answer.',
  });
}

function withWhich<Request extends { root: string; which: string }>(request: Request): Request {
  return { ...withRoot(request), which: whichOf(request.which) };
}

function installOf(request: InstallRequest): InstallRequest {
  const wrong = Object.keys(request.variables).find((name) => !isInstallVariable(name));
  if (wrong !== undefined) {
    throw new ContextdError('ARGS_INVALID', `${wrong} is not a variable that fetching a tool uses`, {
      remedy: 'Pass only variables that lead to credentials, proxies and certificates, such as SSH_AUTH_SOCK.',
    });
  }
  return { ...withRoot(request), cwd: rootOf(request.cwd) };
}

/** Only the shape of a project root is checked here. The daemon decides whether the directory may be one. */
function rootOf(root: string): string {
  if (isAbsolute(root) && root.length <= PATH_MAX_CHARS && !root.includes('\0')) return root;
  throw new ContextdError('PATH_INVALID', `not an absolute path: ${JSON.stringify(root.slice(0, 200))}`, {
    remedy: 'Pass the absolute path of the project root, with symlinks resolved.',
  });
}

function withPath(request: PathRequest): PathRequest {
  return { ...withRoot(request), path: rootOf(request.path) };
}

/** At most this many toolchains, directories of one toolchain, and directories on PATH. */
const TOOLCHAINS_MAX = 200;

function toolchainsOf(request: ToolchainList): ToolchainList {
  const lists = [request.toolchains, request.path, ...request.toolchains.map(({ mounts }) => mounts)];
  if (lists.some(({ length }) => length > TOOLCHAINS_MAX)) {
    throw new ContextdError('ARGS_INVALID', `more than ${TOOLCHAINS_MAX} toolchains or directories`, {
      remedy: 'Remove directories from PATH, then run `ctxd allow toolchains` again.',
    });
  }
  for (const path of [...request.path, ...request.toolchains.flatMap(({ mounts }) => mounts)]) rootOf(path);
  for (const { name, variables } of request.toolchains) checkVariables(name, variables);
  return request;
}

function checkVariables(toolchain: string, variables: Readonly<Record<string, string>>): void {
  const wrong = Object.keys(variables).find((name) => !isToolchainVariable(name));
  if (wrong === undefined) {
    for (const path of Object.values(variables)) rootOf(path);
    return;
  }
  throw new ContextdError('ARGS_INVALID', `${wrong} is not a variable of a toolchain (${toolchain})`, {
    remedy: 'Pass only variables that lead to toolchains, such as JAVA_HOME.',
  });
}

/** At most this many certificates, settings, hosts and addresses of a host. */
const HOST_NETWORK_MAX = 200;
const CERTIFICATE_MAX_CHARS = 20_000;

/** Only sizes are checked here. The daemon reads certificates and settings. */
function hostNetworkOf(request: HostNetwork): HostNetwork {
  const { certificates, ca_variables: variables, registries, private_hosts: hosts } = request;
  const lists = [certificates, variables, registries, hosts, ...hosts.map(({ addresses }) => addresses)];
  const isLong = certificates.some(({ length }) => length > CERTIFICATE_MAX_CHARS);
  if (!isLong && lists.every(({ length }) => length <= HOST_NETWORK_MAX)) return request;
  throw new ContextdError('ARGS_INVALID', `more than ${HOST_NETWORK_MAX} entries, or too long a certificate`, {
    remedy: 'Remove certificates or registries that no program needs from the configuration, then try again.',
  });
}

/** The name of a file that was set aside, or of an acceptance. */
function whichOf(which: string): string {
  if (which !== '' && which.length <= PATH_MAX_CHARS && !which.includes('\0')) return which;
  throw new ContextdError('ARGS_INVALID', `not an id, a hash or a path: ${JSON.stringify(which.slice(0, 200))}`, {
    remedy: 'Name an id or a hash from `ctxd quarantine list`.',
  });
}

function portOf(port: number): number {
  if (port >= 1 && port <= PORT_MAX) return port;
  throw new ContextdError('ARGS_INVALID', `not a port: ${port}`, { remedy: `Pass a number from 1 to ${PORT_MAX}.` });
}

/** At most this many targets, and private addresses, of one change. */
const NETWORK_TARGETS_MAX = 200;
const NETWORK_LOG_DEFAULT = 50;
const NETWORK_LOG_MAX = 1000;
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

/** Only the shape is checked here. The daemon reads the names. */
function networkChangeOf(request: NetworkChange): NetworkChange {
  const { root, targets, private_addresses: addresses, for_ms: forMs, by } = request;
  if (targets.length > NETWORK_TARGETS_MAX || addresses.length > NETWORK_TARGETS_MAX)
    throw tooMuch('targets or addresses', NETWORK_TARGETS_MAX);
  const long = [...targets, ...addresses, by].find(({ length }) => length > 300);
  if (long !== undefined) throw tooMuch('characters in a name', 300);
  if (forMs > YEAR_MS) throw tooMuch('milliseconds', YEAR_MS);
  return { ...request, root: root === '' ? '' : rootOf(root) };
}

const SECRET_MAX_CHARS = 8192;
const CREDENTIAL_LIST_MAX = 50;

/** Only sizes are checked here; the daemon reads the names. */
function credentialOf(request: NetworkCredentialChange): NetworkCredentialChange {
  const { credential, root, secret } = request;
  if (credential === null)
    throw new ContextdError('ARGS_INVALID', 'the request has no credential', { remedy: 'Send one.' });
  if (secret.length > SECRET_MAX_CHARS) throw tooMuch('characters in a secret', SECRET_MAX_CHARS);
  const { methods, paths, placeholders, host, header, user, source, given_by: by } = credential;
  if ([methods, paths, placeholders].some(({ length }) => length > CREDENTIAL_LIST_MAX))
    throw tooMuch('methods, paths or variables', CREDENTIAL_LIST_MAX);
  const long = [...methods, ...paths, ...placeholders, host, header, user, source, by].some(
    ({ length }) => length > PATH_MAX_CHARS,
  );
  if (long) throw tooMuch('characters in a name', PATH_MAX_CHARS);
  return { ...request, root: root === '' ? '' : rootOf(root) };
}

function networkLogOf(request: NetworkLogRequest): NetworkLogRequest {
  if (request.limit > NETWORK_LOG_MAX) throw tooMuch('entries', NETWORK_LOG_MAX);
  const root = request.root === '' ? '' : rootOf(request.root);
  return { ...request, root, limit: request.limit || NETWORK_LOG_DEFAULT };
}

const MEMORIES_FOUND_MAX = 100;
const MEMORIES_LISTED_MAX = 500;
const SESSION_EVENTS_MAX = 10_000;

function withMemoryIds(request: MemoryRequest): MemoryRequest {
  if (request.ids.length > MEMORIES_LISTED_MAX) throw tooMuch('memories', MEMORIES_LISTED_MAX);
  return withRoot(request);
}

/** 0 means the default. */
function withLimit<Request extends { limit: number }>(request: Request, standard: number, maximum: number): Request {
  if (request.limit > maximum) throw tooMuch('entries', maximum);
  return { ...request, limit: request.limit || standard };
}

/** An exported checkpoint is a few megabytes at most. */
const CHECKPOINT_FILE_MAX_CHARS = 16 * 1024 * 1024;

function importOf(request: ImportedCheckpoint): ImportedCheckpoint {
  if (request.file.length > CHECKPOINT_FILE_MAX_CHARS) throw tooMuch('characters in a file', CHECKPOINT_FILE_MAX_CHARS);
  return withRoot(request);
}

/** More than a client hands in at once. */
const HANDED_IN_MAX = 100;
const HANDED_IN_MAX_CHARS = 256 * 1024;

function hookOf(request: HookReport): HookReport {
  const { items, hook, cause } = request;
  if (items.length > HANDED_IN_MAX) throw tooMuch('items', HANDED_IN_MAX);
  if (items.some(({ text }) => text.length > HANDED_IN_MAX_CHARS))
    throw tooMuch('characters in a text', HANDED_IN_MAX_CHARS);
  if ([hook, cause, ...items.map(({ role }) => role)].some(({ length }) => length > 40))
    throw tooMuch('characters in a name', 40);
  return withRoot(request);
}

function tooMuch(what: string, limit: number): ContextdError {
  return new ContextdError('ARGS_INVALID', `more than ${limit} ${what}`, {
    remedy: 'Ask for less at once.',
    details: { limit },
  });
}

/** The id of a job or a call, or a part of it that is long enough to name one. */
function runningIdOf(id: string): string {
  if (/^[\w-]{4,64}$/.test(id)) return id;
  throw new ContextdError('ARGS_INVALID', `not the id of a job or call: ${JSON.stringify(id.slice(0, 200))}`, {
    remedy: 'Name an id from `ctxd ps`, or at least four characters of its beginning or end.',
  });
}

/** A whole SHA-256 in lower case. */
function sha256Of(sha256: string): string {
  if (/^[0-9a-f]{64}$/.test(sha256)) return sha256;
  throw new ContextdError('ARGS_INVALID', `not a SHA-256: ${JSON.stringify(sha256.slice(0, 200))}`, {
    remedy: 'Pass the 64 hexadecimal digits that ListQuarantine gave.',
  });
}

/** 0 stays 0, which means the default number of records. */
function auditLimit(limit: number): number {
  if (limit <= AUDIT_MAX_RECORDS) return limit;
  throw new ContextdError('ARGS_INVALID', `limit is ${limit}, the most is ${AUDIT_MAX_RECORDS}`, {
    remedy: 'Ask for fewer records.',
    details: { limit: AUDIT_MAX_RECORDS },
  });
}

function statsDays(days: number): number {
  if (days <= STATS_MAX_DAYS) return days || STATS_DEFAULT_DAYS;
  throw new ContextdError('ARGS_INVALID', `days is ${days}, the most is ${STATS_MAX_DAYS}`, {
    remedy: 'Ask for fewer days.',
    details: { limit: STATS_MAX_DAYS },
  });
}
