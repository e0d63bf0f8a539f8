import { once } from 'node:events';
import { chmod, lstat, mkdir, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { ensureVacant, type ProbeDeps } from './probe.ts';

const SOCKET_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** Bytes of a socket's path, without the final NUL. */
const PATH_MAX_BYTES = process.platform === 'linux' ? 107 : 103;

export interface BoundSocket {
  /** Removes the path, unless another has taken it meanwhile. The server itself is closed by its owner. */
  release(): Promise<void>;
}

/**
 * Makes `server` listen on `socket`, mode 0600 in a directory 0700. The path appears only when it is listening and
 * closed to others, so whoever finds a socket that refuses has found a dead one. Throws CONFLICT when somebody holds
 * the path, PATH_INVALID when it cannot be used. To be called by the holder of the state database alone: that settles
 * who of two that start at once may replace a dead socket.
 */
export async function bindSocket(server: Server, deps: ProbeDeps): Promise<BoundSocket> {
  const { socket } = deps;
  checkLength(socket);
  await closeDirectory(dirname(socket));
  await ensureVacant(deps);
  // No longer than the final name, which may be as long as the system allows.
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

async function closeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    const found = await lstat(directory);
    if (!found.isDirectory()) throw notOurs(directory, 'is no directory');
    if (process.getuid !== undefined && found.uid !== process.getuid())
      throw notOurs(directory, 'belongs to another user');
    if ((found.mode & 0o777) !== DIRECTORY_MODE) await chmod(directory, DIRECTORY_MODE);
  } catch (thrown) {
    throw thrown instanceof ContextdError ? thrown : unusable(directory, thrown);
  }
}

/** Binding is synchronous within `listen`, so the umask of the process is narrowed for that moment only. */
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
    remedy: 'Remove it, or set CONTEXTD_HOME to a directory of your own.',
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
