import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESOLVER_THREADS } from '#src/egress/limits.js';
import type {
  BridgeCommand,
  ConnectionFact,
  EgressCommand,
  EgressEvent,
  NetworkRule,
  ScopeKey,
} from '#src/egress/messages.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'src', 'egress', 'main.js');

export interface Listening {
  readonly scope: ScopeKey;
  readonly namespace: string;
}

/** The real proxy process, with names of its own: `hosts` has lines of /etc/hosts, which are all that it can look up. */
export class EgressProcess {
  readonly events: EgressEvent[] = [];
  readonly #child: ChildProcess;
  readonly #dir: string;
  readonly #waiting = new Set<() => void>();
  #exit: number | string | null = null;
  #lastSync = 0;

  private constructor(hosts: string, nameServer: string | null, program: string) {
    this.#dir = mkdtempSync(join(tmpdir(), 'contextd-egress-'));
    writeFileSync(join(this.#dir, 'hosts'), hosts);
    writeFileSync(join(this.#dir, 'nsswitch'), nameServer === null ? 'hosts: files\n' : 'hosts: files dns\n');
    writeFileSync(join(this.#dir, 'resolv.conf'), `nameserver ${nameServer}\noptions timeout:1 attempts:1\n`);
    const binds = [
      '--dev-bind',
      '/',
      '/',
      '--ro-bind',
      join(this.#dir, 'hosts'),
      '/etc/hosts',
      '--ro-bind',
      join(this.#dir, 'nsswitch'),
      '/etc/nsswitch.conf',
      ...(nameServer === null ? [] : ['--ro-bind', join(this.#dir, 'resolv.conf'), '/etc/resolv.conf']),
    ];
    const argv = ['--die-with-parent', ...binds, '--', process.execPath, program];
    const env = { ...process.env, UV_THREADPOOL_SIZE: String(RESOLVER_THREADS) };
    this.#child = spawn('bwrap', argv, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (events) => {
      this.events.push(...(events as EgressEvent[]));
      this.#wake();
    });
    this.#child.on('exit', (code, signal) => {
      this.#exit = code ?? signal;
      this.#wake();
    });
  }

  /** `nameServer`: an address that is asked for other names; null: nothing is asked. */
  static async start(hosts: string, nameServer: string | null = null, program = PROGRAM): Promise<EgressProcess> {
    const started = new EgressProcess(hosts, nameServer, program);
    await started.until(({ ev }) => ev === 'ready');
    return started;
  }

  /** The names that it can look up from now on. */
  setHosts(hosts: string): void {
    writeFileSync(join(this.#dir, 'hosts'), hosts);
  }

  get facts(): ConnectionFact[] {
    return this.events.flatMap((event) => (event.ev === 'connection' ? [event.fact] : []));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(command: EgressCommand | BridgeCommand, handle?: object): void {
    this.#child.send(command, handle as Server | undefined, () => {});
  }

  /** Resolves once an event matches, also an earlier one. Rejects if the process ends. */
  async until<T extends EgressEvent>(matches: (event: EgressEvent) => event is T): Promise<T>;
  async until(matches: (event: EgressEvent) => boolean): Promise<EgressEvent>;
  async until(matches: (event: EgressEvent) => boolean): Promise<EgressEvent> {
    for (;;) {
      const found = this.events.find(matches);
      if (found !== undefined) return found;
      if (this.#exit !== null) throw new Error(`the proxy process ended: ${this.#exit}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** All facts until now, and the traffic of what is open. */
  async sync() {
    this.#lastSync += 1;
    const id = this.#lastSync;
    this.send({ op: 'sync', id });
    const synced = await this.until((event) => event.ev === 'synced' && event.id === id);
    return synced.ev === 'synced' ? synced.open : [];
  }

  /** Opens a listener for a port of a namespace; returns where it really listens, at every loopback address. */
  async listen(port: number, { scope, namespace }: Listening): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen({ port: 0, host: '0.0.0.0', backlog: 511 }, resolve));
    const { port: real } = server.address() as AddressInfo;
    await this.#give({ op: 'listener', namespace, scope, port }, server);
    return real;
  }

  async listenForNames({ scope, namespace }: Listening): Promise<number> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve));
    const { port } = socket.address();
    const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
    const state = symbol === undefined ? null : Reflect.get(socket, symbol);
    await this.#giveHandle({ op: 'datagrams', namespace, scope, port: 53 }, state.handle);
    socket.close();
    return port;
  }

  /** Resolves when the rules hold. */
  async setRules(
    scope: ScopeKey,
    rules: readonly (string | Partial<NetworkRule>)[],
    uploadMaxBytes: number | null = null,
  ): Promise<void> {
    this.send({ op: 'policy', scope, policy: { rules: rules.map(wholeRule), uploadMaxBytes } });
    await this.sync();
  }

  async stop(): Promise<void> {
    if (this.#exit === null) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.disconnect();
      await ended;
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #give(command: BridgeCommand, server: Server): Promise<void> {
    await this.#giveHandle(command, Reflect.get(server, '_handle'));
    await new Promise((resolve) => server.close(resolve));
  }

  /** Node's object below a server, which accepts nothing here. */
  #giveHandle(command: BridgeCommand, handle: Server): Promise<void> {
    return new Promise((resolve) => void this.#child.send(command, handle, () => resolve()));
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

export function wholeRule(rule: string | Partial<NetworkRule>): NetworkRule {
  const given = typeof rule === 'string' ? { pattern: rule } : rule;
  return { pattern: '', verdict: 'allow', privateAddresses: [], anyPrivate: true, expiresMs: null, ...given };
}

/** A connection of a test, and everything that it received. */
export class Peer {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      const over = (): void => {
        this.#isOver = true;
        this.#wake();
        resolve();
      };
      socket.once('close', over).once('end', over);
    });
  }

  static async to(port: number, host = '127.0.0.1'): Promise<Peer> {
    const socket = connect({ port, host, allowHalfOpen: true, noDelay: true });
    await new Promise((resolve, reject) => void socket.once('connect', resolve).once('error', reject));
    return new Peer(socket);
  }

  get text(): string {
    return this.#received.toString('latin1');
  }

  get bytes(): Buffer {
    return this.#received;
  }

  write(data: string | Buffer): this {
    this.socket.write(data);
    return this;
  }

  /** Resolves when the text has arrived; rejects if the connection ends before. */
  async until(text: string): Promise<string> {
    for (;;) {
      if (this.text.includes(text)) return this.text;
      if (this.#isOver) throw new Error(`the connection ended after ${JSON.stringify(this.text.slice(0, 500))}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Everything, once the other side has ended. */
  async all(): Promise<string> {
    await this.closed;
    this.socket.destroy();
    return this.text;
  }
}

/** A server of a test that counts its connections and keeps them. */
export class Upstream {
  readonly peers: Peer[] = [];
  readonly server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(onPeer: (peer: Peer) => void) {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const peer = new Peer(socket);
      this.peers.push(peer);
      onPeer(peer);
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
    });
  }

  static async listen(host: string, port: number, onPeer: (peer: Peer) => void = () => {}): Promise<Upstream> {
    const upstream = new Upstream(onPeer);
    await new Promise<void>((resolve, reject) => {
      upstream.server.once('error', reject).listen({ host, port }, resolve);
    });
    return upstream;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async peer(index = 0): Promise<Peer> {
    for (;;) {
      const peer = this.peers[index];
      if (peer !== undefined) return peer;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async close(): Promise<void> {
    for (const { socket } of this.peers) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
