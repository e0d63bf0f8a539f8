import { createHash } from 'node:crypto';
import type { Finding } from '../finding.ts';

/** A private key of Bitcoin, its forks and test networks in the format for import: 51 or 52 characters of base58. */
const KEY = /(?<![A-Za-z0-9+/])[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}(?![A-Za-z0-9+/])/g;
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_BYTES = 4;
/** Version, key, perhaps a mark that the public key is compressed, and checksum. */
const SIZES: ReadonlySet<number> = new Set([37, 38]);

/** Finds private keys in wallet import format. The checksum in each tells them from other text in base58. */
export function findWalletKeys(text: string): Finding[] {
  const found: Finding[] = [];
  for (const { 0: key, index } of text.matchAll(KEY))
    if (hasChecksum(key)) found.push({ rule: 'wallet-import-format', start: index, end: index + key.length });
  return found;
}

function hasChecksum(key: string): boolean {
  let number = 0n;
  for (const digit of key) number = number * 58n + BigInt(DIGITS.indexOf(digit));
  const hex = number.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  if (!SIZES.has(bytes.length)) return false;
  const body = bytes.subarray(0, -CHECKSUM_BYTES);
  return sha256(sha256(body)).subarray(0, CHECKSUM_BYTES).equals(bytes.subarray(-CHECKSUM_BYTES));
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
