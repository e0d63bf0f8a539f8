import {
  type CallOptions,
  type ClientUnaryCall,
  credentials,
  type requestCallback,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { Paths } from '../config/paths.ts';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import type { ExecuteRequest } from '../protocol/generated/contextd/v1/ExecuteRequest.ts';
import type { ExecuteResponse__Output as ExecuteAnswer } from '../protocol/generated/contextd/v1/ExecuteResponse.ts';
import type { HealthCheck__Output as HealthCheck } from '../protocol/generated/contextd/v1/HealthCheck.ts';
import type { ProjectResponse__Output as ProjectAnswer } from '../protocol/generated/contextd/v1/ProjectResponse.ts';
import type { QuarantinedItem__Output as QuarantinedItem } from '../protocol/generated/contextd/v1/QuarantinedItem.ts';
import type { QuarantineResponse__Output as QuarantineAnswer } from '../protocol/generated/contextd/v1/QuarantineResponse.ts';
import type { RulesReview__Output as RulesReview } from '../protocol/generated/contextd/v1/RulesReview.ts';
import type { SessionSecretsResponse__Output as SessionSecrets } from '../protocol/generated/contextd/v1/SessionSecretsResponse.ts';
import type { StatsRow__Output as StatsRow } from '../protocol/generated/contextd/v1/StatsRow.ts';
import type { StatusResponse__Output as ServerStatus } from '../protocol/generated/contextd/v1/StatusResponse.ts';
import type { StopResponse__Output as StopAnswer } from '../protocol/generated/contextd/v1/StopResponse.ts';
import type { ToolInfo__Output as ToolInfo } from '../protocol/generated/contextd/v1/ToolInfo.ts';
import { loadProtocol } from '../protocol/load.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';
import { readCliIdentity } from './identity.ts';

export type {
  HealthCheck,
  QuarantineAnswer,
  QuarantinedItem,
  RulesReview,
  ServerStatus,
  SessionSecrets,
  StatsRow,
  ToolInfo,
};

/** The daemon as ctxd sees it. Every method throws DAEMON_UNAVAILABLE when no daemon answers. */
export interface DaemonClient {
  status(): Promise<ServerStatus>;
  /** Answers once no call is under way any more, at the latest after `patienceMs`. */
  stop(isRestart: boolean, patienceMs: number): Promise<StopAnswer>;
  registerProject(root: string): Promise<ProjectAnswer>;
  unregisterProject(root: string): Promise<ProjectAnswer>;
  /** "" lists the core tools. */
  listTools(root: string): Promise<ToolInfo[]>;
  /** JSON texts, oldest first; "" is every project. */
  tailAudit(limit: number, projectRoot: string): Promise<string[]>;
  /** "" is no project: isolation is then that of the machine. */
  checkHealth(projectRoot: string): Promise<HealthCheck[]>;
  /** "" is the session that a call without a name gets. */
  sessionSecrets(root: string, session: string): Promise<SessionSecrets>;
  /** "" is every project; 0 days: the default number. */
  stats(projectRoot: string, days: number): Promise<StatsRow[]>;
  reviewRules(root: string): Promise<RulesReview>;
  approveRules(root: string, sha256: string): Promise<RulesReview>;
  revokeRules(root: string): Promise<RulesReview>;
  /** "" is everything. */
  listQuarantine(root: string, which: string): Promise<QuarantineAnswer>;
  restoreQuarantined(root: string, which: string): Promise<QuarantineAnswer>;
  acceptQuarantined(root: string, which: string, sha256: string): Promise<QuarantineAnswer>;
  revokeAccepted(root: string, which: string): Promise<QuarantineAnswer>;
  /** Cancelled by the signal. */
  execute(request: ExecuteRequest, signal: AbortSignal): Promise<ExecuteAnswer>;
  close(): void;
}

/** The name in the server's certificate, whatever the socket's path. */
const SERVER_NAME = 'contextd';

/** Milliseconds a management answer may take; the health check runs a sandbox and gets longer. */
const ANSWER_MS = 5_000;
const HEALTH_MS = 60_000;
/** What was set aside is hashed for the answer. */
const QUARANTINE_MS = 60_000;

/** The only caller of the daemon in ctxd: mutual TLS with the CLI's certificate over the unix socket. */
export async function connect(paths: Pick<Paths, 'certsDir' | 'socket'>): Promise<DaemonClient> {
  const { ca, certificate, key } = await readCliIdentity(paths.certsDir);
  const { ManagementService, ToolService } = loadProtocol();
  const secured = credentials.createSsl(ca, key, certificate);
  const target = `unix:${paths.socket}`;
  const management = new ManagementService(target, secured, CHANNEL_OPTIONS);
  const tools = new ToolService(target, secured, CHANNEL_OPTIONS);
  const ask = <T>(start: Start<T>, ms = ANSWER_MS) => unary(paths.socket, start, { deadline: Date.now() + ms });
  return {
    status: () => ask((options, done) => management.serverStatus({}, options, done)),
    stop: (restart, patienceMs) =>
      ask((options, done) => management.stopServer({ grace_ms: 0, restart }, options, done), patienceMs),
    registerProject: (root) => ask((options, done) => management.registerProject({ root }, options, done)),
    unregisterProject: (root) => ask((options, done) => management.unregisterProject({ root }, options, done)),
    listTools: async (root) => {
      const answer = await ask<{ tools: ToolInfo[] }>((options, done) => management.listTools({ root }, options, done));
      return answer.tools;
    },
    tailAudit: async (limit, projectRoot) => {
      const request = { limit, project_root: projectRoot };
      const answer = await ask<{ records_json: string[] }>((options, done) =>
        management.tailAudit(request, options, done),
      );
      return answer.records_json;
    },
    checkHealth: async (projectRoot) => {
      const start: Start<{ checks: HealthCheck[] }> = (options, done) =>
        management.checkHealth({ project_root: projectRoot }, options, done);
      return (await ask(start, HEALTH_MS)).checks;
    },
    sessionSecrets: (root, session) =>
      ask((options, done) => management.sessionSecrets({ root, session }, options, done)),
    stats: async (projectRoot, days) => {
      const request = { project_root: projectRoot, days };
      const start: Start<{ rows: StatsRow[] }> = (options, done) => management.stats(request, options, done);
      return (await ask(start, HEALTH_MS)).rows;
    },
    reviewRules: (root) => ask((options, done) => management.reviewRules({ root }, options, done)),
    approveRules: (root, sha256) => ask((options, done) => management.approveRules({ root, sha256 }, options, done)),
    revokeRules: (root) => ask((options, done) => management.revokeRules({ root }, options, done)),
    listQuarantine: (root, which) =>
      ask((options, done) => management.listQuarantine({ root, which }, options, done), QUARANTINE_MS),
    restoreQuarantined: (root, which) =>
      ask((options, done) => management.restoreQuarantined({ root, which }, options, done), QUARANTINE_MS),
    acceptQuarantined: (root, which, sha256) =>
      ask((options, done) => management.acceptQuarantined({ root, which, sha256 }, options, done), QUARANTINE_MS),
    revokeAccepted: (root, which) =>
      ask((options, done) => management.revokeAccepted({ root, which }, options, done), QUARANTINE_MS),
    execute: (request, signal) =>
      unary<ExecuteAnswer>(paths.socket, (options, done) => tools.execute(request, options, done), {}, signal),
    close() {
      management.close();
      tools.close();
    },
  };
}

/** Connects, uses the client and closes it whatever happens. */
export async function withClient<T>(
  paths: Pick<Paths, 'certsDir' | 'socket'>,
  use: (client: DaemonClient) => Promise<T>,
): Promise<T> {
  const client = await connect(paths);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

const CHANNEL_OPTIONS = {
  'grpc.ssl_target_name_override': SERVER_NAME,
  'grpc.default_authority': SERVER_NAME,
  'grpc.max_receive_message_length': MESSAGE_MAX_BYTES,
  'grpc.max_send_message_length': MESSAGE_MAX_BYTES,
  /** A socket is a file: a proxy named in the environment has no part in it. */
  'grpc.enable_http_proxy': 0,
} as const;

type Start<T> = (options: CallOptions, done: requestCallback<T>) => ClientUnaryCall;

function unary<T>(socket: string, start: Start<T>, options: CallOptions, signal?: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const call = start(options, (error, answer) => {
      signal?.removeEventListener('abort', cancel);
      if (error !== null) reject(fromWire(error, socket));
      else if (answer === undefined) reject(new ContextdError('INTERNAL_ERROR', 'the daemon sent an empty answer'));
      else resolve(answer);
    });
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
  });
}

/** The daemon's own error when it sent one, else what the transport says. */
function fromWire(error: ServiceError, socket: string): ContextdError {
  const code = String(error.metadata?.get(CODE_TRAILER)[0] ?? '');
  if (isErrorCode(code)) {
    const remedy = error.metadata.get(REMEDY_TRAILER)[0]?.toString();
    return new ContextdError(code, error.details, { cause: error, ...(remedy === undefined ? {} : { remedy }) });
  }
  return transportError(error, socket);
}

function transportError(error: ServiceError, socket: string): ContextdError {
  const cause = { cause: error };
  switch (error.code) {
    case status.UNAVAILABLE:
      return new ContextdError('DAEMON_UNAVAILABLE', `no daemon answers at ${socket}`, {
        remedy: 'Start it with `ctxd server start`.',
        ...cause,
      });
    case status.DEADLINE_EXCEEDED:
      return new ContextdError('TIMEOUT', `the daemon at ${socket} did not answer in time`, {
        remedy: 'See `ctxd server logs`; `ctxd server restart` starts it afresh.',
        ...cause,
      });
    case status.CANCELLED:
      return new ContextdError('CANCELLED', 'the call was cancelled', cause);
    case status.RESOURCE_EXHAUSTED:
      return new ContextdError('PAYLOAD_TOO_LARGE', error.details, { remedy: 'Send less in one call.', ...cause });
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return new ContextdError('AUTH_FAILED', `the daemon at ${socket} refused this certificate: ${error.details}`, {
        remedy: 'Run `ctxd server restart`, as the user who runs the daemon.',
        ...cause,
      });
    default:
      return new ContextdError('INTERNAL_ERROR', `the daemon failed: ${error.details}`, {
        remedy: 'See `ctxd server logs` for the cause.',
        ...cause,
      });
  }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}
