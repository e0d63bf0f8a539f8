import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { shownAddress } from '../core/shown-address.ts';

/** What is known of the heads that were sent to one place. */
export interface Shipment {
  /** The name of the place, for messages. */
  readonly place: string;
  /** The last record that the place has a head of; 0: none. */
  readonly seq: number;
  /** When that was sent, ISO 8601; "" if nothing was. */
  readonly sent: string;
  /** Why the last attempt failed; "" if it did not. */
  readonly fault: string;
}

/** By `ShipPlace.key`. */
export type Shipments = Readonly<Record<string, Shipment>>;

export const NOT_SHIPPED: Omit<Shipment, 'place'> = { seq: 0, sent: '', fault: '' };

/** The part of the settings that says where heads go. */
export interface ShipPlaces {
  readonly otlp_url: string | null;
  readonly s3_bucket: string | null;
  readonly s3_endpoint: string | null;
}

/** A place that heads are sent to. */
export interface ShipPlace {
  /** Tells addresses apart and shows nothing of them. */
  readonly key: string;
  /** For messages and logs. An address may hold a token in its path: the name has none. */
  readonly name: string;
}

export function shipPlaces({ otlp_url: url, s3_bucket: bucket, s3_endpoint: endpoint }: ShipPlaces): ShipPlace[] {
  return [
    ...(url === null ? [] : [{ key: keyOf(url), name: shownAddress(url) }]),
    ...(bucket === null ? [] : [bucketPlace(bucket, endpoint)]),
  ];
}

function bucketPlace(bucket: string, endpoint: string | null): ShipPlace {
  if (endpoint === null) return { key: keyOf(`s3://${bucket}`), name: `s3://${bucket}` };
  const name = `${shownAddress(endpoint).replace(/\/$/, '')}/${bucket}`;
  return { key: keyOf(`${endpoint}\n${bucket}`), name };
}

function keyOf(address: string): string {
  return createHash('sha256').update(address).digest('hex');
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
  const { place, seq, sent, fault } = isJsonObject(value) ? value : {};
  return {
    place: typeof place === 'string' ? place : '',
    seq: typeof seq === 'number' ? seq : 0,
    sent: typeof sent === 'string' ? sent : '',
    fault: typeof fault === 'string' ? fault : '',
  };
}
