import type { JsonObject } from '../core/json.ts';
import { approvalAnswerOf, approvalOf, approvalRuleOf } from './approval-checks.ts';
import { challengeOf, namedTokenOf, newTokenOf } from './http-checks.ts';
import {
  acceptedOf,
  allowanceOf,
  auditOf,
  branchFilesOf,
  copyOf,
  disallowanceOf,
  hookOf,
  importOf,
  killOf,
  learnOf,
  listedOf,
  memoryListOf,
  memoryQueryOf,
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
import type { PersonAct, Requests, RpcMethod, RpcMethods, RpcName } from './management-contract.ts';
import { credentialOf, hostNetworkOf, networkChangeOf, networkLogOf } from './network-checks.ts';
import { grantOf, newUpstreamOf, upstreamOf } from './upstream-checks.ts';

/** How an rpc differs from the others. */
interface RpcRow<Request> {
  /**
   * What goes on record before the rpc is carried out; null if this request only reads. Texts of the request that a person
   * typed freely are left out: the record holds names, ids and addresses.
   */
  act: (request: Request) => PersonAct | null;
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

/** A server may have to be downloaded before it answers. */
const SERVER_ANSWER_MS = 150_000;

/** What a project leaves may hold the caches of its MCP servers, of any size, and is deleted before the answer. */
const FORGET_ANSWER_MS = 600_000;

/** The databases may hold gigabytes. */
const COPY_ANSWER_MS = 600_000;

/** The rpc changes nothing that a person decides on. */
const READS = (): null => null;

/** `project` is by default that of the request. */
function act(command: string, input: JsonObject = {}, project?: string): PersonAct {
  return { command, input, ...(project === undefined ? {} : { project }) };
}

/** A request of which nothing is checked. */
const asItIs = <Request>(request: Request): Request => request;

/**
 * The rpcs of ManagementService with one answer, each with what differs from the defaults. Only the certificate of the CLI
 * may call them. The doors, the daemon and the client of `ctxd` are loops over this table: a new rpc needs its lines in the
 * .proto file, a row here, and its handler.
 */
const MANAGEMENT_RPCS: { readonly [Name in RpcName]: RpcRow<Requests[Name]> } = {
  serverStatus: { act: READS, answerMs: SHORT_ANSWER_MS },
  // Returns when no call is under way any more, before the daemon ends. The client passes its own patience.
  stopServer: { act: ({ restart }) => act(restart ? 'server restart' : 'server stop') },
  // The new daemon has 20 seconds to get ready, calls have `server.drain_ms`, and the state has to be written.
  restartServer: { act: () => act('server restart') },
  registerProject: { act: () => act('init'), project: 'any', answerMs: SHORT_ANSWER_MS },
  unregisterProject: { act: () => act('init --uninstall'), project: 'any', answerMs: FORGET_ANSWER_MS },

  // Without a root, the tools of contextd; a project that does not exist yet can be asked what it is offered.
  listTools: { act: READS, check: asItIs, project: 'by handler' },
  // Throws EXPIRED unless the tool is offered, PERMISSION_DENIED if it asks for more than may be granted without a question.
  acceptTool: {
    act: ({ bundle_sha256, unattended }) => act('tool install', { bundle_sha256, unattended }),
    project: 'by handler',
  },
  // Throws TOOL_NOT_FOUND for a tool that is not installed, NOT_FOUND if there was no version before, also for a preview.
  rollbackTool: {
    act: ({ name, preview }) => (preview ? null : act('tool rollback', { name })),
    project: 'by handler',
  },
  removeTool: { act: ({ name }) => act('tool remove', { name }), project: 'by handler' },

  // Returns the settings that changed since they were last recorded; it records each of them itself.
  recordSettings: { act: READS },

  copyState: { act: ({ file }) => act('backup create', { file }), check: copyOf, answerMs: COPY_ANSWER_MS },
  tailAudit: { act: READS, check: auditOf, answerMs: SHORT_ANSWER_MS },
  checkHealth: { act: READS, check: withProject },
  stats: { act: READS, check: statsOf },

  sessionSecrets: { act: READS, project: 'any', answerMs: SHORT_ANSWER_MS },
  // Throws SECRET_UNKNOWN for a token that the session does not hold, AUDIT_FAILED if it cannot be recorded.
  revealSecret: {
    act: ({ token }) => act('scrub reveal', { token }),
    check: secretOf,
    project: 'any',
    answerMs: SHORT_ANSWER_MS,
  },
  // Throws SECRET_UNKNOWN as above. The project is that of the secret.
  allowValue: {
    act: ({ secret, everywhere, by }) => act('scrub allow', { everywhere, by }, secret?.root),
    check: allowanceOf,
    project: 'by handler',
    answerMs: SHORT_ANSWER_MS,
  },
  // Throws NOT_FOUND if no allowed value has the id, and CONFLICT if several ids begin with it.
  disallowValue: {
    act: ({ id }) => act('scrub allow remove', { id }),
    check: disallowanceOf,
    answerMs: SHORT_ANSWER_MS,
  },
  listAllowedValues: { act: READS, answerMs: SHORT_ANSWER_MS },

  // Each of these throws NOT_FOUND if the project has no such session.
  listSessions: { act: READS, answerMs: SHORT_ANSWER_MS },
  readSession: { act: READS, check: sessionEventsOf },
  // Throws ARGS_INVALID for an unknown phase or sensitivity.
  inspectSession: { act: READS },
  replaySession: { act: READS },
  endSession: { act: ({ session }) => act('session end', { session }), project: 'any' },

  listCaches: { act: READS, check: withProject },
  // Throws NOT_FOUND if the project has no caches.
  clearCaches: { act: ({ project_root }) => act('cache clear', {}, project_root), check: withProject },

  // Jobs first, then calls; the oldest first.
  listRunning: { act: READS, check: withProject, answerMs: SHORT_ANSWER_MS },
  // Returns what it ended. Throws NOT_FOUND if nothing has the id, and CONFLICT if several begin or end with it.
  killRunning: { act: ({ id }) => act('kill', { id }), check: killOf },

  reviewRules: { act: READS, answerMs: SHORT_ANSWER_MS },
  // Throws CONFLICT if the file has changed since it was reviewed.
  approveRules: { act: ({ sha256 }) => act('scrub approve', { sha256 }), answerMs: SHORT_ANSWER_MS },
  // An approval is revoked even if the project is not registered any more.
  revokeRules: { act: () => act('scrub revoke'), project: 'by handler', answerMs: SHORT_ANSWER_MS },

  // Throws PATH_NOT_FOUND if nothing has that name.
  listQuarantine: { act: READS, check: listedOf },
  // Throws CONFLICT if the path is taken again, and while a command runs in the project.
  restoreQuarantined: { act: ({ which }) => act('quarantine restore', { which }), check: withWhich },
  // Throws CONFLICT for a path that was only reported.
  removeQuarantined: { act: ({ which }) => act('quarantine remove', { which }), check: withWhich },
  // Throws CONFLICT if the content has changed since it was shown.
  acceptQuarantined: { act: ({ which, sha256 }) => act('quarantine accept', { which, sha256 }), check: acceptedOf },
  revokeAccepted: { act: ({ which }) => act('quarantine revoke', { which }), check: withWhich },

  // Throws PATH_INVALID for a directory that must not be mounted.
  setToolchains: {
    act: ({ toolchains }) => act('allow toolchains', { mounts: toolchains.flatMap(({ mounts }) => mounts) }),
    check: toolchainsOf,
  },
  listToolchains: { act: READS, answerMs: SHORT_ANSWER_MS },
  // Throws ARGS_INVALID for a certificate or setting that cannot be used.
  setHostNetwork: {
    act: ({ certificates, registries }) =>
      act('network mirrors', {
        certificates: certificates.length,
        registries: registries.map(({ client, key }) => `${client} ${key}`),
      }),
    check: hostNetworkOf,
    answerMs: SHORT_ANSWER_MS,
  },
  readHostNetwork: { act: READS, answerMs: SHORT_ANSWER_MS },
  // Throws PATH_INVALID for a directory that must not be written.
  allowPath: { act: ({ path }) => act('allow path', { path }), check: withPath },
  // Throws PATH_NOT_FOUND if the directory was not allowed.
  disallowPath: { act: ({ path }) => act('allow remove', { path }), check: withPath, answerMs: SHORT_ANSWER_MS },
  listPaths: { act: READS, answerMs: SHORT_ANSWER_MS },

  readCatalogue: { act: READS, answerMs: SHORT_ANSWER_MS },

  // Both throw SANDBOX_UNAVAILABLE if the commands of the project share no loopback.
  listPorts: { act: READS },
  openPort: { act: ({ port }) => act('port', { port }), check: withPort },

  // Throws NOT_FOUND if nothing has that name, ARGS_INVALID for a name that cannot be allowed.
  changeNetwork: {
    act: ({ action, targets, once, dry_run }) => (dry_run ? null : act(`network ${action}`, { targets, once })),
    check: networkChangeOf,
    answerMs: SHORT_ANSWER_MS,
  },
  listNetwork: { act: READS, check: withOptionalRoot, answerMs: SHORT_ANSWER_MS },
  listNetworkGroups: { act: READS, answerMs: SHORT_ANSWER_MS },
  readNetworkLog: { act: READS, check: networkLogOf, project: 'any', answerMs: SHORT_ANSWER_MS },
  // Throws ARGS_INVALID for a secret or binding that cannot be used.
  setNetworkCredential: {
    act: ({ dry_run, credential }) =>
      dry_run ? null : act('network credential add', { host: credential?.host ?? '' }),
    check: credentialOf,
    answerMs: SHORT_ANSWER_MS,
  },
  // Throws NOT_FOUND if nothing is bound there.
  removeNetworkCredentials: {
    act: ({ host, paths }) => act('network credential remove', { host, paths }),
    check: withOptionalRoot,
    answerMs: SHORT_ANSWER_MS,
  },
  listNetworkCredentials: { act: READS, check: withOptionalRoot, answerMs: SHORT_ANSWER_MS },

  // The best first.
  searchMemories: { act: READS, check: memoryQueryOf },
  listMemories: { act: READS, check: memoryListOf },
  // Throws NOT_FOUND, with the ids that the project does not have.
  getMemories: { act: READS, check: withMemoryIds },
  // A draft that cannot be stored is refused alone.
  addMemories: {
    act: ({ source, drafts_json: { length } }) =>
      source === '' ? act('memory add', { count: length }) : act('memory import', { source, count: length }),
    check: newMemoriesOf,
  },
  rateMemory: { act: ({ id, outcome }) => (outcome === '' ? null : act('memory feedback', { id, outcome })) },
  forgetMemories: { act: ({ ids }) => act('memory forget', { ids }), check: withMemoryIds },
  promoteMemory: { act: ({ ids }) => act('memory promote', { ids }), check: withMemoryIds },
  reportMemories: { act: READS, check: withMemoryIds },
  // Throws NOT_FOUND if no call is meant.
  learnFromCalls: {
    act: ({ request_ids, outcome }) => act('memory learn', { calls: request_ids.length, outcome }),
    check: learnOf,
  },
  listLessons: { act: READS },
  // Throws UPSTREAM_UNAVAILABLE, with the reason, if it was asked to synchronise and could not.
  syncMemories: {
    act: ({ action }) => (action === 'status' ? null : act('memory sync', { action })),
    check: withOptionalRoot,
  },

  // Open branches first, then the newest.
  listBranches: { act: READS, answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND for a branch that the project does not have, or without files of its own.
  planBranchFiles: { act: READS, check: branchFilesOf },
  // Throws CONFLICT if a file was changed on both sides; then nothing was written.
  endBranchFiles: {
    act: ({ branch, discard }) => act(discard ? 'branch discard' : 'branch merge', { branch }),
    check: branchFilesOf,
  },

  // What a client reports of its own session, not an act of a person. Throws SCRUB_FAILED; then nothing is recorded.
  takeHook: { act: READS, check: hookOf, answerMs: HOOK_ANSWER_MS },

  // Throws SANDBOX_UNAVAILABLE if changes are not kept here.
  listUndo: { act: READS },
  // Throws NOT_FOUND if no such call has changed files, SANDBOX_UNAVAILABLE if changes are not kept here.
  planUndo: { act: READS, check: undoOf },
  // Throws CONFLICT if a file has changed since, unless the request is partial.
  undoChanges: { act: ({ which, partial }) => act('undo', { which, partial }), check: undoOf },

  // Throws ARGS_INVALID for a name or note that is too long, STORAGE_FULL; then nothing is saved.
  saveCheckpoint: { act: () => act('checkpoint save') },
  listCheckpoints: { act: READS },
  // Throws NOT_FOUND, VERSION_MISMATCH for a newer one, INTEGRITY_FAILED for a damaged one.
  readCheckpoint: { act: ({ id, files }) => (files === 'apply' ? act('checkpoint restore', { id }) : null) },
  exportCheckpoint: { act: ({ id }) => act('checkpoint export', { id }) },
  // Throws SCHEMA_INVALID for another file, and what readCheckpoint throws.
  importCheckpoint: { act: () => act('checkpoint import'), check: importOf },

  httpStatus: { act: READS, check: challengeOf, answerMs: SHORT_ANSWER_MS },
  // Throws CONFLICT if a token has the name, unless the request replaces it.
  makeHttpToken: {
    act: ({ name, root, permissions }) => act('http token', { name, permissions }, root),
    check: newTokenOf,
    answerMs: SHORT_ANSWER_MS,
  },
  listHttpTokens: { act: READS, answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND if no token has the name.
  revokeHttpToken: { act: ({ name }) => act('http revoke', { name }), check: namedTokenOf, answerMs: SHORT_ANSWER_MS },
  // Calls that wait for a person, oldest first.
  listApprovals: { act: READS, check: approvalOf, answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND for an unknown question or rule and one of another project, CONFLICT if it was answered, EXPIRED if no
  // call waits any more.
  answerApproval: {
    act: ({ id, answer, for_ms, by }) => act('approve', { id, answer, for_ms, by }),
    check: approvalAnswerOf,
    answerMs: SHORT_ANSWER_MS,
  },
  listApprovalAnswers: { act: READS, check: approvalOf, answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND if no answer has the id.
  removeApprovalAnswer: {
    act: ({ id }) => act('approve remove', { id }),
    check: approvalOf,
    answerMs: SHORT_ANSWER_MS,
  },
  // Throws ARGS_INVALID for a pattern that cannot be used.
  addApprovalRule: {
    act: ({ tool, by }) => act('approve rule add', { tool, by }),
    check: approvalRuleOf,
    answerMs: SHORT_ANSWER_MS,
  },
  listApprovalRules: { act: READS, check: approvalOf, answerMs: SHORT_ANSWER_MS },
  // Throws NOT_FOUND if no rule has the id. Calls that wait because of it are refused.
  removeApprovalRule: {
    act: ({ id }) => act('approve rule remove', { id }),
    check: approvalOf,
    answerMs: SHORT_ANSWER_MS,
  },

  // Throws ARGS_INVALID, PATH_INVALID or NOT_FOUND for what cannot be granted. A server that does not start is added all the same.
  addUpstream: {
    act: (request) => (request.dry_run ? null : act('upstream add', grantOf(request))),
    check: newUpstreamOf,
    answerMs: SERVER_ANSWER_MS,
  },
  // Each of these throws NOT_FOUND if the project has no such server.
  listUpstreams: { act: READS, check: upstreamOf, answerMs: SHORT_ANSWER_MS },
  removeUpstream: { act: ({ name }) => act('upstream remove', { name }), check: upstreamOf },
  // Throws why the server does not start.
  restartUpstream: {
    act: ({ name }) => act('upstream restart', { name }),
    check: upstreamOf,
    answerMs: SERVER_ANSWER_MS,
  },
  reviewUpstream: { act: READS, check: upstreamOf, answerMs: SHORT_ANSWER_MS },
  // Throws CONFLICT if the tools have changed since they were shown.
  approveUpstream: {
    act: ({ name, sha256 }) => act('upstream approve', { name, sha256 }),
    check: upstreamOf,
    answerMs: SHORT_ANSWER_MS,
  },
};

// This cast and the one below are safe: the type of the table has exactly the names of the rpcs.
export const RPC_NAMES = Object.keys(MANAGEMENT_RPCS) as readonly RpcName[];

/** One method per rpc of the table. */
export function rpcMethods(create: <Name extends RpcName>(name: Name) => RpcMethod<Name>): RpcMethods {
  return Object.fromEntries(RPC_NAMES.map((name) => [name, create(name)])) as RpcMethods;
}

/** What goes on record before the rpc is carried out. Null if the request only reads. */
export function actOf<Name extends RpcName>(name: Name, request: Requests[Name]): PersonAct | null {
  return MANAGEMENT_RPCS[name].act(request);
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
