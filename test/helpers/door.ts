import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChannelCredentials, credentials, type ServiceError } from '@grpc/grpc-js';
import type { PassingRequests } from '#src/call/passing.js';
import type { Dispatch } from '#src/call/request.js';
import { type Clock, systemClock } from '#src/core/clock.js';
import { type Logger, silentLogger } from '#src/core/log.js';
import { writeSet } from '#src/doors/grpc/certificates.js';
import type { ConnectionLimits } from '#src/doors/grpc/connections.js';
import { createGrpcDoor, type Door } from '#src/doors/grpc/grpc.js';
import type { CertificateSet } from '#src/doors/grpc/identities.js';
import { loadProtocol, type Protocol } from '#src/protocol/load.js';
import type { Management } from '#src/protocol/management-contract.js';
import { management, noServers, refuse } from './behind.ts';

/** A door in its own directory, with the given services behind it. */
export interface TestDoor {
  dir: string;
  paths: { socket: string; certsDir: string; startLock: string };
  door: Door;
  clients(identity: string): Clients;
  /** Closes clients and door and removes the directory. */
  remove(): Promise<void>;
}

export interface Clients {
  tools: InstanceType<Protocol['ToolService']>;
  management: InstanceType<Protocol['ManagementService']>;
}

export interface Behind {
  dispatch: Dispatch;
  management?: Partial<Management>;
  passing?: PassingRequests;
  mask?: (text: string) => string;
  logger?: Logger;
  limits?: Partial<ConnectionLimits>;
  /** Certificates that are there already. */
  certificates?: CertificateSet;
  clock?: Clock;
}

export async function openDoor(behind: Behind): Promise<TestDoor> {
  const dir = await mkdtemp(join(tmpdir(), 'door-'));
  const run = join(dir, 'run');
  const paths = {
    socket: join(run, 'contextd.sock'),
    certsDir: join(dir, 'certs'),
    startLock: join(run, 'start.lock'),
  };
  if (behind.certificates !== undefined) await writeSet(paths.certsDir, behind.certificates);
  const door = createGrpcDoor({
    paths,
    dispatch: behind.dispatch,
    refuse,
    management: management(behind.management),
    passing: behind.passing ?? noServers,
    answerHook: async () => null,
    mask: behind.mask ?? ((text) => text),
    clock: behind.clock ?? systemClock,
    logger: behind.logger ?? silentLogger,
    ...(behind.limits === undefined ? {} : { limits: behind.limits }),
  });
  await door.start();
  const opened: Clients[] = [];
  return {
    dir,
    paths,
    door,
    clients(identity) {
      const clients = connect(paths.socket, certificateOf(paths.certsDir, identity));
      opened.push(clients);
      return clients;
    },
    async remove() {
      for (const clients of opened) close(clients);
      await door.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export function connect(socket: string, secured: ChannelCredentials, options: object = {}): Clients {
  const { ToolService, ManagementService } = loadProtocol();
  const channel = {
    'grpc.ssl_target_name_override': 'contextd',
    'grpc.default_authority': 'contextd',
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  };
  return {
    tools: new ToolService(`unix:${socket}`, secured, channel),
    management: new ManagementService(`unix:${socket}`, secured, channel),
  };
}

export function close({ tools, management }: Clients): void {
  tools.close();
  management.close();
}

/** `identity` is the client's certificate; `authority` is used to check the server. */
export function certificateOf(certsDir: string, identity: string, authority = certsDir): ChannelCredentials {
  const [key, certificate] = ['key', 'pem'].map((kind) => readFileSync(join(certsDir, `${identity}.${kind}`)));
  return credentials.createSsl(readFileSync(join(authority, 'ca.pem')), key, certificate);
}

type Done<T> = (error: ServiceError | null, value?: T) => void;

/** Resolves with the value of an rpc; rejects with its ServiceError. */
export function answered<T>(start: (done: Done<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (value === undefined ? reject(error) : resolve(value)));
  });
}

/** Resolves with the error of an rpc that must fail. */
export function refused(start: (done: Done<unknown>) => unknown): Promise<ServiceError> {
  return new Promise((resolve, reject) => {
    start((error, value) =>
      error === null ? reject(new Error(`answered: ${JSON.stringify(value)}`)) : resolve(error),
    );
  });
}
