import { once } from 'node:events';
import { chmod, lstat, mkdir, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { ensureVacant, type ProbeDeps } from './probe.ts';

const SOCKET_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** Maximum bytes of a socket path, without the final NUL. */
const PATH_MAX_BYTES = process.platform === 'linux' ? 107 : 103;

export interface BoundSocket {
  /** Removes the path, unless another process has taken it. Does not close the server. */
  release(): Promise<void>;
}

/**
 * Makes `server` listen on `socket`, mode 0600 in a directory 0700. The path appears only once the server listens and
 * others have no access, so a socket that refuses connections is always a dead one. Throws CONFLICT if somebody holds
 * the path, PATH_INVALID if it cannot be used. Only the holder of the state database may call this: if two daemons
 * start at once, only one of them may replace a dead socket. `replaces`: the socket is that of the daemon before, which still
 * answers there, and no caller finds no socket.
 */
export async function bindSocket(server: Server, deps: ProbeDeps, replaces = false): Promise<BoundSocket> {
  const { socket } = deps;
  checkLength(socket);
  await makePrivate(dirname(socket));
  if (!replaces) await ensureVacant(deps);
  // As long as the final name, which may have the maximum length.
  const hidden = `${socket.slice(0, -1)}~`;
  try {
    await rm(hidden, { force: true });
    await listen(server, hidden);
    await chmod(hidden, SOCKET_MODE);
    await rename(hidden, socket);
  } catch (thrown) {
    server.close();
    throw unusable(socket, thrown);
  }
  const { ino } = await lstat(socket);
  return { release: () => release(socket, ino) };
}

function checkLength(socket: string): void {
  const size = Buffer.byteLength(socket);
  if (size <= PATH_MAX_BYTES) return;
  throw new ContextdError(
    'PATH_INVALID',
    `the socket path has ${size} bytes, the system's limit is ${PATH_MAX_BYTES}: ${socket}`,
    { remedy: 'Set CONTEXTD_HOME to a shorter path.', details: { path: socket, size, limit: PATH_MAX_BYTES } },
  );
}

async function makePrivate(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    const found = await lstat(directory);
    if (!found.isDirectory()) throw notOurs(directory, 'is not a directory');
    if (process.getuid !== undefined && found.uid !== process.getuid())
      throw notOurs(directory, 'belongs to another user');
    if ((found.mode & 0o777) !== DIRECTORY_MODE) await chmod(directory, DIRECTORY_MODE);
  } catch (thrown) {
    throw thrown instanceof ContextdError ? thrown : unusable(directory, thrown);
  }
}

/** `listen` binds synchronously, so the umask of the process is changed only for that moment. */
async function listen(server: Server, path: string): Promise<void> {
  const listening = once(server, 'listening');
  const umask = process.umask(0o777 & ~SOCKET_MODE);
  try {
    server.listen({ path });
  } finally {
    process.umask(umask);
  }
  await listening;
}

async function release(socket: string, ino: number): Promise<void> {
  const found = await lstat(socket).catch(() => undefined);
  if (found?.ino === ino) await rm(socket, { force: true });
}

function notOurs(directory: string, what: string): ContextdError {
  return new ContextdError('PATH_INVALID', `the directory of the socket ${what}: ${directory}`, {
    remedy: 'Remove it, or set CONTEXTD_HOME to your own directory.',
    details: { path: directory },
  });
}

function unusable(path: string, thrown: unknown): ContextdError {
  if (!isErrno(thrown) || thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT') return ContextdError.from(thrown);
  return new ContextdError('PATH_INVALID', `the socket path cannot be used (${thrown.code}): ${path}`, {
    remedy: 'Make its directory writable for this user, or set CONTEXTD_HOME.',
    details: { path },
    cause: thrown,
  });
}
