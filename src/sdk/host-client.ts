import type { Client, MethodDefinition, ServiceError } from '@grpc/grpc-js';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import {
  ASK_MAX_BYTES,
  type ExecResult,
  type ExecSpec,
  packExecRequest,
  parseExecResult,
} from '../protocol/host-messages.ts';
import type { PluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import type { DialTarget } from '../protocol/plugin/pinned-tls.ts';
import { readRpcFault } from '../protocol/rpc-faults.ts';
import { readJsonObject } from '../protocol/wire-bounds.ts';
import type { HostMethod, LogLevel } from './tool.ts';

/** The part of the broker that the client needs. */
export interface HostBroker {
  dial(id: number): Promise<DialTarget>;
}

type HostService = PluginProtocol['ToolHost']['service'];

/**
 * The client of ToolHost in a tool's process: one connection for all calls. Its address is requested at once, because the
 * broker forgets an announcement after five seconds. The connection is made with the first request.
 */
export class HostClient {
  readonly #protocol: Pick<PluginProtocol, 'ToolHost'>;
  readonly #broker: HostBroker;
  readonly #serviceId: number;
  #client: Promise<Client>;

  constructor(serviceId: number, broker: HostBroker, protocol: Pick<PluginProtocol, 'ToolHost'>) {
    this.#serviceId = serviceId;
    this.#broker = broker;
    this.#protocol = protocol;
    this.#client = this.#connect();
    // The first request reports the error.
    this.#client.catch(() => {});
  }

  async exec(callId: string, spec: ExecSpec): Promise<ExecResult> {
    return parseExecResult(await this.#send(this.#service.Exec, packExecRequest(callId, spec)));
  }

  async scrub(callId: string, texts: readonly string[]): Promise<string[]> {
    return (await this.#send(this.#service.Scrub, { call_id: callId, texts: [...texts] })).texts;
  }

  async log(callId: string, level: LogLevel, message: string): Promise<void> {
    await this.#send(this.#service.Log, { call_id: callId, level, message });
  }

  async ask(callId: string, method: HostMethod, request: JsonObject): Promise<JsonObject> {
    const json = Buffer.from(JSON.stringify(request));
    if (json.length > ASK_MAX_BYTES) {
      throw new ContextdError('PAYLOAD_TOO_LARGE', `${method} got ${json.length} bytes of at most ${ASK_MAX_BYTES}`, {
        remedy: 'Send less in one call.',
      });
    }
    return readJsonObject(method, (await this.#send(this.#service[method], { call_id: callId, json })).json);
  }

  get #service(): HostService {
    return this.#protocol.ToolHost.service;
  }

  async #send<Q, A>(method: UnaryMethod<Q, A>, request: Q): Promise<A> {
    const client = await this.#client;
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, answer) => {
        if (error !== null) reject(fault(error));
        else if (answer === undefined) reject(new ContextdError('INTERNAL_ERROR', 'the host sent an empty answer'));
        else resolve(answer);
      });
    });
  }

  async #connect(): Promise<Client> {
    const { address, credentials, options } = await this.#broker.dial(this.#serviceId);
    return new this.#protocol.ToolHost(address, credentials, options);
  }
}

type UnaryMethod<Q, A> = Pick<MethodDefinition<Q, A>, 'path' | 'requestSerialize' | 'responseDeserialize'>;

/** Drops the transport's own error, which would keep the whole request in memory. */
function fault(error: ServiceError): ContextdError {
  const { code, message, remedy, details } = readRpcFault(error);
  return new ContextdError(code, message, { ...(remedy === undefined ? {} : { remedy }), details });
}
