import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { findInstallRoot } from '../src/config/install-root.ts';

// Runs the official MCP conformance suite on an MCP server that is reached through a daemon: the scenarios that both revisions
// require, or what the arguments ask the suite for, such as `--scenario ping --spec-version 2025-11-25 --verbose`. Exits with 1 if
// a scored scenario fails.

const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
const asked = process.argv.slice(2);
const ROOT = findInstallRoot();
const base = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-')));
const [project, programs] = [join(base, 'project'), join(base, 'programs')];
for (const directory of [project, programs]) mkdirSync(directory);
const env = { PATH: process.env.PATH ?? '', HOME: base, CONTEXTD_HOME: join(base, 'home') };

async function ctxd(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(join(ROOT, 'bin/ctxd'), args, { cwd: project, env });
  return stdout.trim();
}

/** The server of the suite as one file, because no sandbox sees the packages of the repository. */
async function buildServer(): Promise<string> {
  const outfile = join(programs, 'everything.mjs');
  await build({
    entryPoints: [join(ROOT, 'test/fixtures/mcp-servers/everything.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
  return outfile;
}

/** The suite sends no token. This listener adds one; everything else passes unchanged, the Host and the Origin too. */
async function forwarder(door: URL, token: string): Promise<{ url: string; close(): void }> {
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const own = (name: string): string => swapHost(name, incoming, door);
    const headers = {
      ...incoming.headers,
      ...(incoming.headers.host === undefined ? {} : { host: own(incoming.headers.host) }),
      ...(incoming.headers.origin === undefined ? {} : { origin: own(incoming.headers.origin) }),
      authorization: `Bearer ${token}`,
    };
    const onward = request(new URL('/mcp?surface=passthrough', door), { method: incoming.method ?? 'GET', headers });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The address of the listener becomes that of the door. A foreign Host stays foreign. */
function swapHost(value: string, { socket }: IncomingMessage, door: URL): string {
  return value.replace(new RegExp(`^(https?://)?(?:127\\.0\\.0\\.1|localhost):${socket.localPort}$`), `$1${door.host}`);
}

async function runSuite(url: string, options: readonly string[]): Promise<boolean> {
  const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
  const child = spawn(process.execPath, [suite, 'server', '--url', url, ...options], {
    cwd: base,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
    process.stdout.write(chunk);
  });
  const [code] = await once(child, 'close');
  scores.push(...scoreOf(options, printed));
  return code === 0;
}

/** A line with the score; none for a run that is not scored. */
function scoreOf([word, revision]: readonly string[], printed: string): string[] {
  if (word !== '--requirements') return [];
  const namesIn = (marked: RegExp): string[] => Array.from(printed.matchAll(marked), ([, name]) => name ?? '');
  const unscored = namesIn(/^ {2}[✓✗] (\S+) \(/gm);
  const scored = namesIn(/^[✓✗] (\S+):/gm).filter((name) => !unscored.includes(name));
  const failed = namesIn(/^✗ (\S+):/gm).filter((name) => !unscored.includes(name));
  const which = failed.length === 0 ? '' : `; failed: ${failed.join(', ')}`;
  return [`${revision}: ${scored.length - failed.length} of ${scored.length} scored scenarios pass${which}`];
}

const scores: string[] = [];
let isConformant = true;
try {
  await ctxd('init', '--yes', '--no-toolchains', '--no-network');
  await ctxd('upstream', 'add', 'everything', '--path', programs, '--yes', '--', 'node', await buildServer());
  await ctxd('http', 'on', '--yes');
  const door = new URL(await ctxd('http', 'url'));
  const token = await ctxd('http', 'token', '--name', 'conformance', '--allow', 'execute', '--project', project);
  const listener = await forwarder(door, token);
  const runs = asked.length > 0 ? [asked] : REVISIONS.map((revision) => ['--requirements', revision]);
  for (const options of runs) isConformant = (await runSuite(listener.url, options)) && isConformant;
  listener.close();
} finally {
  await ctxd('server', 'stop').catch(() => {});
  rmSync(base, { recursive: true, force: true });
}
for (const score of scores) process.stdout.write(`${score}\n`);
process.exitCode = isConformant ? 0 : 1;
