import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Ground, type Identity } from '../helpers/sandbox-identities.ts';
import type { Facts } from './probes/probe.ts';
import { newMark } from './processes.ts';

export const SECRET = 'planted-in-the-environment-and-in-files';

/** Everything on the host that the probes try to reach. */
export interface Planted {
  readonly ground: Ground;
  readonly facts: Facts;
  close(): Promise<void>;
}

export async function plant(identity: Identity): Promise<Planted> {
  const stray = openSync(import.meta.filename, 'r');
  const ground = await Ground.open(identity, {
    strayFd: stray,
    env: {
      AWS_SECRET_ACCESS_KEY: SECRET,
      SSH_AUTH_SOCK: `/run/${SECRET}`,
      LD_LIBRARY_PATH: `/${SECRET}`,
      BASH_ENV: `/${SECRET}`,
      PERL5LIB: `/${SECRET}`,
      GIT_DIR: `/${SECRET}`,
    },
  });
  closeSync(stray);
  plantFiles(ground);
  const name = newMark();
  const abstractSocket = `contextd-${name}`;
  const pathSocket = join(ground.person, 'socket');
  const lanAddress = ownAddress();
  const tcp = await listen({ host: '127.0.0.1', port: 0 });
  const lan = lanAddress === null ? null : await listen({ host: lanAddress, port: 0 });
  const servers = [tcp, await listen({ path: `\0${abstractSocket}` }), await listen({ path: pathSocket })];
  chmodSync(pathSocket, 0o777);
  const victim = startVictim(ground);
  const facts: Facts = {
    workspace: ground.workspace,
    base: ground.base,
    person: ground.person,
    secret: SECRET,
    loopback: { address: '127.0.0.1', port: portOf(tcp) },
    lan: lan === null || lanAddress === null ? null : { address: lanAddress, port: portOf(lan) },
    abstractSocket,
    pathSocket,
    victimPid: victim.pid ?? 0,
    hostPid: ground.hostPid,
    byCgroup: await ground.byCgroup(),
  };
  return {
    ground,
    facts,
    async close() {
      victim.kill('SIGKILL');
      for (const server of [...servers, ...(lan === null ? [] : [lan])]) server.close();
      await ground.close();
    },
  };
}

function plantFiles(ground: Ground): void {
  const { person, workspace } = ground;
  mkdirSync(join(person, '.ssh'), { mode: 0o755 });
  for (const path of [join(person, 'outside.txt'), join(person, '.ssh', 'id_planted')]) {
    writeFileSync(path, SECRET);
    chmodSync(path, 0o666);
  }
  ground.host(
    'git init -q -b main . && mkdir .claude .vscode && for f in .claude/settings.json .mcp.json .vscode/tasks.json; do printf "{}" >$f; done',
  );
  symlinkSync(join(person, 'outside.txt'), join(workspace, 'link'));
  symlinkSync(person, join(workspace, 'linkdir'));
  symlinkSync('/etc/shadow', join(workspace, 'shadow'));
}

/** A process of the same user as the command inside: only the pid namespace protects it. */
function startVictim(ground: Ground): ChildProcess {
  const user = ground.owner === null ? {} : { uid: ground.owner, gid: ground.owner };
  return spawn('sleep', ['300'], { argv0: 'contextd-victim', stdio: 'ignore', ...user });
}

async function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end('reached')).unref();
  server.listen(where);
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function ownAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find((one) => !one.internal && one.family === 'IPv4')?.address ?? null;
}

/** Returns what a server says. This proves that the probes could reach it without the sandbox. */
export async function askServer(where: { host: string; port: number } | { path: string }): Promise<string> {
  const socket = connect(where);
  const said: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => said.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(said).toString();
}

/** Exit code of a probe that did nothing because it was on the host. */
export const NOT_CONFINED = 97;

/** Precedes every probe, which exits unless it runs in its own namespaces. */
export function onlyConfined(script: string): string {
  const differs = ['pid', 'mnt', 'net', 'ipc', 'user']
    .map((name) => `[ "$(readlink /proc/self/ns/${name})" != '${readlinkSync(`/proc/self/ns/${name}`)}' ]`)
    .join(' && ');
  return `${differs} || exit ${NOT_CONFINED}\n${script}`;
}

/** Throws unless the sandbox runs commands in their own namespaces. Nothing hostile runs before this check. */
export async function proveConfined(ground: Ground): Promise<void> {
  const seen = await ground.run(onlyConfined('echo confined'));
  if (seen.out !== 'confined\n')
    throw new Error(`no probe was run: the sandbox does not confine (exit code ${seen.exitCode})`);
}

/** Throws unless this kind of sandbox stops at `pids` processes. The loop ends by itself after twice that number. */
export async function proveProcessLimit(ground: Ground): Promise<void> {
  await proveConfined(ground);
  const program =
    'my $n = 1; for (1 .. 64) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 20; exit } $n++ } print $n;';
  const seen = await ground.run('', { argv: ['perl', '-e', program], limits: { pids: 32 }, timeoutMs: 10_000 });
  if (!/^\d+$/.test(seen.out) || Number(seen.out) > 32 || Number(seen.out) < 20)
    throw new Error(`no bomb was run: 32 processes were allowed, but ${seen.out} ran (${seen.endedBy}, ${seen.err})`);
}
