import { createHash } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { FetchLimits } from '../limits.ts';
import type { ExpectedVersion } from '../messages.ts';
import type { Meter } from './meter.ts';
import { tooLarge } from './names.ts';

/** What a server sends: bytes, and how many it says they are. */
export interface Incoming {
  body: AsyncIterable<Uint8Array>;
  length: number | null;
  close(): void;
}

/** Writes what a server sends to a new file and returns its sha256. Throws PAYLOAD_TOO_LARGE beyond `limits.bytes`. */
export async function saveTo(
  path: string,
  name: string,
  incoming: Incoming,
  limits: FetchLimits,
  meter: Meter,
): Promise<string> {
  const { body, length, close } = incoming;
  const handle = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    if (length !== null && length > limits.bytes)
      throw tooLarge(`${name} has ${length} bytes, more than ${limits.bytes}`);
    meter.begin('download', `Downloading ${name}`, length);
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > limits.bytes) throw tooLarge(`${name} has more than ${limits.bytes} bytes`);
      hash.update(chunk);
      await handle.writeFile(chunk);
      meter.set(bytes);
    }
    if (length !== null && bytes !== length) throw shortened(name, bytes, length);
  } finally {
    close();
    await handle.close();
  }
  return hash.digest('hex');
}

/** Throws INTEGRITY_FAILED if the source names another checksum, CONFLICT if the lock file does. */
export function checkSum(name: string, sha256: string, wanted: string | null, expected: ExpectedVersion): void {
  if (wanted !== null && wanted !== sha256)
    throw new ContextdError('INTEGRITY_FAILED', `${name} has the sha256 ${sha256}, not ${wanted} as its source says`, {
      remedy:
        'Ask the author for the right checksum. If it is this one, someone changed the archive: do not install it.',
      details: { expected_sha256: wanted, sha256 },
    });
  if (expected.sha256 !== undefined && expected.sha256 !== sha256)
    throw new ContextdError('CONFLICT', `${name} has the sha256 ${sha256}; the lock file has ${expected.sha256}`, {
      remedy: 'The archive was replaced since. Look at what changed, then update the tool: ctxd tool update.',
      details: { expected_sha256: expected.sha256, sha256 },
    });
}

function shortened(name: string, bytes: number, length: number): ContextdError {
  return new ContextdError('UPSTREAM_UNAVAILABLE', `${name} ended after ${bytes} of ${length} bytes`, {
    remedy: 'Try again.',
  });
}

/** sha256 of a local archive. Throws PATH_NOT_FOUND. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const isFile = (await handle.stat()).isFile();
      if (!isFile) throw noArchive(path, 'it is not a file');
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk);
      return hash.digest('hex');
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENXIO')) throw thrown;
    throw noArchive(path, thrown.code ?? '');
  }
}

function noArchive(path: string, fault: string): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `cannot read the archive ${path}: ${fault}`, {
    remedy: 'Give the path of an archive that contextd may read. A folder must not end with .tar.gz, .tgz or .zip.',
  });
}
