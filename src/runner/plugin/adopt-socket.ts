import { randomBytes } from 'node:crypto';
import { lstat, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { checkSocketPath } from '../../protocol/plugin/socket-path.ts';

/**
 * Moves the socket `name` out of the tool's reach and returns its new path. Once it is in `privateDir` it is looked at:
 * what is dialled is what was looked at, and no link to a socket of the host. Throws TOOL_CRASHED when it is not a
 * socket.
 */
export async function adoptSocket(name: string, dirs: { socketDir: string; privateDir: string }): Promise<string> {
  const offered = join(dirs.socketDir, name);
  const adopted = newSocketPath(dirs.privateDir);
  try {
    // Before the move too: a directory is better left where it is.
    if (!(await lstat(offered)).isSocket()) throw notSocket(name);
    await rename(offered, adopted);
    if ((await lstat(adopted)).isSocket()) return adopted;
  } catch (thrown) {
    throw thrown instanceof ContextdError ? thrown : unreachable(name, thrown);
  }
  await unlink(adopted).catch(() => {});
  throw notSocket(name);
}

/** A path in `dir` that nothing has yet. */
export function newSocketPath(dir: string): string {
  return checkSocketPath(join(dir, `s${randomBytes(6).toString('hex')}`));
}

function notSocket(name: string): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool announced ${name}, which is not a socket`);
}

function unreachable(name: string, cause: unknown): ContextdError {
  const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown fault';
  return new ContextdError(
    'TOOL_CRASHED',
    `the tool announced the socket ${name}, which cannot be taken over (${why})`,
    {
      cause,
    },
  );
}
