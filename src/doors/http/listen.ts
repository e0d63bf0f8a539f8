import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Config } from '../../config/schema.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { OwnNames } from './hardening.ts';

export interface Tls {
  certificate: string;
  key: string;
  parsed: X509Certificate;
  /** SHA-256 of the certificate, hexadecimal. */
  sha256: string;
}

/** The certificate and key of the settings, or null. Throws SCHEMA_INVALID, PATH_INVALID or PERMISSION_DENIED. */
export async function readTls(config: Config['http']): Promise<Tls | null> {
  const { host, tls_certificate: certificateFile, tls_key: keyFile } = config;
  if (isIP(host) === 0) {
    throw new ContextdError('ARGS_INVALID', `http.host is not an address: ${host}`, {
      remedy: 'Set it to 127.0.0.1: `ctxd config unset http.host`.',
    });
  }
  if (certificateFile === null || keyFile === null) {
    if (isLoopback(host) && certificateFile === keyFile) return null;
    throw new ContextdError('PERMISSION_DENIED', `http.host is ${host}, and there is no certificate with a key`, {
      remedy: 'Set http.tls_certificate and http.tls_key, or leave http.host at 127.0.0.1.',
    });
  }
  const [certificate, key] = await Promise.all([readPem(certificateFile), readPem(keyFile)]);
  try {
    const parsed = new X509Certificate(certificate);
    return { certificate, key, parsed, sha256: createHash('sha256').update(parsed.raw).digest('hex') };
  } catch (cause) {
    throw new ContextdError('SCHEMA_INVALID', `${certificateFile} holds no certificate`, {
      remedy: 'Set http.tls_certificate to a PEM file.',
      cause,
    });
  }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = isErrno(cause) ? cause.code : 'unknown error';
    throw new ContextdError('PATH_INVALID', `cannot read ${file} (${code})`, {
      remedy: 'Make it readable for the user who runs the daemon.',
      cause,
    });
  }
}

function isLoopback(host: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

/** Makes the server listen at the port of the settings, or at the one that was chosen before, or at a free one. */
export async function listen(server: Server, config: Config['http'], portFile: string): Promise<number> {
  const port = config.port ?? (await keptPort(portFile));
  try {
    server.listen({ host: config.host, port: port ?? 0, exclusive: true });
    await once(server, 'listening');
  } catch (thrown) {
    throw notListening(config.host, port, thrown);
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server that listens at a port has one');
  if (config.port === null && port === null) await keepPort(portFile, address.port);
  return address.port;
}

async function keptPort(file: string): Promise<number | null> {
  try {
    const port = Number(await readFile(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    throw thrown;
  }
}

async function keepPort(file: string, port: number): Promise<void> {
  await writeFile(`${file}.tmp`, `${port}\n`, { mode: 0o600 });
  await rename(`${file}.tmp`, file);
}

function notListening(host: string, port: number | null, cause: unknown): ContextdError {
  if (isErrno(cause, 'EADDRINUSE')) {
    return new ContextdError(
      'CONFLICT',
      `port ${port} of ${host} is taken by another program; contextd cannot tell which`,
      {
        remedy: 'End that program and run `ctxd server restart`, or choose a port: `ctxd config set http.port 8423`.',
        details: { host, port },
        cause,
      },
    );
  }
  const code = isErrno(cause) ? cause.code : 'unknown error';
  return new ContextdError('PATH_INVALID', `cannot listen at port ${port ?? 0} of ${host} (${code})`, {
    remedy: 'Change http.host and http.port: `ctxd config list`.',
    details: { host, port },
    cause,
  });
}

/** The address of the door as `host:port`, and what else it may be called. */
export function namesOf(host: string, port: number, tls: Tls | null): OwnNames & { host: string; url: string } {
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  if (tls === null) {
    const own = `${shown}:${port}`;
    return { scheme: 'http', host: own, url: `http://${own}`, isOwn: (name) => name === own };
  }
  const isNamed = (name: string): boolean =>
    isIP(name) === 0 ? tls.parsed.checkHost(name) !== undefined : tls.parsed.checkIP(name) !== undefined;
  const [named = shown] = [host, ...subjectNames(tls.parsed)].filter(isNamed);
  const own = `${isIP(named) === 6 ? `[${named}]` : named}:${port}`;
  return {
    scheme: 'https',
    host: own,
    url: `https://${own}`,
    isOwn: (name) =>
      name.endsWith(`:${port}`) && isNamed(name.slice(0, -`:${port}`.length).replace(/^\[(.*)\]$/, '$1')),
  };
}

/** A wildcard is a pattern, not a name to call. */
function subjectNames({ subjectAltName = '' }: X509Certificate): string[] {
  const names = subjectAltName.split(', ').map((one) => one.replace(/^(?:DNS|IP Address):/, ''));
  return names.filter((name) => !name.startsWith('*'));
}
