import { createSocket, Socket as Datagrams } from 'node:dgram';
import { createServer, Server, type Socket } from 'node:net';
import type { Broker } from './broker.ts';
import { CredentialBroker } from './credential-broker.ts';
import { DirectDoor } from './direct-door.ts';
import { readFirst } from './first-bytes.ts';
import { type Asker, Gate, type GateDeps } from './gate.ts';
import { HttpDoor } from './http-door.ts';
import { CLIENTS_MAX, NAMES_MAX } from './limits.ts';
import { type BridgeCommand, type EgressCommand, PROXY_PORT, type ScopeKey } from './messages.ts';
import { NameService } from './name-service.ts';
import { overLimit, refusalBytes } from './refusal.ts';
import { SOCKS5, SocksDoor } from './socks-door.ts';
import { SyntheticNames } from './synthetic-names.ts';

/** The listeners of a network namespace, and the names that its programs looked up. */
interface Namespace {
  readonly scope: ScopeKey;
  readonly names: SyntheticNames;
  readonly closers: Map<string, () => void>;
}

/** The proxy process: listeners of all namespaces, one gate. Starts without rules and refuses by default. */
export class Egress {
  readonly #deps: GateDeps;
  readonly #broker: Broker;
  readonly #gate: Gate;
  readonly #http: HttpDoor;
  readonly #socks: SocksDoor;
  readonly #direct: DirectDoor;
  readonly #namespaces = new Map<string, Namespace>();
  #clients = 0;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#gate = new Gate(deps);
    this.#broker = new CredentialBroker({ ...deps, refuse: (...refused) => this.#gate.refuse(...refused) });
    this.#http = new HttpDoor(this.#gate, this.#broker);
    this.#socks = new SocksDoor(this.#gate, this.#http, this.#broker);
    this.#direct = new DirectDoor(this.#gate, this.#http, this.#broker);
  }

  /** `handle`: the server or socket sent along with `listener` or `datagrams`. */
  receive(command: EgressCommand | BridgeCommand, handle: unknown): void {
    switch (command.op) {
      case 'settings':
        this.#gate.setSettings(command.settings);
        this.#broker.setSettings(command.settings);
        break;
      case 'policy':
        this.#gate.setPolicy(command.scope, command.policy);
        break;
      case 'credentials':
        this.#setCredentials(command);
        break;
      case 'sent':
        this.#gate.restoreSent(command.scope, command.hosts);
        break;
      case 'sync':
        this.#deps.emit({ ev: 'synced', id: command.id, open: this.#gate.settle() });
        break;
      case 'listener':
      case 'datagrams':
        this.#take(command, handle);
        break;
      case 'close':
        this.#close(command.namespace);
        break;
    }
  }

  #setCredentials({ scope, credentials }: Extract<EgressCommand, { op: 'credentials' }>): void {
    for (const host of this.#broker.setCredentials(scope, credentials))
      this.#gate.endHost(scope, host, 'a credential for this host was bound or removed');
  }

  #take(command: Extract<BridgeCommand, { op: 'listener' | 'datagrams' }>, handle: unknown): void {
    // Without a handle, Node would listen on a port of the host.
    if (typeof handle !== 'object' || handle === null)
      return void this.#warn('handle_missing', command.port, new Error('no handle came with the command'));
    if (command.op === 'listener') this.#listen(command, handle);
    else this.#answerNames(command, handle);
  }

  /** A handle is a listening server, or the native handle of one, from which no connection has been accepted. */
  #listen({ namespace, scope, port }: Extract<BridgeCommand, { op: 'listener' }>, handle: object): void {
    const server = handle instanceof Server ? handle : createServer();
    Object.assign(server, { allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    const { names } = this.#replace(namespace, scope, { key: `tcp ${port}`, close: () => server.close() });
    server.on('error', (cause) => this.#warn('listener_failed', port, cause));
    server.on('connection', (socket: Socket) => this.#accept(socket, { namespace, scope, port, names }));
    if (server !== handle) server.listen(handle);
  }

  #answerNames({ namespace, scope, port }: Extract<BridgeCommand, { op: 'datagrams' }>, handle: object): void {
    const socket = handle instanceof Datagrams ? handle : createSocket('udp4');
    const { names } = this.#replace(namespace, scope, { key: `udp ${port}`, close: () => socket.close() });
    socket.on('error', (cause) => this.#warn('datagrams_failed', port, cause));
    new NameService(this.#gate, { scope, namespace, lane: null }, names).serve(socket);
    // bind() takes a handle, as listen() does; Node documents only its other options.
    if (socket !== handle) socket.bind(handle);
  }

  #replace(name: string, scope: ScopeKey, { key, close }: { key: string; close: () => void }): Namespace {
    const known = this.#namespaces.get(name);
    const namespace = known ?? { scope, names: new SyntheticNames(NAMES_MAX), closers: new Map() };
    if (known === undefined) this.#namespaces.set(name, namespace);
    namespace.closers.get(key)?.();
    namespace.closers.set(key, close);
    return namespace;
  }

  #close(name: string): void {
    for (const close of this.#namespaces.get(name)?.closers.values() ?? []) close();
    this.#namespaces.delete(name);
    this.#gate.endNamespace(name);
  }

  #accept(
    socket: Socket,
    { namespace, scope, port, names }: { namespace: string; scope: ScopeKey; port: number; names: SyntheticNames },
  ): void {
    socket.on('error', () => socket.destroy());
    const leave = this.#clients < CLIENTS_MAX ? this.#gate.enter(scope) : null;
    if (leave === null) {
      turnAway(socket, port);
      return;
    }
    this.#clients += 1;
    socket.once('close', () => {
      this.#clients -= 1;
      leave();
    });
    const address = (socket.localAddress ?? '').replace(/^::ffff:/, '');
    if (port === PROXY_PORT) this.#serveProxy(socket, { scope, namespace, lane: address });
    else this.#direct.serve(socket, { scope, namespace, lane: null }, { name: names.nameOf(address), address, port });
  }

  #serveProxy(socket: Socket, asker: Asker): void {
    void readFirst(socket, (data) => ({ result: data[0] })).then((first) => {
      if (first === null) socket.destroy();
      else if (first === SOCKS5) this.#socks.serve(socket, asker);
      else this.#http.serve(socket, asker, null);
    });
  }

  #warn(event: string, port: number, cause: Error): void {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
    this.#deps.emit({ ev: 'log', level: 'warn', event, fields: { port, code } });
  }
}

function turnAway(socket: Socket, port: number): void {
  if (port === PROXY_PORT || port === 80)
    socket.end(refusalBytes(overLimit('too many connections are open')), () => socket.destroy());
  else socket.destroy();
}
