import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';

/** What is known of the heads that were sent to one place. */
export interface Shipment {
  /** The last record that the place has a head of; 0: none. */
  readonly seq: number;
  /** When that was sent, ISO 8601; "" if nothing was. */
  readonly sent: string;
  /** Why the last attempt failed; "" if it did not. */
  readonly fault: string;
}

/** By place, as `shipPlaces` names it. */
export type Shipments = Readonly<Record<string, Shipment>>;

export const NOT_SHIPPED: Shipment = { seq: 0, sent: '', fault: '' };

/** The part of the settings that says where heads go. */
export interface ShipPlaces {
  readonly otlp_url: string | null;
  readonly s3_bucket: string | null;
  readonly s3_endpoint: string | null;
}

/** The names of the places, for messages. */
export function shipPlaces({ otlp_url, s3_bucket, s3_endpoint }: ShipPlaces): string[] {
  const bucket = s3_endpoint === null ? `s3://${s3_bucket}` : `${s3_endpoint.replace(/\/+$/, '')}/${s3_bucket}`;
  return [...(otlp_url === null ? [] : [otlp_url]), ...(s3_bucket === null ? [] : [bucket])];
}

/** `dir` is Paths.auditDir. Empty if nothing was sent yet, or if the file cannot be read as such. */
export function readShipments(dir: string): Shipments {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(dir), 'utf8'));
    if (!isJsonObject(value)) return {};
    return Object.fromEntries(Object.entries(value).map(([place, one]) => [place, shipmentOf(one)]));
  } catch (error) {
    if (isErrno(error) || error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Throws the error of the file system. */
export function writeShipments(dir: string, shipments: Shipments): void {
  const file = fileOf(dir);
  writeFileSync(`${file}.new`, `${JSON.stringify(shipments)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function fileOf(dir: string): string {
  return join(dirname(dir), 'audit.shipped');
}

function shipmentOf(value: unknown): Shipment {
  const { seq, sent, fault } = isJsonObject(value) ? value : {};
  return {
    seq: typeof seq === 'number' ? seq : 0,
    sent: typeof sent === 'string' ? sent : '',
    fault: typeof fault === 'string' ? fault : '',
  };
}
