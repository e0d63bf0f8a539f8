import { createPublicKey, X509Certificate } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import type { StatusResponse__Output as StatusResponse } from '../../protocol/generated/management.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { CERTIFICATE_FILES, readPem, withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { provenStanding } from '../http/prove.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';
import { fail, ok, warn } from './check.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const RENEW_DAYS = 7;
const RESTART = 'Run `ctxd server restart`.';

/** The daemon answers and has the installed version. */
export async function checkDaemon(context: CliContext): Promise<Check> {
  const status = await withClient(context.paths, (client) => client.serverStatus({}));
  const what = `pid ${status.pid}, version ${status.version}, up ${Math.floor(status.uptime_ms / 1000)} s`;
  const other = differs(status, context.version);
  return other === undefined ? ok('daemon', what) : warn('daemon', `${what}; ${other}`, RESTART);
}

function differs(status: StatusResponse, version: string): string | undefined {
  if (status.version !== version) return `installed is ${version}`;
  return status.protocol_version === PROTOCOL_VERSION ? undefined : `it speaks protocol ${status.protocol_version}`;
}

/** The path is a socket that only its owner may open. */
export async function checkSocket(context: CliContext): Promise<Check> {
  const { socket } = context.paths;
  try {
    const [stats, directory] = await Promise.all([lstat(socket), lstat(dirname(socket))]);
    if (!stats.isSocket()) return fail('socket', `${socket} is not a socket`, 'Remove it, then `ctxd server restart`.');
    const [mode, around] = [stats.mode & 0o777, directory.mode & 0o777];
    if (mode === 0o600 && around === 0o700) return ok('socket', `${socket}, mode 0600 in 0700`);
    return fail('socket', `${socket} has mode ${mode.toString(8)} in ${around.toString(8)}, not 600 in 700`, RESTART);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    return fail('socket', `${socket} is missing`, 'Run `ctxd server start`.');
  }
}

/** If a person turned the HTTP API on, it listens, and what listens there is this daemon. */
export async function checkHttp(context: CliContext): Promise<Check[]> {
  const { enabled, url, why, remedy } = await withClient(context.paths, (client) => client.httpStatus({ nonce: '' }));
  if (!enabled) return [];
  if (url === '') return [warn('http', why, remedy)];
  await provenStanding(context);
  return [ok('http', url)];
}

/** Our authority signed every certificate, and none expires soon. */
export async function checkCertificates(context: CliContext): Promise<Check> {
  const { ca, ...others } = CERTIFICATE_FILES;
  const authority = await readCertificate(join(context.paths.certsDir, ca));
  const key = createPublicKey(authority.publicKey.export({ type: 'spki', format: 'pem' }));
  let [soonest, latest] = [authority, authority];
  for (const name of Object.values(others)) {
    const certificate = await readCertificate(join(context.paths.certsDir, name));
    if (!certificate.verify(key)) return fail('certificates', `${name} was not signed by ${ca}`, RESTART);
    if (certificate.validToDate < soonest.validToDate) soonest = certificate;
    if (certificate.validFromDate > latest.validFromDate) latest = certificate;
  }
  if (latest.validFromDate.getTime() > Date.now())
    return fail('certificates', `not valid before ${latest.validFromDate.toISOString()}: check the clock`, RESTART);
  const days = Math.floor((soonest.validToDate.getTime() - Date.now()) / DAY_MS);
  const until = `valid until ${soonest.validToDate.toISOString().slice(0, 10)}`;
  if (days < 0) return fail('certificates', `expired ${until.slice('valid until '.length)}`, RESTART);
  return days < RENEW_DAYS ? warn('certificates', until, `${RESTART} It renews them.`) : ok('certificates', until);
}

async function readCertificate(file: string): Promise<X509Certificate> {
  return new X509Certificate(await readPem(file));
}

/** The daemon's checks of its own parts, with the isolation that calls of the current project get. */
export async function checkParts(context: CliContext): Promise<Check[]> {
  const root = (await findProjectRoot(context.cwd)) ?? '';
  const { checks } = await withClient(context.paths, (client) => client.checkHealth({ project_root: root }));
  return checks.map(({ name, detail, remedy, status }) => ({ name, detail, remedy, status: statusOf(status) }));
}

function statusOf(status: string): Check['status'] {
  return status === 'ok' || status === 'warn' ? status : 'fail';
}
