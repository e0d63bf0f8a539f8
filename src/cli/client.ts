import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ChannelCredentials,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type requestCallback,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { Paths } from '../config/paths.ts';
import { ContextdError, isErrno, isErrorCode } from '../core/errors.ts';
import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import type {
  InstallEvent__Output,
  InstallProgress__Output as InstallProgress,
  InstallRequest__Output as InstallRequest,
  RestartRequest__Output as RestartRequest,
  RestartResponse__Output as RestartResponse,
  StopRequest__Output as StopRequest,
  StopResponse__Output as StopResponse,
  ToolPlan__Output as ToolPlan,
} from '../protocol/generated/management.ts';
import type { ExecuteRequest, ExecuteResponse__Output as ExecuteResponse } from '../protocol/generated/tool.ts';
import { loadProtocol } from '../protocol/load.ts';
import type { RpcMethod, RpcMethods, RpcName } from '../protocol/management-contract.ts';
import { answerMsOf, rpcMethods, wireName } from '../protocol/management-rpcs.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';
import { awaitStart, findsDaemon } from './await-start.ts';

/** The management contract and tool calls over the socket. Throws DAEMON_UNAVAILABLE if no daemon answers. */
export interface DaemonClient extends Omit<RpcMethods, 'stopServer' | 'restartServer'> {
  /** Returns when no call is under way any more. Throws TIMEOUT after `patienceMs`. */
  stopServer(request: StopRequest, patienceMs: number): Promise<StopResponse>;
  /** Returns when the new daemon listens. Throws TIMEOUT after `patienceMs`. */
  restartServer(request: RestartRequest, patienceMs: number): Promise<RestartResponse>;
  /** Cancelled by the signal. */
  execute(request: ExecuteRequest, signal: AbortSignal): Promise<ExecuteResponse>;
  /**
   * Resolves with what `decide` made of the plan. The daemon keeps nothing of it unless `decide` had it accepted, also if
   * the signal is aborted.
   */
  installTool<T>(request: InstallRequest, by: InstallObserver<T>): Promise<T>;
  close(): void;
}

/** What follows an installation. */
export interface InstallObserver<T> {
  onProgress(progress: InstallProgress): void;
  decide(plan: ToolPlan): Promise<T>;
  signal: AbortSignal;
}

/** The name in the server's certificate. It does not depend on the path of the socket. */
const SERVER_NAME = 'contextd';

type ClientPaths = Pick<Paths, 'certsDir' | 'socket' | 'startLock'>;

/** Connects with the CLI's own certificate: mutual TLS over the unix socket. Waits while a daemon is being replaced. */
export async function connect(paths: ClientPaths): Promise<DaemonClient> {
  await awaitStart(paths);
  const { ca, certificate, key } = await readCliIdentity(paths.certsDir);
  const { ManagementService, ToolService } = loadProtocol();
  const secured = secureChannel(paths.certsDir, ca, key, certificate);
  const target = `unix:${paths.socket}`;
  const management = new ManagementService(target, secured, CHANNEL_OPTIONS);
  const tools = new ToolService(target, secured, CHANNEL_OPTIONS);
  const service: ServiceDefinition = ManagementService.service;
  const ask =
    <Name extends RpcName>(name: Name, answerMs: number, through = management): RpcMethod<Name> =>
    (request) => {
      const rpc = service[wireName(name)];
      if (rpc === undefined) throw new Error(`the service has no rpc ${name}`);
      const { path, requestSerialize, responseDeserialize } = rpc;
      const options = { deadline: Date.now() + answerMs };
      return unary(paths.socket, (done) =>
        through.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, options, done),
      );
    };
  /** Asks the next daemon if `isUndone` says of the error of this one that nothing was done. */
  const askOneOfBoth =
    <Name extends RpcName>(
      name: Name,
      answerMs: number,
      isUndone: (error: unknown) => Promise<boolean>,
    ): RpcMethod<Name> =>
    async (request) => {
      try {
        return await ask(name, answerMs)(request);
      } catch (error) {
        if (!(await isUndone(error))) throw error;
        const next = new ManagementService(target, secured, { ...CHANNEL_OPTIONS, ...OWN_CONNECTION });
        return await ask(name, answerMs, next)(request).finally(() => next.close());
      }
    };
  const missed = async (error: unknown): Promise<boolean> => isUnsent(error) && (await findsDaemon(paths));
  const replaced = async (error: unknown): Promise<boolean> => isReplaced(error) || missed(error);
  return {
    ...rpcMethods((name) => askOneOfBoth(name, answerMsOf(name), replaced)),
    stopServer: (request, patienceMs) => askOneOfBoth('stopServer', patienceMs, missed)(request),
    restartServer: (request, patienceMs) => askOneOfBoth('restartServer', patienceMs, missed)(request),
    installTool: (request, by) => install(management.installTool(request), by, paths.socket),
    execute: (request, signal) => unary(paths.socket, (done) => tools.execute(request, {}, done), signal),
    close() {
      management.close();
      tools.close();
    },
  };
}

/** Throws DAEMON_UNAVAILABLE if the files are damaged: a daemon that starts makes new ones. */
function secureChannel(certsDir: string, ca: Buffer, key: Buffer, certificate: Buffer): ChannelCredentials {
  try {
    return credentials.createSsl(ca, key, certificate);
  } catch (cause) {
    throw new ContextdError('DAEMON_UNAVAILABLE', `the certificates in ${certsDir} are damaged`, {
      remedy: 'Run `ctxd server restart`, which makes new ones.',
      cause,
    });
  }
}

/** Connects, uses the client and closes it in every case. */
export async function withClient<T>(paths: ClientPaths, use: (client: DaemonClient) => Promise<T>): Promise<T> {
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
  /** An HTTP proxy from the environment must not be used for a unix socket. */
  'grpc.enable_http_proxy': 0,
} as const;

/** Clients of one address share a connection otherwise, which leads to the daemon of before. */
const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 } as const;

/** True if there was no connection to send anything on: the daemon may have been replaced between a look at its socket and the dial. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof ContextdError) || error.code !== 'DAEMON_UNAVAILABLE') return false;
  const { cause } = error;
  return cause instanceof Error && 'details' in cause && `${cause.details}`.startsWith(UNCONNECTED);
}

/** What grpc-js says of a request that never had a connection. */
const UNCONNECTED = 'No connection established';

/** True if the daemon itself says that it is not available. */
function isReplaced(error: unknown): boolean {
  if (!(error instanceof ContextdError) || error.code !== 'DAEMON_UNAVAILABLE') return false;
  const { cause } = error;
  return cause instanceof Error && 'metadata' in cause && codeOf(cause.metadata) !== '';
}

function codeOf(metadata: unknown): string {
  return metadata instanceof Metadata ? String(metadata.get(CODE_TRAILER)[0] ?? '') : '';
}

function install<T>(
  call: ClientReadableStream<InstallEvent__Output>,
  { onProgress, decide, signal }: InstallObserver<T>,
  socket: string,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const fail = (thrown: unknown): void => {
      reject(thrown);
      call.cancel();
    };
    const leave = (): void => call.cancel();
    signal.addEventListener('abort', leave, { once: true });
    call.on('data', ({ progress, plan }: InstallEvent__Output) => {
      if (progress) onProgress(progress);
      if (!plan) return;
      decide(plan).then((decided) => {
        resolve(decided);
        // The daemon has what it needs, or keeps nothing.
        call.cancel();
      }, fail);
    });
    call.on('error', (error: ServiceError) => reject(fromWire(error, socket)));
    call.on('close', () => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
  });
}

function unary<Answer>(
  socket: string,
  start: (done: requestCallback<Answer>) => ClientUnaryCall,
  signal?: AbortSignal,
): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const call = start((error, answer) => {
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

/** The daemon's own error if it sent one, otherwise the error of the transport. */
function fromWire(error: ServiceError, socket: string): ContextdError {
  const code = codeOf(error.metadata);
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
      if (WRONG_TIME.test(error.details)) return wrongTime(socket, cause);
      return new ContextdError('DAEMON_UNAVAILABLE', `no daemon answers at ${socket}`, {
        remedy: 'Start it with `ctxd server start`.',
        ...cause,
      });
    case status.DEADLINE_EXCEEDED:
      return new ContextdError('TIMEOUT', `the daemon at ${socket} did not answer in time`, {
        remedy: 'See `ctxd server logs`; `ctxd server restart` starts a new one.',
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

/** What OpenSSL says of a certificate whose time is not this machine's. */
const WRONG_TIME = /certificate is not yet valid|certificate has expired/;

function wrongTime(socket: string, cause: { cause: unknown }): ContextdError {
  const message = `the certificates of the daemon at ${socket} are not valid at the time that the clock of this machine shows`;
  return new ContextdError('DAEMON_UNAVAILABLE', message, {
    remedy: 'It makes new ones within a minute; `ctxd server restart` does at once. Check the clock.',
    ...cause,
  });
}

/** The certificates that the daemon created at its first start, as PEM. */
interface Identity {
  ca: Buffer;
  certificate: Buffer;
  key: Buffer;
}

/** File names in the directory of certificates. */
export const CERTIFICATE_FILES = { ca: 'ca.pem', server: 'server.pem', proxy: 'proxy.pem', cli: 'cli.pem' } as const;
const CLI_KEY = 'cli.key';

/** The CLI's own identity. Throws DAEMON_UNAVAILABLE if no daemon has created one yet. */
async function readCliIdentity(certsDir: string): Promise<Identity> {
  const names = [CERTIFICATE_FILES.ca, CERTIFICATE_FILES.cli, CLI_KEY];
  const [ca, certificate, key] = await Promise.all(names.map((name) => readPem(join(certsDir, name))));
  if (ca === undefined || certificate === undefined || key === undefined)
    throw new Error('three files give three texts');
  return { ca, certificate, key };
}

/** Reads a certificate or key. Throws DAEMON_UNAVAILABLE if it is missing, AUTH_FAILED if it cannot be read. */
export async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) {
      throw new ContextdError('DAEMON_UNAVAILABLE', `no daemon has run here yet: ${file} is missing`, {
        remedy: 'Start it with `ctxd server start`.',
        cause: error,
      });
    }
    throw new ContextdError('AUTH_FAILED', `cannot read ${file} (${isErrno(error) ? error.code : 'unknown error'})`, {
      remedy: 'Run ctxd as the user who runs the daemon.',
      cause: error,
    });
  }
}
