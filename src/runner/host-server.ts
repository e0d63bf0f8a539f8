import {
  type handleUnaryCall,
  Server,
  type ServerUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { ContextdError } from '../core/errors.ts';
import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import type { Logger } from '../core/log.ts';
import type {
  ExecRequest__Output as ExecRequest,
  ExecResponse,
  HostRequest__Output as HostRequest,
  HostResponse,
} from '../protocol/generated/host.ts';
import type { ToolHostHandlers } from '../protocol/generated/host-service.ts';
import {
  ASK_MAX_BYTES,
  EXEC_SHAPE,
  HOST_REQUEST_MAX_FIELDS,
  HOST_SHAPE,
  LOG_SHAPE,
  packExecResult,
  SCRUB_SHAPE,
} from '../protocol/host-messages.ts';
import { PLUGIN_MESSAGE_MAX_BYTES } from '../protocol/plugin/environment.ts';
import type { PluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import { packHostFault } from '../protocol/rpc-faults.ts';
import { boundedDecoder, type MessageShape, readBoundedObject } from '../protocol/wire-bounds.ts';
import type { HostApi } from './host-api.ts';

/** Requests at once: the core tools' process serves all sessions of a project, any other process one session. */
const REQUESTS_AT_ONCE = { core: 256, installed: 16 } as const;

export interface HostServerDeps {
  protocol: Pick<PluginProtocol, 'ToolHost'>;
  origin: 'core' | 'installed';
  /** The call of this process that has the id and is still under way. */
  find(callId: string): HostApi | undefined;
  /** Characters of answers that the process may leave unread. */
  backlogMaxChars: number;
  /** Called if the process asks for more than it reads. */
  onOverrun(): void;
  logger: Logger;
}

/**
 * ToolHost for one tool process. Every request names its call: the id of a call of another process, or of a call that
 * has ended, is refused.
 */
export function createHostServer(deps: HostServerDeps): Server {
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_MAX_BYTES,
    'grpc.max_send_message_length': PLUGIN_MESSAGE_MAX_BYTES,
    'grpc.max_concurrent_streams': REQUESTS_AT_ONCE[deps.origin],
    'grpc.enable_channelz': 0,
  });
  server.addService(boundedService(deps.protocol.ToolHost.service), handlersOf(deps));
  return server;
}

const SHAPES: Readonly<Partial<Record<string, MessageShape>>> = {
  Exec: EXEC_SHAPE,
  Scrub: SCRUB_SHAPE,
  Log: LOG_SHAPE,
};

function boundedService(service: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(service).map(([name, method]) => {
    const shape = SHAPES[name] ?? HOST_SHAPE;
    const decode = boundedDecoder(method.requestDeserialize, shape, HOST_REQUEST_MAX_FIELDS);
    return [name, { ...method, requestDeserialize: decode }];
  });
  return Object.fromEntries(methods);
}

/** Every method of the service has a handler, so that HostApi refuses and records those that no row opens. */
function handlersOf(deps: HostServerDeps): UntypedServiceImplementation {
  const methods = Object.keys(deps.protocol.ToolHost.service);
  const backlog = new Backlog(deps);
  const own: Pick<ToolHostHandlers, 'Exec' | 'Scrub' | 'Log'> = {
    Exec: serve(deps, (host, call) => exec(host, call, backlog)),
    Scrub: serve(deps, async (host, { request }) => ({ texts: [...(await host.scrub(request.texts))] })),
    Log: serve(deps, async (host, { request }) => {
      await host.log(request.level, request.message);
      return {};
    }),
  };
  return { ...Object.fromEntries(methods.map((method) => [method, askHandler(deps, method)])), ...own };
}

function askHandler(deps: HostServerDeps, method: string): handleUnaryCall<HostRequest, HostResponse> {
  return serve<HostRequest, HostResponse>(deps, async (host, { request }) => {
    const asked = request.json.length === 0 ? {} : readBoundedObject('request.json', request.json, ASK_MAX_BYTES);
    return { json: Buffer.from(JSON.stringify(await host.ask(method, asked))) };
  });
}

type Work<Request, Response> = (host: HostApi, call: ServerUnaryCall<Request, Response>) => Promise<Response>;

function serve<Request extends { call_id: string }, Response>(
  deps: HostServerDeps,
  work: Work<Request, Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const host = deps.find(call.request.call_id);
    if (host === undefined) {
      callback(packHostFault(unknownCall()));
      return;
    }
    work(host, call).then(
      (response) => callback(null, response),
      (thrown: unknown) => callback(packHostFault(reported(thrown, call.getPath(), deps.logger))),
    );
  };
}

/** Kills the command if the tool cancels its request. */
async function exec(
  host: HostApi,
  call: ServerUnaryCall<ExecRequest, ExecResponse>,
  backlog: Backlog,
): Promise<ExecResponse> {
  const takenBack = new AbortController();
  if (call.cancelled) takenBack.abort();
  call.once('cancelled', () => takenBack.abort());
  const result = await host.exec(call.request, takenBack.signal);
  backlog.add(call, result.stdout.length + result.stderr.length);
  return packExecResult(result);
}

/** The size of the answers that the process has not read yet. */
class Backlog {
  readonly #deps: Pick<HostServerDeps, 'backlogMaxChars' | 'onOverrun'>;
  #chars = 0;

  constructor(deps: Pick<HostServerDeps, 'backlogMaxChars' | 'onOverrun'>) {
    this.#deps = deps;
  }

  /** gRPC emits `cancelled` for every call, after its answer is out or can no longer be sent. */
  add(call: ServerUnaryCall<ExecRequest, ExecResponse>, chars: number): void {
    if (call.cancelled) return;
    this.#chars += chars;
    call.once('cancelled', () => {
      this.#chars -= chars;
    });
    if (this.#chars > this.#deps.backlogMaxChars) this.#deps.onOverrun();
  }
}

function unknownCall(): ContextdError {
  return new ContextdError('PERMISSION_DENIED', 'no call of this process that is under way has this call_id', {
    remedy: 'Pass on the call_id of the CallRequest, and only until its last event.',
  });
}

/** The log keeps the cause of an unexpected error; the tool gets a sentence. */
function reported(thrown: unknown, path: string, logger: Logger): ContextdError {
  const fault = ContextdError.from(thrown);
  if (fault.code === 'INTERNAL_ERROR') logger.error('tool.host_failed', { rpc: path }, fault.cause ?? fault);
  return fault;
}
