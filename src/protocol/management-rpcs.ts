import {
  acceptedOf,
  allowanceOf,
  auditOf,
  branchFilesOf,
  credentialOf,
  disallowanceOf,
  hookOf,
  hostNetworkOf,
  importOf,
  killOf,
  learnOf,
  listedOf,
  memoryListOf,
  memoryQueryOf,
  networkChangeOf,
  networkLogOf,
  newMemoriesOf,
  secretOf,
  sessionEventsOf,
  statsOf,
  toolchainsOf,
  undoOf,
  withMemoryIds,
  withOptionalRoot,
  withPath,
  withPort,
  withProject,
  withRoot,
  withWhich,
} from './management-checks.ts';
import type { Requests, RpcMethod, RpcMethods, RpcName } from './management-contract.ts';

/** How an rpc differs from the others. */
interface RpcRow<Request> {
  /**
   * Returns the request as the daemon may use it, or throws. By default a `root` must be an absolute path, and nothing else
   * is checked.
   */
  check?: (request: Request) => Request;
  /**
   * By default a person must have registered the project at `root`, unless `root` is empty: otherwise the rpc throws
   * NOT_FOUND and nothing has happened. `any`: the project may be unknown. `by handler`: the handler itself decides when it
   * must be known.
   */
  project?: 'any' | 'by handler';
  /** Milliseconds that the client waits for the answer, LONG_ANSWER_MS by default. */
  answerMs?: number;
}

/** For what is in memory or in one small file. */
const SHORT_ANSWER_MS = 5_000;
/** An agent waits for the answer to a hook. */
const HOOK_ANSWER_MS = 2_000;
/**
 * The health check runs a sandbox, measuring caches walks them, statistics read up to 366 files, and the quarantine hashes
 * the files that were set aside.
 */
const LONG_ANSWER_MS = 60_000;

/** A request of which nothing is checked. */
const asItIs = <Request>(request: Request): Request => request;

/**
 * The rpcs of ManagementService with one answer, each with what differs from the defaults. Only the certificate of the CLI
 * may call them. The doors, the daemon and the client of `ctxd` are loops over this table: a new rpc needs its lines in the
 * .proto file, a row here, and its handler.
 */
const MANAGEMENT_RPCS: { readonly [Name in RpcName]: RpcRow<Requests[Name]> } = {
  serverStatus: { answerMs: SHORT_ANSWER_MS },
  // Returns when no call is under way any more, before the daemon ends. The client passes its own patience.
  stopServer: {},
  registerProject: { project: 'any', answerMs: SHORT_ANSWER_MS },
  unregisterProject: { project: 'any', answerMs: SHORT_ANSWER_MS },

  // Without a root, the tools of contextd; a project that does not exist yet can be asked what it is offered.
  listTools: { check: asItIs, project: 'by handler' },
  // Throws EXPIRED unless the tool is offered, PERMISSION_DENIED if it asks for more than may be granted without a question.
  acceptTool: { project: 'by handler' },
  // Throws TOOL_NOT_FOUND for a tool that is not installed, NOT_FOUND if there was no version before, also for a preview.
  rollbackTool: { project: 'by handler' },
  removeTool: { project: 'by handler' },

  tailAudit: { check: auditOf, answerMs: SHORT_ANSWER_MS },
  checkHealth: { check: withProject },
  stats: { check: statsOf },

  sessionSecrets: { project: 'any', answerMs: SHORT_ANSWER_MS },
  // Throws SECRET_UNKNOWN for a token that the session does not hold, AUDIT_FAILED if it cannot be recorded.
  revealSecret: { check: secretOf, project: 'any', answerMs: SHORT_ANSWER_MS },
  // Throws SECRET_UNKNOWN as above. The project is that of the secret.
  allowValue: { check: allowanceOf, project: 'by handler', answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND if no allowed value has the id, and CONFLICT if several ids begin with it.
  disallowValue: { check: disallowanceOf, answerMs: SHORT_ANSWER_MS },
  listAllowedValues: { answerMs: SHORT_ANSWER_MS },

  // Each of these throws NOT_FOUND if the project has no such session.
  listSessions: { answerMs: SHORT_ANSWER_MS },
  readSession: { check: sessionEventsOf },
  // Throws ARGS_INVALID for an unknown phase or sensitivity.
  inspectSession: {},
  replaySession: {},
  endSession: { project: 'any' },

  listCaches: { check: withProject },
  // Throws NOT_FOUND if the project has no caches.
  clearCaches: { check: withProject },

  // Jobs first, then calls; the oldest first.
  listRunning: { check: withProject, answerMs: SHORT_ANSWER_MS },
  // Returns what it ended. Throws NOT_FOUND if nothing has the id, and CONFLICT if several begin or end with it.
  killRunning: { check: killOf },

  reviewRules: { answerMs: SHORT_ANSWER_MS },
  // Throws CONFLICT if the file has changed since it was reviewed.
  approveRules: { answerMs: SHORT_ANSWER_MS },
  // An approval is revoked even if the project is not registered any more.
  revokeRules: { project: 'by handler', answerMs: SHORT_ANSWER_MS },

  // Throws PATH_NOT_FOUND if nothing has that name.
  listQuarantine: { check: listedOf },
  // Throws CONFLICT if the path is taken again, and while a command runs in the project.
  restoreQuarantined: { check: withWhich },
  // Throws CONFLICT for a path that was only reported.
  removeQuarantined: { check: withWhich },
  // Throws CONFLICT if the content has changed since it was shown.
  acceptQuarantined: { check: acceptedOf },
  revokeAccepted: { check: withWhich },

  // Throws PATH_INVALID for a directory that must not be mounted.
  setToolchains: { check: toolchainsOf },
  listToolchains: { answerMs: SHORT_ANSWER_MS },
  // Throws ARGS_INVALID for a certificate or setting that cannot be used.
  setHostNetwork: { check: hostNetworkOf, answerMs: SHORT_ANSWER_MS },
  readHostNetwork: { answerMs: SHORT_ANSWER_MS },
  // Throws PATH_INVALID for a directory that must not be written.
  allowPath: { check: withPath },
  // Throws PATH_NOT_FOUND if the directory was not allowed.
  disallowPath: { check: withPath, answerMs: SHORT_ANSWER_MS },
  listPaths: { answerMs: SHORT_ANSWER_MS },

  // Both throw SANDBOX_UNAVAILABLE if the commands of the project share no loopback.
  listPorts: {},
  openPort: { check: withPort },

  // Throws NOT_FOUND if nothing has that name, ARGS_INVALID for a name that cannot be allowed.
  changeNetwork: { check: networkChangeOf, answerMs: SHORT_ANSWER_MS },
  listNetwork: { check: withOptionalRoot, answerMs: SHORT_ANSWER_MS },
  listNetworkGroups: { answerMs: SHORT_ANSWER_MS },
  readNetworkLog: { check: networkLogOf, project: 'any', answerMs: SHORT_ANSWER_MS },
  // Throws ARGS_INVALID for a secret or binding that cannot be used.
  setNetworkCredential: { check: credentialOf, answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND if nothing is bound there.
  removeNetworkCredentials: { check: withOptionalRoot, answerMs: SHORT_ANSWER_MS },
  listNetworkCredentials: { check: withOptionalRoot, answerMs: SHORT_ANSWER_MS },

  // The best first.
  searchMemories: { check: memoryQueryOf },
  listMemories: { check: memoryListOf },
  // Throws NOT_FOUND, with the ids that the project does not have.
  getMemories: { check: withMemoryIds },
  // A draft that cannot be stored is refused alone.
  addMemories: { check: newMemoriesOf },
  rateMemory: {},
  forgetMemories: { check: withMemoryIds },
  promoteMemory: { check: withMemoryIds },
  reportMemories: { check: withMemoryIds },
  // Throws NOT_FOUND if no call is meant.
  learnFromCalls: { check: learnOf },
  listLessons: {},
  // Throws UPSTREAM_UNAVAILABLE, with the reason, if it was asked to synchronise and could not.
  syncMemories: { check: withOptionalRoot },

  // Open branches first, then the newest.
  listBranches: { answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND for a branch that the project does not have, or without files of its own.
  planBranchFiles: { check: branchFilesOf },
  // Throws CONFLICT if a file was changed on both sides; then nothing was written.
  endBranchFiles: { check: branchFilesOf },

  // Throws SCRUB_FAILED; then nothing is recorded.
  takeHook: { check: hookOf, answerMs: HOOK_ANSWER_MS },

  // Throws NOT_FOUND if no such call has changed files, SANDBOX_UNAVAILABLE if changes are not kept here.
  planUndo: { check: undoOf },
  // Throws CONFLICT if a file has changed since, unless the request is partial.
  undoChanges: { check: undoOf },

  // Throws ARGS_INVALID for a name or note that is too long, STORAGE_FULL; then nothing is saved.
  saveCheckpoint: {},
  listCheckpoints: {},
  // Throws NOT_FOUND, VERSION_MISMATCH for a newer one, INTEGRITY_FAILED for a damaged one.
  readCheckpoint: {},
  exportCheckpoint: {},
  // Throws SCHEMA_INVALID for another file, and what readCheckpoint throws.
  importCheckpoint: { check: importOf },
};

// This cast and the one below are safe: the type of the table has exactly the names of the rpcs.
export const RPC_NAMES = Object.keys(MANAGEMENT_RPCS) as readonly RpcName[];

/** One method per rpc of the table. */
export function rpcMethods(create: <Name extends RpcName>(name: Name) => RpcMethod<Name>): RpcMethods {
  return Object.fromEntries(RPC_NAMES.map((name) => [name, create(name)])) as RpcMethods;
}

/** The name of a method as the .proto file spells it. */
export function wireName(method: string): string {
  return `${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}

/** The request as the daemon may use it. Throws what is wrong with its shape or size. */
export function checkRequest<Name extends RpcName>(name: Name, request: Requests[Name]): Requests[Name] {
  const { check = withRoot } = MANAGEMENT_RPCS[name];
  return check(request);
}

/** The root of a project that must be registered before the rpc is carried out. Null if it asks for none. */
export function requiredRoot<Name extends RpcName>(name: Name, request: Requests[Name]): string | null {
  if (MANAGEMENT_RPCS[name].project !== undefined || !('root' in request)) return null;
  return request.root === '' ? null : request.root;
}

/** Milliseconds that the client waits for the answer. */
export function answerMsOf(name: RpcName): number {
  return MANAGEMENT_RPCS[name].answerMs ?? LONG_ANSWER_MS;
}
