import { randomBytes } from 'node:crypto';
import { chmod, lstat, rename, unlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { ClientDuplexStream, Server } from '@grpc/grpc-js';
import { ContextdError } from '../../core/errors.ts';
import type { ConnInfo, ConnInfo__Output } from '../../protocol/generated/grpc_broker.ts';
import { Announcements } from '../../protocol/plugin/announcements.ts';
import { quote } from '../../protocol/plugin/handshake-line.ts';
import { type DialTarget, dialPinned, listenPinned, type Pair } from '../../protocol/plugin/pinned-tls.ts';
import { checkSocketPath, socketNameIn } from '../../protocol/plugin/socket-path.ts';
import type { PluginOptions } from './plugin-process.ts';

/**
 * The tool may run as another user; the directory is closed to all other users, and the server requires the
 * certificate.
 */
const SOCKET_MODE = 0o666;

export interface HostBrokerDeps {
  stream: ClientDuplexStream<ConnInfo, ConnInfo__Output>;
  pair: Pair;
  socketDir: string;
  options: PluginOptions;
}

/** The daemon's end of GRPCBroker: further connections in either direction, each with a number. */
export class HostBroker {
  readonly #deps: HostBrokerDeps;
  readonly #announcements: Announcements;
  /** For each number that is served, what ends it. */
  readonly #served = new Map<number, () => Promise<void>>();
  readonly #adopted: string[] = [];
  #lastId = 0;
  #closed: Error | undefined;

  constructor(deps: HostBrokerDeps) {
    this.#deps = deps;
    this.#announcements = new Announcements(deps.options.brokerTimeoutMs);
    deps.stream.on('data', (info: ConnInfo__Output) => this.#announcements.receive(info));
    deps.stream.on('error', (error) => this.#end(error));
    deps.stream.on('end', () => this.#end(new Error('the stream is at its end')));
  }

  /** A number that was not given out before. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /**
   * Serves `server` to the plugin alone, as number `id`, until the connection closes. The plugin must dial within 5 s.
   */
  async serve(id: number, server: Server): Promise<void> {
    this.#checkOpen();
    if (this.#served.has(id)) throw new Error(`number ${id} of the broker is already served`);
    const { pair, socketDir, options, stream } = this.#deps;
    const name = `h${id}`;
    const path = join(socketDir, name);
    // Made where the tool cannot reach it and then moved: in its own directory the tool could put a link in its place
    // before chmod.
    const made = newSocketPath(options.privateDir);
    const listener = await listenPinned(server, made, pair);
    const end = async (): Promise<void> => {
      listener.close();
      server.forceShutdown();
      await unlink(path).catch(() => {});
    };
    this.#served.set(id, end);
    try {
      await chmod(made, SOCKET_MODE);
      await rename(made, path);
      this.#checkOpen();
    } catch (thrown) {
      this.#served.delete(id);
      await Promise.all([unlink(made).catch(() => {}), end()]);
      throw thrown;
    }
    stream.write({ service_id: id, network: 'unix', address: posix.join(options.insideSocketDir, name) });
  }

  /**
   * Where the plugin serves `id`. Throws TOOL_CRASHED if the plugin does not announce it in time, or names a path
   * outside its directory.
   */
  async dial(id: number): Promise<DialTarget> {
    this.#checkOpen();
    const { pair, socketDir, options } = this.#deps;
    const { network, address } = await this.#announcements.take(id).catch((cause: Error) => {
      throw new ContextdError('TOOL_CRASHED', `the tool cannot be reached: ${cause.message}`, { cause });
    });
    const name = network === 'unix' ? socketNameIn(options.insideSocketDir, address) : undefined;
    if (name === undefined) {
      const what = `${quote(network)} ${quote(address)}`;
      throw new ContextdError('TOOL_CRASHED', `the tool announced ${what}, which is not a socket in its directory`);
    }
    const path = await adoptSocket(name, { socketDir, privateDir: options.privateDir });
    this.#adopted.push(path);
    return dialPinned(path, pair);
  }

  /** Ends what is served and removes the sockets. Idempotent. */
  async close(): Promise<void> {
    this.#end(new Error('the connection to the tool was closed'));
    this.#deps.stream.cancel();
    const ends = [...this.#served.values()];
    this.#served.clear();
    await Promise.all([...ends.map((end) => end()), ...this.#adopted.map((path) => unlink(path).catch(() => {}))]);
  }

  #end(reason: Error): void {
    this.#closed ??= reason;
    this.#announcements.close(reason);
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return;
    const why = quote(this.#closed.message);
    throw new ContextdError('TOOL_CRASHED', `the tool does not take part in go-plugin's broker: ${why}`, {
      cause: this.#closed,
    });
  }
}

/**
 * Moves the socket `name` out of the tool's reach and returns its new path. It is checked again in `privateDir`, so
 * that the checked file is the one that is dialled, and never a link to a socket of the host. Throws TOOL_CRASHED if it
 * is not a socket.
 */
export async function adoptSocket(name: string, dirs: { socketDir: string; privateDir: string }): Promise<string> {
  const offered = join(dirs.socketDir, name);
  const adopted = newSocketPath(dirs.privateDir);
  try {
    // Checked before the move too: a directory is better left where it is.
    if (!(await lstat(offered)).isSocket()) throw notSocket(name);
    await rename(offered, adopted);
    if ((await lstat(adopted)).isSocket()) return adopted;
  } catch (thrown) {
    throw thrown instanceof ContextdError ? thrown : unreachable(name, thrown);
  }
  await unlink(adopted).catch(() => {});
  throw notSocket(name);
}

/** A path in `dir` that does not exist yet. */
function newSocketPath(dir: string): string {
  return checkSocketPath(join(dir, `s${randomBytes(6).toString('hex')}`));
}

function notSocket(name: string): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool announced ${name}, which is not a socket`);
}

function unreachable(name: string, cause: unknown): ContextdError {
  const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown fault';
  return new ContextdError(
    'TOOL_CRASHED',
    `the tool announced the socket ${name}, which cannot be taken over (${why})`,
    {
      cause,
    },
  );
}
