import { Agent } from 'node:https';
import { Readable } from 'node:stream';
import { ContextdError, type ErrorCode } from '../../core/errors.ts';
import { formatSource, type S3Source } from '../source.ts';
import type { Incoming } from './download.ts';
import type { HttpOptions } from './http.ts';
import { shown } from './names.ts';

/** The region that S3-compatible servers take if a person's AWS settings name none. */
const REGION = 'us-east-1';

/**
 * Requests an object with the person's AWS settings: variables, profile, single sign-on, the machine's role. The client
 * is loaded here, because loading it takes longer than everything else. Null: there is no such object.
 */
export async function getObject(
  source: S3Source,
  key: string,
  { variables, stallMs }: HttpOptions,
): Promise<Incoming | null> {
  const { GetObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { endpoint, bucket } = source;
  // The client itself refuses to work without a region, even with servers that have none.
  const region = await new S3Client({}).config.region().catch(() => REGION);
  const client = new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    followRegionRedirects: true,
    maxAttempts: 2,
    requestHandler: {
      httpsAgent: new Agent({ proxyEnv: { ...variables } }),
      connectionTimeout: stallMs,
      requestTimeout: stallMs,
      socketTimeout: stallMs,
      throwOnRequestTimeout: true,
    },
  });
  try {
    const { Body: body, ContentLength: length } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!(body instanceof Readable)) throw new TypeError('the answer has no body');
    return { body: bodyOf(body, source), length: length ?? null, close: () => void body.destroy() };
  } catch (thrown) {
    if (nameOf(thrown) === 'NoSuchKey') return null;
    throw faultOf(source, thrown);
  }
}

async function* bodyOf(body: Readable, source: S3Source): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (thrown) {
    throw faultOf(source, thrown);
  }
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

const DENIED = [
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'CredentialsProviderError',
  'TokenRefreshRequired',
];

function faultOf(source: S3Source, thrown: unknown): ContextdError {
  const name = nameOf(thrown);
  const status = Number(Object(Object(thrown).$metadata).httpStatusCode ?? 0);
  const place = source.endpoint ?? 'AWS S3';
  const [code, what, remedy] = describe(name, status, source);
  return new ContextdError(code, `${place} ${what}`, {
    remedy,
    details: { source: formatSource(source), status, error: name.slice(0, 100) },
    cause: thrown,
  });
}

function describe(name: string, status: number, { bucket }: S3Source): [ErrorCode, string, string] {
  if (name === 'NoSuchBucket' || status === 404)
    return [
      'NOT_FOUND',
      `has no bucket ${bucket}`,
      'Check the name of the bucket, and the region in your AWS profile.',
    ];
  if (DENIED.includes(name) || status === 401 || status === 403)
    return [
      'AUTH_FAILED',
      `does not let you read from ${bucket}`,
      'Check AWS_PROFILE, or run `aws sso login`: contextd uses your AWS settings.',
    ];
  if (status === 429 || name === 'SlowDown')
    return ['RATE_LIMITED', 'answered that there are too many requests', 'Try again later.'];
  if (name === 'TimeoutError') return ['UPSTREAM_TIMEOUT', 'sent nothing for too long', 'Try again later.'];
  if (status !== 0)
    return ['UPSTREAM_ERROR', `answered ${status} (${shown(name)})`, 'Check the source, or try again later.'];
  return [
    'UPSTREAM_UNAVAILABLE',
    `cannot be reached (${shown(name)})`,
    'Check the address, the network and HTTPS_PROXY.',
  ];
}
