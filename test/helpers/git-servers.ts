import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { dirname, join } from 'node:path';
import type { ServerIdentity } from './authority.ts';

/** A repository of a test, with commits made from plain objects. */
export class TestRepository {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main');
  }

  git(...args: string[]): string {
    return gitIn(this.dir, args);
  }

  /** Writes files, commits them, and returns the commit. */
  commit(files: Readonly<Record<string, string>>): string {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.dir, path)), { recursive: true });
      writeFileSync(join(this.dir, path), text);
    }
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '--message=Change');
    return this.git('rev-parse', 'HEAD');
  }

  /** Makes a commit of a tree that git's own commands would refuse to write; returns it, on the branch `name`. */
  commitTree(name: string, entries: readonly { mode: string; path: string; body?: string; id?: string }[]): string {
    const tree = this.tree(entries);
    const commit = this.git('commit-tree', tree, '-m', 'Hostile');
    this.git('update-ref', `refs/heads/${name}`, commit);
    return commit;
  }

  /** A tree object with any names in it. */
  tree(entries: readonly { mode: string; path: string; body?: string; id?: string }[]): string {
    const rows = entries.map(({ mode, path, body = '', id }) => {
      const blob = id ?? gitIn(this.dir, ['hash-object', '-w', '--stdin'], body);
      return Buffer.concat([Buffer.from(`${mode} ${path}\0`), Buffer.from(blob, 'hex')]);
    });
    return gitIn(this.dir, ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], Buffer.concat(rows));
  }
}

function gitIn(cwd: string, args: readonly string[], input: string | Buffer = ''): string {
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
    GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  };
  return execFileSync('git', [...args], { cwd, env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).trim();
}

export interface GitServer {
  /** Below it lie the repositories. */
  url: string;
  close(): Promise<void>;
}

/** The real `git daemon` on a port of its own, for every repository below `base`. */
export async function startGitDaemon(base: string): Promise<GitServer> {
  for (let attempt = 0; ; attempt += 1) {
    const port = 20_000 + ((process.pid * 7 + attempt * 131) % 20_000);
    const address = ['--listen=127.0.0.1', `--port=${port}`];
    const daemon = spawn('git', ['daemon', '--export-all', `--base-path=${base}`, ...address, base], {
      stdio: 'ignore',
      detached: true,
    });
    if (await answers(daemon, port)) return { url: `git://127.0.0.1:${port}`, close: () => end(daemon) };
    if (attempt === 5) throw new Error('git daemon does not start');
  }
}

/** True if the daemon listens; false if it has ended, because the port is taken. */
async function answers(daemon: ChildProcess, port: number): Promise<boolean> {
  let isRunning = true;
  daemon.once('exit', () => {
    isRunning = false;
  });
  while (isRunning) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return isRunning;
  }
  return false;
}

/** `git daemon` starts a process for each connection. */
async function end(daemon: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => daemon.once('exit', resolve));
  if (daemon.pid !== undefined) process.kill(-daemon.pid, 'SIGKILL');
  await gone;
}

/** Answers a request that is not git's; false: it is git's. */
export type Beside = (request: IncomingMessage, response: ServerResponse) => boolean;

/** git's own http-backend behind TLS. `login`: "user:password" of those who may read; null: everyone. */
export async function startGitHttps(
  base: string,
  identity: ServerIdentity,
  login: string | null,
  beside: Beside = () => false,
): Promise<GitServer> {
  const server = createServer(identity, (request, response) => {
    const wanted = login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
    if (wanted !== undefined && request.headers.authorization !== wanted) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
      return;
    }
    if (beside(request, response)) return;
    const url = new URL(request.url ?? '/', 'https://localhost');
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        HOME: base,
        GIT_PROJECT_ROOT: base,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_ADDR: '127.0.0.1',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    backend.stdin.on('error', () => {});
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    backend.on('close', () => {
      const all = Buffer.concat(chunks);
      const at = all.indexOf('\r\n\r\n');
      const headers = new Map(
        all
          .toString('latin1', 0, at)
          .split('\r\n')
          .map((line) => line.split(': ') as [string, string]),
      );
      response.statusCode = Number.parseInt(headers.get('Status') ?? '200', 10);
      headers.delete('Status');
      for (const [name, value] of headers) response.setHeader(name, value);
      response.end(all.subarray(at + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
