import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';

/** The certificates the daemon made at its first start, as PEM. */
export interface Identity {
  ca: Buffer;
  certificate: Buffer;
  key: Buffer;
}

/** Names in the directory of certificates. */
export const CERTIFICATE_FILES = { ca: 'ca.pem', server: 'server.pem', proxy: 'proxy.pem', cli: 'cli.pem' } as const;
const CLI_KEY = 'cli.key';

/** The CLI's own identity. Throws DAEMON_UNAVAILABLE when no daemon has made one yet. */
export async function readCliIdentity(certsDir: string): Promise<Identity> {
  const names = [CERTIFICATE_FILES.ca, CERTIFICATE_FILES.cli, CLI_KEY];
  const [ca, certificate, key] = await Promise.all(names.map((name) => readPem(join(certsDir, name))));
  if (ca === undefined || certificate === undefined || key === undefined)
    throw new Error('three files give three texts');
  return { ca, certificate, key };
}

/** One file of that directory. Throws DAEMON_UNAVAILABLE when it is missing, AUTH_FAILED when it cannot be read. */
export async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) {
      throw new ContextdError('DAEMON_UNAVAILABLE', `no daemon has run here yet: ${file} is missing`, {
        remedy: 'Start it with `ctxd server start`.',
        cause: error,
      });
    }
    throw new ContextdError('AUTH_FAILED', `cannot read ${file} (${isErrno(error) ? error.code : 'unknown error'})`, {
      remedy: 'Run ctxd as the user who runs the daemon.',
      cause: error,
    });
  }
}
