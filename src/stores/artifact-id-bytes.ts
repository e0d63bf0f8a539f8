import { ARTIFACT_ID_PATTERN } from '../core/ids.ts';

/** The alphabet of `newArtifactId`: 5 bits a character. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const PREFIX = 'art_';

/** The 80 random bits of an artifact id as 10 bytes. */
export function packArtifactId(id: string): Buffer {
  if (!ARTIFACT_ID_PATTERN.test(id)) throw new RangeError(`not an artifact id: ${id}`);
  let bits = 0n;
  for (const character of id.slice(PREFIX.length)) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(character));
  return Buffer.from(bits.toString(16).padStart(20, '0'), 'hex');
}

export function unpackArtifactId(bytes: Buffer): string {
  let bits = BigInt(`0x${bytes.toString('hex')}`);
  let id = '';
  for (let i = 0; i < 16; i++) {
    id = ALPHABET.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return PREFIX + id;
}
