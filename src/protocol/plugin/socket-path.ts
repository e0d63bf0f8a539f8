import { posix } from 'node:path';
import { ContextdError } from '../../core/errors.ts';

/** The longest path of a socket, bytes: sun_path of the system without its final NUL. */
const PATH_MAX_BYTES = process.platform === 'darwin' ? 103 : 107;

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * The name of the socket at `address` if it is a plain entry of `directory`. Undefined for any other address, including
 * `..`, subdirectories and the abstract namespace.
 */
export function socketNameIn(directory: string, address: string): string | undefined {
  const prefix = `${posix.normalize(directory).replace(/\/+$/, '')}/`;
  if (!address.startsWith(prefix)) return undefined;
  const name = address.slice(prefix.length);
  return NAME_PATTERN.test(name) ? name : undefined;
}

/** Throws PATH_INVALID if `path` is too long to bind or connect to. */
export function checkSocketPath(path: string): string {
  const bytes = Buffer.byteLength(path);
  if (bytes <= PATH_MAX_BYTES) return path;
  throw new ContextdError(
    'PATH_INVALID',
    `the socket path ${path} has ${bytes} bytes; this system allows ${PATH_MAX_BYTES}`,
    { remedy: 'Set CONTEXTD_HOME to a shorter directory.' },
  );
}
