import { createHash, generateKeyPairSync, sign } from 'node:crypto';

/** A minisign key pair of a test. */
export function newSigner(): { key: string; sign(bytes: Buffer): string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const id = createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest()
    .subarray(0, 8);
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    key: Buffer.concat([Buffer.from('Ed'), id, raw]).toString('base64'),
    sign(bytes) {
      const signature = sign(null, createHash('blake2b512').update(bytes).digest(), privateKey);
      const global = sign(null, Buffer.concat([signature, Buffer.from('ours')]), privateKey).toString('base64');
      const encoded = Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64');
      return `untrusted comment: x\n${encoded}\ntrusted comment: ours\n${global}\n`;
    },
  };
}
