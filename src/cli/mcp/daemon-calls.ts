import { newRequestId } from '../../core/ids.ts';
import type { Surface } from '../../core/surfaces.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { callDaemon } from '../../proxy/call-daemon.ts';
import type { Send, WhenLost } from '../../proxy/call-one.ts';
import type { Channel } from '../../proxy/channel.ts';
import { attemptConnection } from '../../proxy/connect.ts';
import type { Places } from '../../proxy/environment.ts';
import { ask, type Rpc } from '../../proxy/exchange.ts';
import type { encodeContext } from '../../proxy/messages.ts';
import type { DaemonSource } from '../../proxy/start.ts';
import { type ClientOutput, pacedChannel } from './paced-channel.ts';

/** For whom the bridge calls, and how it reaches or starts the daemon. */
export interface BridgeCaller extends Pick<DaemonSource, 'launcher' | 'launchWords' | 'environment'> {
  places: Places;
  project: string;
  /** "" lets the daemon choose the session. */
  session: string;
  branch: string;
  /** Where the client stands: an absolute path without links. */
  cwd: string;
  /** "" for the one that the settings of the daemon name. */
  surface: Surface | '';
  /** Where the client reads. While it does not, the daemon is not read either. */
  output: ClientOutput;
}

export type CallContext = Parameters<typeof encodeContext>[0];

/**
 * Rpcs of a bridge. Each has a connection of its own, as calls of the proxy do: no restart of the daemon breaks more than the
 * calls it interrupts, and the next one starts a daemon if none runs.
 */
export class DaemonCalls {
  readonly caller: BridgeCaller;
  /** Aborts when the bridge ends. */
  readonly ended: AbortSignal;

  constructor(caller: BridgeCaller, ended: AbortSignal) {
    this.caller = caller;
    this.ended = ended;
  }

  /** Starts a daemon if none runs. Throws ContextdError. */
  start<T>(
    rpcFor: (context: CallContext) => Rpc<T>,
    signal: AbortSignal,
    onMessage?: (message: Buffer) => void,
  ): Promise<T> {
    return this.send((channel, requestId, _isAskedAgain, ended) => {
      const rpc = rpcFor(this.context(requestId));
      return ask(channel, rpc, this.caller.places, ended, onMessage);
    }, signal);
  }

  /** As `start`, for what `send` sends over the connection. `whenLost`: see `callDaemon`. */
  send<T>(
    send: (...given: [...Parameters<Send<T>>, ended: AbortSignal]) => ReturnType<Send<T>>,
    signal: AbortSignal,
    whenLost: WhenLost = 'fails',
  ): Promise<T> {
    const { places, launcher, launchWords, environment } = this.caller;
    const nonce = newRequestId(Date.now());
    const source = { places, launcher, launchWords, environment, nonce, signal: AbortSignal.any([signal, this.ended]) };
    return callDaemon(
      source,
      (channel, requestId, isAskedAgain) =>
        send(this.#paced(channel), requestId, isAskedAgain, source.signal).finally(() => channel.end()),
      whenLost,
    );
  }

  /** Undefined if no daemon runs. Throws ContextdError. */
  async reach<T>(rpcFor: (context: CallContext) => Rpc<T>): Promise<T | undefined> {
    const { places } = this.caller;
    const attempt = await attemptConnection(places, this.ended);
    if (attempt.kind !== 'connected') return undefined;
    const rpc = rpcFor(this.context(newRequestId(Date.now())));
    return ask(this.#paced(attempt.channel), rpc, places, this.ended).finally(() => attempt.channel.end());
  }

  #paced(channel: Channel): Channel {
    return pacedChannel(channel, this.caller.output);
  }

  context(requestId: string): CallContext {
    const { project: projectRoot, session: sessionId, branch } = this.caller;
    return { requestId, projectRoot, sessionId, branch, protocolVersion: PROTOCOL_VERSION, door: 'mcp' };
  }
}
