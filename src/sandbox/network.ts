import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { SandboxNetwork } from './sandbox.ts';

/** A network namespace that a sandbox may join. */
export interface CheckedNetwork {
  readonly path: string;
  /** Device and inode number of the namespace: a different one at the same path is refused. */
  readonly identity: string;
}

/** Null for `none`. Throws SANDBOX_UNAVAILABLE if nothing is at the path or the namespace is the host's. */
export function checkNetwork(network: SandboxNetwork): CheckedNetwork | null {
  if (network === 'none') return null;
  const identity = networkState(network);
  if (identity === '') throw unusable(network.namespace, 'it does not exist');
  if (identity === networkState({ namespace: '/proc/self/ns/net' })) {
    throw unusable(network.namespace, "it is the host's own network");
  }
  return { path: network.namespace, identity };
}

/** Changes if another namespace is at the path; '' for `none` and if nothing is there. */
export function networkState(network: SandboxNetwork): string {
  if (network === 'none') return '';
  try {
    return identityOf(statSync(network.namespace));
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  }
}

/** A descriptor of the namespace that was checked. The caller closes it. */
export function openNetwork({ path, identity }: CheckedNetwork): number {
  const fd = openSync(path, constants.O_RDONLY);
  if (identityOf(fstatSync(fd)) === identity) return fd;
  closeSync(fd);
  throw unusable(path, 'it was replaced while a sandbox was being started');
}

function identityOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

function unusable(path: string, why: string): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', `cannot join the network namespace ${path}: ${why}`, {
    remedy: 'Restart contextd; until then only tools without network run.',
  });
}
