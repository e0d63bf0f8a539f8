import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import type { ConnInfo, ConnInfo__Output } from '../../protocol/generated/grpc_broker.ts';
import { Announcements } from '../../protocol/plugin/announcements.ts';
import { BROKER_TIMEOUT_MS } from '../../protocol/plugin/environment.ts';
import {
  type DialTarget,
  dialPinned,
  listenPinned,
  type Pair,
  type PinnedListener,
} from '../../protocol/plugin/pinned-tls.ts';

type BrokerStream = ServerDuplexStream<ConnInfo__Output, ConnInfo>;

/** The plugin's end of GRPCBroker: numbered connections in both directions beside the first one. */
export class PluginBroker {
  readonly #pair: Pair;
  readonly #socketDir: string;
  readonly #announcements = new Announcements(BROKER_TIMEOUT_MS);
  readonly #listeners: PinnedListener[] = [];
  /** Announcements made before the host opened its stream. */
  readonly #unsent: ConnInfo[] = [];
  #stream: BrokerStream | undefined;
  #lastId = 0;

  constructor(pair: Pair, socketDir: string) {
    this.#pair = pair;
    this.#socketDir = socketDir;
  }

  /** Returns a number that was not used before. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Returns the target for a client of a number that the host serves. Rejects if it is not announced within 5 s. */
  async dial(id: number): Promise<DialTarget> {
    const { network, address } = await this.#announcements.take(id);
    if (network !== 'unix') throw new Error(`number ${id} of the broker is on the network ${network}, not unix`);
    return dialPinned(address, this.#pair);
  }

  /** Serves the unbound `server` to the host alone, which must connect within 5 s. */
  async serve(id: number, server: Server): Promise<void> {
    const address = newSocket(this.#socketDir);
    this.#listeners.push(await listenPinned(server, address, this.#pair));
    const info = { service_id: id, network: 'unix', address };
    if (this.#stream === undefined) this.#unsent.push(info);
    else this.#stream.write(info);
  }

  /** Called when the host opens its stream. Returns false if it already has one. */
  attach(stream: BrokerStream): boolean {
    if (this.#stream !== undefined) return false;
    this.#stream = stream;
    stream.on('data', (info: ConnInfo__Output) => this.#announcements.receive(info));
    stream.on('error', () => {});
    stream.on('end', () => stream.end());
    for (const info of this.#unsent.splice(0)) stream.write(info);
    return true;
  }

  close(): void {
    this.#announcements.close(new Error('the host is gone'));
    for (const listener of this.#listeners) listener.close();
    this.#stream?.end();
  }
}

/** A path in `dir`, named as the go-plugin library names sockets. */
export function newSocket(dir: string): string {
  return join(dir, `plugin${randomBytes(6).toString('hex')}`);
}
