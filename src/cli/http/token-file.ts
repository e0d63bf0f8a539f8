import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { writePrivateFile } from '../files/private-file.ts';

/** What a client of the HTTP door needs: where it is, the token, and what proves the daemon (docs/http.md). */
export interface TokenFile {
  name: string;
  url: string;
  token: string;
  /** Names the token in GET /v1/proof. */
  id: string;
  /** The key of the daemon's proofs for this token, hexadecimal. */
  proof_key: string;
  /** SHA-256 of the certificate, hexadecimal; "" without TLS. */
  certificate_sha256: string;
}

type Place = Pick<Paths, 'httpTokensDir'>;

export function tokenFilePath(paths: Place, name: string): string {
  return join(paths.httpTokensDir, `${name}.json`);
}

/** Undefined if there is no file. Throws SCHEMA_INVALID for one that ctxd did not write. */
export async function readTokenFile(paths: Place, name: string): Promise<TokenFile | undefined> {
  const file = tokenFilePath(paths, name);
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (isTokenFile(value)) return value;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    if (isErrno(thrown)) throw thrown;
  }
  throw new ContextdError('SCHEMA_INVALID', `${file} is not a file of a token`, {
    remedy: 'Remove it, or replace the token with --rotate.',
  });
}

function isTokenFile(value: unknown): value is TokenFile {
  const names = ['name', 'url', 'token', 'id', 'proof_key', 'certificate_sha256'];
  return isJsonObject(value) && names.every((name) => typeof value[name] === 'string');
}

export async function writeTokenFile(paths: Place, content: TokenFile): Promise<void> {
  await writePrivateFile(tokenFilePath(paths, content.name), `${JSON.stringify(content, null, 2)}\n`);
}

export async function removeTokenFile(paths: Place, name: string): Promise<void> {
  await rm(tokenFilePath(paths, name), { force: true });
}
