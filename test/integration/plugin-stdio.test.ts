import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Server } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StdioData__Output } from '#src/protocol/generated/grpc_stdio.js';
import { createCertificate } from '#src/protocol/plugin/certificate.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { dialPinned, listenPinned, type PinnedListener } from '#src/protocol/plugin/pinned-tls.js';
import { createStdioService } from '#src/sdk/plugin/serve-plugin.js';
import { StdioStream } from '#src/sdk/plugin/stdio-stream.js';

const { GRPCStdio } = loadPluginProtocol();
const STDOUT = 1;
const STDERR = 2;
const MIB = 1024 * 1024;

describe('the output of a plugin', () => {
  const host = createCertificate(Date.now());
  const plugin = createCertificate(Date.now());
  let dir: string;
  let listener: PinnedListener;
  let clients: Client[];
  let stdio: StdioStream;
  let stdout: Pick<NodeJS.WriteStream, 'write'>;
  let stderr: Pick<NodeJS.WriteStream, 'write'>;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'ctxd-stdio-'));
    clients = [];
    stdio = new StdioStream();
    stdout = { write: () => false };
    stderr = { write: () => false };
    stdio.capture(stdout, STDOUT);
    stdio.capture(stderr, STDERR);
    const server = new Server();
    server.addService(GRPCStdio.service, createStdioService(stdio));
    listener = await listenPinned(server, join(dir, 'socket'), { own: plugin, peer: host.der });
  });

  afterEach(() => {
    for (const client of clients) client.close();
    listener.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function read(): { seen: Record<number, string>; failed: Promise<Error> } {
    const { address, credentials, options } = dialPinned(join(dir, 'socket'), { own: host, peer: plugin.der });
    const client = new GRPCStdio(address, credentials, options);
    clients.push(client);
    const seen: Record<number, string> = { [STDOUT]: '', [STDERR]: '' };
    const stream = client.StreamStdio({});
    stream.on('data', ({ channel, data }: StdioData__Output) => {
      seen[channel] += data.toString();
    });
    return { seen, failed: new Promise((resolve) => stream.on('error', resolve)) };
  }

  it('is kept until the host reads it, and follows from then on', async () => {
    stdout.write('before\n');
    stdout.write(Buffer.from('bytes\n'));
    stdout.write('6869', 'hex');
    const { seen } = read();
    await expect.poll(() => seen[STDOUT]).toBe('before\nbytes\nhi');
    await new Promise<void>((resolve) => stderr.write('after\n', () => resolve()));
    await expect.poll(() => seen[STDERR]).toBe('after\n');
  });

  it('is limited while nobody reads it, and says how much is missing at the gap', async () => {
    for (let part = 0; part < 3; part += 1) stdout.write('x'.repeat(MIB - 1));
    stderr.write('late\n');
    const { seen } = read();
    const missing = 3 * (MIB - 1) - MIB + 'late\n'.length;
    await expect.poll(() => seen[STDERR]).toBe(`[${missing} bytes of output were dropped]\n`);
    expect(seen[STDOUT]).toHaveLength(MIB);
    stdout.write('again\n');
    await expect.poll(() => seen[STDOUT]?.slice(MIB)).toBe('again\n');
  });

  it('can be read once', async () => {
    stdout.write('x');
    const first = read();
    await expect.poll(() => first.seen[STDOUT]).toBe('x');
    expect(await read().failed).toMatchObject({ details: 'the output is already being read' });
  });
});
