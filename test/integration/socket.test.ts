import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { probeSocket } from '#src/doors/grpc/probe.js';
import { bindSocket } from '#src/doors/grpc/socket.js';

let dir: string;
let socket: string;
let servers: Server[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'socket-'));
  socket = join(dir, 'run', 'contextd.sock');
  servers = [];
});
afterEach(async () => {
  await Promise.all(
    servers.filter((server) => server.listening).map((server) => new Promise((done) => server.close(done))),
  );
  await rm(dir, { recursive: true, force: true });
});

const deps = (path = socket) => ({
  socket: path,
  certsDir: join(dir, 'certs'),
  probeTimeoutMs: 300,
});
const newServer = (): Server => {
  const server = createServer((connection) => connection.resume());
  servers.push(server);
  return server;
};
const inode = async (path: string): Promise<number> => (await stat(path)).ino;

/** A socket whose listener died without unlinking it. */
async function leaveDeadSocket(): Promise<void> {
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
  const server = newServer().listen(`${socket}.x`);
  await once(server, 'listening');
  await rename(`${socket}.x`, socket);
  await new Promise((done) => server.close(done));
}

describe('SEC-3.3 the socket', () => {
  it('is 0600 in a directory of 0700 under any umask', async () => {
    const umask = process.umask(0);
    try {
      await bindSocket(newServer(), deps());
      expect((await stat(socket)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700);
      expect(process.umask()).toBe(0);
    } finally {
      process.umask(umask);
    }
  });

  it('narrows the mode of an existing directory', async () => {
    await mkdir(dirname(socket));
    await chmod(dirname(socket), 0o755);
    await bindSocket(newServer(), deps());
    expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700);
  });

  it('replaces a dead socket and accepts connections', async () => {
    await leaveDeadSocket();
    expect(await probeSocket(deps())).toEqual({ kind: 'dead' });
    await bindSocket(newServer(), deps());
    const connection = connect(socket);
    await once(connection, 'connect');
    connection.destroy();
  });

  it('is never unlinked while a foreign process listens', async () => {
    await mkdir(dirname(socket), { mode: 0o700 });
    const foreign = newServer().listen(socket);
    await once(foreign, 'listening');
    const before = await inode(socket);
    await expect(bindSocket(newServer(), deps())).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { path: socket },
    });
    expect(await inode(socket)).toBe(before);
    const connection = connect(socket);
    await once(connection, 'connect');
    connection.destroy();
  });

  it.each(['file', 'symbolic link'])('never replaces a %s', async (kind) => {
    await mkdir(dirname(socket), { mode: 0o700 });
    await writeFile(join(dir, 'precious'), 'kept');
    if (kind === 'file') await rename(join(dir, 'precious'), socket);
    else await symlink(join(dir, 'precious'), socket);
    await expect(bindSocket(newServer(), deps())).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await readFile(socket, 'utf8')).toBe('kept');
  });

  it('is refused with the limit if its path is too long', async () => {
    const long = join(dir, 'x'.repeat(120), 'contextd.sock');
    const limit = process.platform === 'linux' ? 107 : 103;
    await expect(bindSocket(newServer(), deps(long))).rejects.toMatchObject({
      code: 'PATH_INVALID',
      remedy: 'Set CONTEXTD_HOME to a shorter path.',
      details: { limit, size: long.length },
    });
  });

  it('may have the maximum length of the system', async () => {
    const limit = process.platform === 'linux' ? 107 : 103;
    const longest = join(dir, 'x'.repeat(limit - dir.length - 1));
    expect(longest.length).toBe(limit);
    await bindSocket(newServer(), deps(longest));
    const connection = connect(longest);
    await once(connection, 'connect');
    connection.destroy();
  });

  it('is removed on release, but not if another process has taken the path', async () => {
    const first = await bindSocket(newServer(), deps());
    await first.release();
    expect(await probeSocket(deps())).toEqual({ kind: 'none' });
    const second = await bindSocket(newServer(), deps());
    await rm(socket);
    const other = newServer().listen(socket);
    await once(other, 'listening');
    const before = await inode(socket);
    await second.release();
    expect(await inode(socket)).toBe(before);
  });

  it('is refused in a directory that cannot be created', async () => {
    await writeFile(join(dir, 'run'), '');
    await expect(bindSocket(newServer(), deps())).rejects.toMatchObject({ code: 'PATH_INVALID' });
  });
});
