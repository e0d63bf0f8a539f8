import type { ShipPlace } from '../../../audit/shipped.ts';
import type { Destination, ShippedHead } from './destination.ts';

export interface S3Deps {
  readonly place: ShipPlace;
  readonly bucket: string;
  /** Null: AWS. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly prefix: string;
  /** In ~/.aws. Null: the default one, or the role of the machine. */
  readonly profile: string | null;
  /** The name of this machine. */
  readonly host: string;
}

const STALL_MS = 15_000;

/** A bucket, with an object for each head. The client is loaded at the first head: a machine without a bucket never pays for it. */
export function s3Destination(deps: S3Deps): Destination {
  const { place, bucket, endpoint, region, profile } = deps;
  return {
    place,
    async send(head, signal) {
      const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
      const client = new S3Client({
        region,
        ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
        ...(profile === null ? {} : { profile }),
        maxAttempts: 1,
        requestChecksumCalculation: 'WHEN_REQUIRED',
        requestHandler: { connectionTimeout: STALL_MS, requestTimeout: STALL_MS, throwOnRequestTimeout: true },
      });
      const object = {
        Bucket: bucket,
        Key: keyOf(head, deps),
        Body: `${head.line}\n`,
        ContentType: 'application/json',
      };
      try {
        await client.send(new PutObjectCommand(object), { abortSignal: signal });
      } catch (thrown) {
        throw new Error(reasonOf(thrown));
      } finally {
        client.destroy();
      }
    },
  };
}

/** Names in the order of the log. */
function keyOf({ seq, timeMs }: ShippedHead, { prefix, host }: S3Deps): string {
  const time = new Date(timeMs).toISOString().replaceAll(':', '');
  return `${prefix}${host}/${time}-${seq}.jsonl`;
}

function reasonOf(thrown: unknown): string {
  const name = thrown instanceof Error ? thrown.name : '';
  const status = Number(Object(Object(thrown).$metadata).httpStatusCode ?? 0);
  const known = /^[A-Za-z]{1,60}$/.test(name) ? name : 'an error';
  return status === 0 ? `cannot be used (${known})` : `answered ${status} (${known})`;
}
