import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Runs once inside a network namespace, from this file alone: `main.js PORTS [UDP_PORT]`, with Node's IPC channel.
 * It opens listeners, sends them out and waits for the end of the channel. What it holds itself ends with it.
 */
const [ports = '', datagrams = ''] = process.argv.slice(2);
const BACKLOG = 511;

/**
 * An ordinary user has no capability left when the ports of later rules are opened, and they may be below 1024. Port 53
 * stays privileged: the system lets two programs receive on one UDP port, and the second one would get the questions.
 */
function allowLowPorts(): void {
  if (process.getuid?.() === 0) return;
  try {
    writeFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', '54');
  } catch {
    // Read-only in some containers: what cannot be opened later is reported then.
  }
}

async function listen(port: number): Promise<void> {
  const server = createServer({ pauseOnConnect: true }).listen({ port, host: '0.0.0.0', backlog: BACKLOG });
  await once(server, 'listening');
  send({ tcp: port }, server);
}

async function receive(port: number): Promise<void> {
  const socket = createSocket('udp4').bind(port, '127.0.0.1');
  await once(socket, 'listening');
  send({ udp: port }, socket);
}

/** Sends Node's own handle: a process that receives a server object begins to accept. */
function send(message: Record<string, number>, holder: object): void {
  process.send?.(message, Reflect.get(holder, '_handle'));
}

async function open(kind: 'tcp' | 'udp', port: number): Promise<void> {
  try {
    await (kind === 'tcp' ? listen(port) : receive(port));
  } catch (cause) {
    process.send?.({ failed: port, why: cause instanceof Error ? cause.message : String(cause) });
  }
}

const numbers = (text: string): number[] => (text === '' ? [] : text.split(',').map(Number));

process.once('disconnect', () => process.exit(0));
process.send?.({ pid: process.pid });
allowLowPorts();
for (const port of numbers(ports)) await open('tcp', port);
for (const port of numbers(datagrams)) await open('udp', port);
process.send?.({ done: true });
