import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { basename } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { splice } from '../../forward/splice.ts';
import type { ListeningPort__Output as ListeningPort } from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectAt } from '../project-root.ts';
import { printable, type View, write } from '../render.ts';

/** Other machines must not reach the port. */
const HOST = '127.0.0.1';
const PORT_MAX = 65_535;

/** Lists what listens on the loopback of a project, or makes one port reachable from the host until interrupted. */
export const port = defineCommand({
  name: ['port'],
  summary: 'Reach a server that a command runs: list the ports of the project, or open one on 127.0.0.1.',
  parameters: [
    { syntax: '[number]', help: 'the port in the project, open until Ctrl-C; without it, what listens is listed' },
    { syntax: '[path]', help: 'the project directory (default: the current project)' },
  ],
  options: [
    { syntax: '--host-port <number>', help: 'the port on 127.0.0.1 (default: the same number; 0: a free one)' },
  ],
  async run(context, args) {
    const word = args.word(0);
    const inside = word === undefined ? null : portNumber(word, 'the port', 1);
    const hostPort = portNumber(args.text('hostPort') ?? word ?? '0', '--host-port', 0);
    if (inside !== null && args.flag('json')) {
      throw new ContextdError('ARGS_INVALID', '--json prints one value, and a port stays open until Ctrl-C', {
        remedy: 'Leave --json out, or leave the port out for a list.',
      });
    }
    const root = await projectAt(context, args.word(1));
    return withClient(context.paths, async (client) => {
      const { ports } = await client.listPorts({ root });
      if (inside === null) return ports;
      const isServed = ports.some((one) => one.port === inside);
      if (!isServed && context.stdout.isTTY !== true) throw nothingListens(inside);
      await forward(context, client, { root, inside, hostPort, isServed });
      return null;
    });
  },
  view: (ports) => (ports === null ? { kind: 'lines', lines: [] } : tableOf(ports)),
});

function tableOf(ports: readonly ListeningPort[]): View {
  return {
    kind: 'table',
    columns: ['PORT', 'ADDRESS'],
    rows: ports.map(({ port: number, address }) => [String(number), address]),
    empty: 'nothing listens in this project',
  };
}

interface Forwarding {
  root: string;
  /** The port in the project. */
  inside: number;
  /** 0: a free one. */
  hostPort: number;
  /** Whether something listens inside now. */
  isServed: boolean;
}

/** Listens until the person interrupts it. Throws INTERRUPTED if contextd closes the way to the project first. */
async function forward(context: CliContext, client: DaemonClient, plan: Forwarding): Promise<void> {
  const { socket } = await client.openPort({ root: plan.root, port: plan.inside });
  // The first connection keeps the way open. It says when nothing answers inside.
  const holder = connect(socket);
  await once(holder, 'connect');
  const visitors = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (visitor) => {
    visitors.add(visitor);
    visitor.once('close', () => visitors.delete(visitor));
    carry(visitor, socket);
  });
  try {
    const hostPort = await listen(server, plan.hostPort);
    await write(context.stdout, explain(plan, hostPort));
    if (plan.isServed) holder.once('data', () => void reportSilence(context, plan.inside));
    else await reportSilence(context, plan.inside);
    await closedOrInterrupted(holder.resume(), context.signal);
  } finally {
    holder.destroy();
    server.close();
    for (const visitor of visitors) visitor.destroy();
  }
  if (context.signal.aborted) return;
  throw new ContextdError('INTERRUPTED', `contextd closed the way to port ${plan.inside}`, {
    remedy: 'See `ctxd server status`, then run the command again.',
  });
}

async function listen(server: Server, hostPort: number): Promise<number> {
  try {
    server.listen(hostPort, HOST);
    await once(server, 'listening');
  } catch (cause) {
    if (!isErrno(cause, 'EADDRINUSE', 'EACCES')) throw cause;
    const why = cause.code === 'EACCES' ? 'needs root' : 'is taken by another program';
    throw new ContextdError('CONFLICT', `port ${hostPort} of ${HOST} ${why}`, {
      remedy: 'Pass --host-port with another number, or --host-port 0 for a free one.',
      cause,
    });
  }
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : hostPort;
}

function carry(visitor: Socket, socket: string): void {
  visitor.on('error', () => {});
  const way = connect({ path: socket, allowHalfOpen: true });
  way.once('error', () => visitor.destroy());
  way.once('connect', () => {
    splice(visitor, way);
    visitor.resume();
  });
}

/** A browser resolves every name below `localhost` to this machine, and keeps cookies by name, not by port. */
function explain({ root, inside }: Forwarding, hostPort: number): string {
  const name =
    basename(root)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'project';
  return [
    `Port ${inside} of ${root} is open at http://${HOST}:${hostPort} until Ctrl-C.`,
    `In a browser use http://${name}.localhost:${hostPort}, so that it does not share cookies with other local servers.`,
    'Every user of this machine can connect, and so can every page that your browser shows.',
  ]
    .map((line) => `${printable(line)}\n`)
    .join('');
}

async function reportSilence(context: CliContext, inside: number): Promise<void> {
  await write(context.stderr, `ctxd: ${SILENCE(inside)}; \`ctxd port\` lists what does.\n`);
}

const SILENCE = (inside: number): string => `nothing listens on port ${inside} in the project now`;

/** A script would wait for ever; a person at a terminal sees the warning and can start the server. */
function nothingListens(inside: number): ContextdError {
  return new ContextdError('CONFLICT', SILENCE(inside), {
    remedy: 'Start the server first; `ctxd port` lists what listens. On a terminal ctxd port waits for it.',
  });
}

function closedOrInterrupted(holder: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    holder.once('error', () => resolve());
    holder.once('close', () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}

function portNumber(text: string, what: string, minimum: 0 | 1): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= minimum && value <= PORT_MAX) return value;
  throw new ContextdError('ARGS_INVALID', `${what} must be a number from ${minimum} to ${PORT_MAX}, not ${text}`, {
    remedy: 'Pass the number alone, such as `ctxd port 3000`.',
  });
}
