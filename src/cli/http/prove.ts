import { randomBytes } from 'node:crypto';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { TLSSocket } from 'node:tls';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { HttpStanding__Output as HttpStanding } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';

const NONCE_BYTES = 32;
const ANSWER_MS = 5_000;
const ANSWER_MAX_BYTES = 4_096;

/**
 * Where the HTTP door listens, once the listener there has proved that it is the daemon: another user of the machine may
 * hold the port. Throws CONFLICT with the daemon's reason if it does not listen, AUTH_FAILED if somebody else does.
 */
export async function provenStanding(context: CliContext): Promise<HttpStanding> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const standing = await withClient(context.paths, (client) => client.httpStatus({ nonce }));
  if (standing.url === '') throw new ContextdError('CONFLICT', standing.why, { remedy: standing.remedy });
  const answered = await proofFrom(standing, nonce).catch((cause: unknown) => {
    throw notProven(standing.url, cause);
  });
  if (answered !== standing.proof) throw notProven(standing.url);
  return standing;
}

function notProven(url: string, cause?: unknown): ContextdError {
  return new ContextdError('AUTH_FAILED', `what listens at ${url} did not prove that it is your contextd`, {
    remedy: 'Send it no token. Run `ctxd server restart`, then `ctxd doctor`.',
    cause,
  });
}

async function proofFrom({ url, certificate_sha256 }: HttpStanding, nonce: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const target = `${url}/v1/proof?nonce=${nonce}`;
  const options = { agent: false, timeout: ANSWER_MS, signal: AbortSignal.timeout(ANSWER_MS) };
  // The daemon named the certificate; who signed it does not matter.
  const request =
    certificate_sha256 === ''
      ? getPlain(target, options, resolve)
      : getSecure(target, { ...options, rejectUnauthorized: false }, resolve);
  request.on('error', reject);
  const response = await promise;
  if (certificate_sha256 !== '' && certificateOf(response) !== certificate_sha256)
    throw new Error('another certificate');
  const value: unknown = JSON.parse(await textOf(response));
  return isJsonObject(value) ? value.proof : undefined;
}

function certificateOf({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  return socket.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toLowerCase();
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > ANSWER_MAX_BYTES) throw new Error('too long an answer');
  }
  return text;
}
