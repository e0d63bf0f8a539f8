import { isAbsolute } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import { isInstallVariable, isToolchainVariable } from '../core/variable-names.ts';
import type {
  AcceptQuarantinedRequest__Output as AcceptQuarantinedRequest,
  AllowValueRequest__Output as AllowValueRequest,
  AuditRequest__Output as AuditRequest,
  BranchFilesRequest__Output as BranchFilesRequest,
  CopyStateRequest__Output as CopyStateRequest,
  DisallowValueRequest__Output as DisallowValueRequest,
  HookReport__Output as HookReport,
  ImportedCheckpoint__Output as ImportedCheckpoint,
  InstallRequest__Output as InstallRequest,
  KillRequest__Output as KillRequest,
  LearnRequest__Output as LearnRequest,
  MemoryListRequest__Output as MemoryListRequest,
  MemoryQuery__Output as MemoryQuery,
  MemoryRequest__Output as MemoryRequest,
  NewMemories__Output as NewMemories,
  OpenPortRequest__Output as OpenPortRequest,
  PathRequest__Output as PathRequest,
  QuarantineRequest__Output as QuarantineRequest,
  SecretRequest__Output as SecretRequest,
  SessionEventsRequest__Output as SessionEventsRequest,
  StatsRequest__Output as StatsRequest,
  ToolchainList__Output as ToolchainList,
} from './generated/management.ts';

// What is checked of management requests before the daemon acts on them: their shape and size. The daemon reads what they name.

const AUDIT_MAX_RECORDS = 1000;
const STATS_DEFAULT_DAYS = 7;
const STATS_MAX_DAYS = 366;
export const PATH_MAX_CHARS = 4096;
const PORT_MAX = 65_535;

/** The default: a request that names a project names its root. */
export function withRoot<Request extends object>(request: Request): Request {
  return { ...request, ...rootIn(request) };
}

function rootIn(request: object): { root?: string } {
  return 'root' in request ? { root: rootOf(String(request.root)) } : {};
}

/** Empty stays empty, which means the machine or all projects. */
export function withOptionalRoot<Request extends { root: string }>(request: Request): Request {
  return { ...request, root: optionalRoot(request.root) };
}

/** Empty stays empty, which means all projects. */
export function withProject<Request extends { project_root: string }>(request: Request): Request {
  return { ...request, project_root: optionalRoot(request.project_root) };
}

function optionalRoot(root: string): string {
  return root === '' ? '' : rootOf(root);
}

/** 0 stays 0, which means the default number of records. */
export function auditOf(request: AuditRequest): AuditRequest {
  if (request.limit <= AUDIT_MAX_RECORDS) return request;
  throw new ContextdError('ARGS_INVALID', `limit is ${request.limit}, the most is ${AUDIT_MAX_RECORDS}`, {
    remedy: 'Ask for fewer records.',
    details: { limit: AUDIT_MAX_RECORDS },
  });
}

/** 0 means the default number of days. */
export function statsOf(request: StatsRequest): StatsRequest {
  const { days } = request;
  if (days <= STATS_MAX_DAYS) return { ...request, days: days || STATS_DEFAULT_DAYS };
  throw new ContextdError('ARGS_INVALID', `days is ${days}, the most is ${STATS_MAX_DAYS}`, {
    remedy: 'Ask for fewer days.',
    details: { limit: STATS_MAX_DAYS },
  });
}

export function secretOf(request: SecretRequest): SecretRequest {
  if (/^\[SECRET_[1-9]\d{0,8}\]$/.test(request.token)) return withRoot(request);
  throw new ContextdError('ARGS_INVALID', `not a token: ${JSON.stringify(request.token.slice(0, 40))}`, {
    remedy: 'Name one as an answer shows it, such as [SECRET_3], or by its number.',
  });
}

const ALLOWED_VALUE_MAX_CHARS = 65_536;

/** One of the two: a token of a session, or a value. */
export function allowanceOf(request: AllowValueRequest): AllowValueRequest {
  const { secret, value, by } = request;
  if (secret === null) throw new ContextdError('ARGS_INVALID', 'the request has no project', { remedy: 'Send one.' });
  if (value.length > ALLOWED_VALUE_MAX_CHARS) throw tooMuch('characters in a value', ALLOWED_VALUE_MAX_CHARS);
  if (by.length > 300) throw tooMuch('characters in a name', 300);
  return { ...request, secret: value === '' ? secretOf(secret) : withRoot(secret) };
}

export function disallowanceOf(request: DisallowValueRequest): DisallowValueRequest {
  return { ...withRoot(request), id: allowedIdOf(request.id) };
}

function allowedIdOf(id: string): string {
  if (/^[0-9a-f]{4,64}$/.test(id)) return id;
  throw new ContextdError('ARGS_INVALID', `not the id of an allowed value: ${JSON.stringify(id.slice(0, 80))}`, {
    remedy: 'Name an id from `ctxd scrub allow list`, or at least four characters of its beginning.',
  });
}

const UNDO_NAME = /^(?:undo_[0-9a-z]{8}|req_[0-9A-Z]{26})?$/;

export function branchFilesOf(request: BranchFilesRequest): BranchFilesRequest {
  const { keep_base, take_branch, merge_text } = request;
  for (const path of [...keep_base, ...take_branch, ...merge_text]) {
    if (path !== '' && !path.startsWith('/') && !path.split('/').includes('..')) continue;
    throw new ContextdError('ARGS_INVALID', `${JSON.stringify(path.slice(0, 200))} is no path in the project`, {
      remedy: 'Name paths relative to the project, as `ctxd branch diff ID` shows them.',
    });
  }
  return withRoot(request);
}

export function undoOf<Request extends { root: string; which: string }>(request: Request): Request {
  if (UNDO_NAME.test(request.which)) return withRoot(request);
  throw new ContextdError('ARGS_INVALID', `${JSON.stringify(request.which.slice(0, 100))} names no call`, {
    remedy: 'Pass a ref (undo_…) or a request id (req_…) of an answer.',
  });
}

/** An empty name asks for everything that is set aside. */
export function listedOf(request: QuarantineRequest): QuarantineRequest {
  return request.which === '' ? withRoot(request) : withWhich(request);
}

export function acceptedOf(request: AcceptQuarantinedRequest): AcceptQuarantinedRequest {
  return { ...withWhich(request), sha256: sha256Of(request.sha256) };
}

export function withWhich<Request extends { root: string; which: string }>(request: Request): Request {
  return { ...withRoot(request), which: whichOf(request.which) };
}

export function installOf(request: InstallRequest): InstallRequest {
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

export function withPath(request: PathRequest): PathRequest {
  return { ...withRoot(request), path: rootOf(request.path) };
}

/** The file of a backup, which goes on record. */
export function copyOf(request: CopyStateRequest): CopyStateRequest {
  return { ...request, file: rootOf(request.file) };
}

/** At most this many toolchains, directories of one toolchain, and directories on PATH. */
const TOOLCHAINS_MAX = 200;

export function toolchainsOf(request: ToolchainList): ToolchainList {
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

/** The name of a file that was set aside, or of an acceptance. */
function whichOf(which: string): string {
  if (which !== '' && which.length <= PATH_MAX_CHARS && !which.includes('\0')) return which;
  throw new ContextdError('ARGS_INVALID', `not an id, a hash or a path: ${JSON.stringify(which.slice(0, 200))}`, {
    remedy: 'Name an id or a hash from `ctxd quarantine list`.',
  });
}

export function withPort(request: OpenPortRequest): OpenPortRequest {
  return { ...withRoot(request), port: portOf(request.port) };
}

function portOf(port: number): number {
  if (port >= 1 && port <= PORT_MAX) return port;
  throw new ContextdError('ARGS_INVALID', `not a port: ${port}`, { remedy: `Pass a number from 1 to ${PORT_MAX}.` });
}

const MEMORIES_FOUND_MAX = 100;
const MEMORIES_LISTED_MAX = 500;
const SESSION_EVENTS_MAX = 10_000;

export function memoryQueryOf(request: MemoryQuery): MemoryQuery {
  return withLimit(withRoot(request), 10, MEMORIES_FOUND_MAX);
}

export function memoryListOf(request: MemoryListRequest): MemoryListRequest {
  return withLimit(withRoot(request), 100, MEMORIES_LISTED_MAX);
}

export function sessionEventsOf(request: SessionEventsRequest): SessionEventsRequest {
  return withLimit(withRoot(request), 50, SESSION_EVENTS_MAX);
}

export function newMemoriesOf(request: NewMemories): NewMemories {
  if (request.drafts_json.length > MEMORIES_LISTED_MAX) throw tooMuch('memories', MEMORIES_LISTED_MAX);
  return withRoot(request);
}

export function learnOf(request: LearnRequest): LearnRequest {
  if (request.request_ids.length > MEMORIES_LISTED_MAX) throw tooMuch('calls', MEMORIES_LISTED_MAX);
  return withRoot(request);
}

export function withMemoryIds(request: MemoryRequest): MemoryRequest {
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

export function importOf(request: ImportedCheckpoint): ImportedCheckpoint {
  if (request.file.length > CHECKPOINT_FILE_MAX_CHARS) throw tooMuch('characters in a file', CHECKPOINT_FILE_MAX_CHARS);
  return withRoot(request);
}

/** More than a client hands in at once. */
const HANDED_IN_MAX = 100;
const HANDED_IN_MAX_CHARS = 256 * 1024;

export function hookOf(request: HookReport): HookReport {
  const { items, hook, cause } = request;
  if (items.length > HANDED_IN_MAX) throw tooMuch('items', HANDED_IN_MAX);
  if (items.some(({ text }) => text.length > HANDED_IN_MAX_CHARS))
    throw tooMuch('characters in a text', HANDED_IN_MAX_CHARS);
  if ([hook, cause, ...items.map(({ role }) => role)].some(({ length }) => length > 40))
    throw tooMuch('characters in a name', 40);
  return withRoot(request);
}

export function tooMuch(what: string, limit: number): ContextdError {
  return new ContextdError('ARGS_INVALID', `more than ${limit} ${what}`, {
    remedy: 'Ask for less at once.',
    details: { limit },
  });
}

export function killOf({ id }: KillRequest): KillRequest {
  return { id: runningIdOf(id) };
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
