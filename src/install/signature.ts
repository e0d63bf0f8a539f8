import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { TrustMaterial } from '@sigstore/verify';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { FetchedSignature, TrustedSigners } from './messages.ts';

/** What was signed. */
export interface SignedBytes {
  /** How messages call it. */
  name: string;
  bytes: Buffer;
}

const KEY_BYTES = 42;
const SIGNATURE_BYTES = 74;
/** DER of an Ed25519 public key, before the 32 bytes of the key. */
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');

interface MinisignKey {
  name: string;
  id: Buffer;
  key: KeyObject;
}

/**
 * Verifies a minisign signature. A key that nobody listed cannot be checked: the answer then has its id and is not
 * trusted. Throws INTEGRITY_FAILED if the signature is malformed, or wrong for a listed key.
 */
export function verifyMinisign(signed: SignedBytes, text: string, { minisign }: TrustedSigners): FetchedSignature {
  const [, encoded = '', comment, trustedComment = '', global = ''] =
    /^untrusted comment:[^\n]*\r?\n([A-Za-z0-9+/=]+)\r?\n(trusted comment: ([^\r\n]*))\r?\n([A-Za-z0-9+/=]+)\s*$/.exec(
      text,
    ) ?? [];
  const signature = Buffer.from(encoded, 'base64');
  const algorithm = signature.toString('latin1', 0, 2);
  if (comment === undefined || signature.length !== SIGNATURE_BYTES || !['Ed', 'ED'].includes(algorithm))
    throw wrong(signed, 'is not a minisign signature');
  const [id, ed25519] = [signature.subarray(2, 10), signature.subarray(10)];
  const signer = minisign.map(parseMinisignKey).find((key) => key.id.equals(id));
  const base = { kind: 'minisign', issuer: null } as const;
  if (signer === undefined) return { ...base, identity: `key ${idText(id)}`, trusted: false };
  // "ED" signs a hash, "Ed", the older form, the bytes themselves.
  const message = algorithm === 'ED' ? createHash('blake2b512').update(signed.bytes).digest() : signed.bytes;
  const isRight =
    verify(null, message, signer.key, ed25519) &&
    verify(null, Buffer.concat([ed25519, Buffer.from(trustedComment)]), signer.key, Buffer.from(global, 'base64'));
  if (!isRight) throw wrong(signed, `is not what ${signer.name} (key ${idText(id)}) signed`);
  return { ...base, identity: signer.name, trusted: true };
}

/** Throws SCHEMA_INVALID unless `key` is what minisign prints as a public key. */
export function parseMinisignKey({ name, key }: { name: string; key: string }): MinisignKey {
  const bytes = Buffer.from(key, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('latin1', 0, 2) !== 'Ed' || bytes.toString('base64') !== key)
    throw new ContextdError('SCHEMA_INVALID', `the minisign key of ${name} is not a public key`, {
      remedy: 'Give the second line of the file minisign.pub: 56 characters that begin with RW.',
    });
  const der = Buffer.concat([ED25519_DER, bytes.subarray(10)]);
  return { name, id: bytes.subarray(2, 10), key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

/** As minisign prints it. */
function idText(id: Buffer): string {
  return Buffer.from(id).reverse().toString('hex').toUpperCase();
}

/**
 * Verifies a sigstore bundle: certificate, transparency log, signature, and that it signs these bytes, directly or as a
 * subject of an in-toto statement. Throws INTEGRITY_FAILED unless all of it holds. Trusted if a person listed the
 * identity and its issuer. The libraries are loaded here, because most tools have no such signature.
 */
export async function verifySigstore(
  signed: SignedBytes,
  text: string,
  signers: TrustedSigners,
): Promise<FetchedSignature> {
  const [{ bundleFromJSON }, { toSignedEntity, Verifier }] = await Promise.all([
    import('@sigstore/bundle'),
    import('@sigstore/verify'),
  ]);
  const trust = await trustMaterial(signers.trusted_root ?? (await shippedRoot()));
  try {
    const bundle = bundleFromJSON(JSON.parse(text));
    if (bundle.content.$case === 'dsseEnvelope') checkSubject(signed, bundle.content.dsseEnvelope.payload);
    const verifier = new Verifier(trust, {
      tlogThreshold: 1,
      ctlogThreshold: 1,
      timestampThreshold: 1,
    });
    const { identity } = verifier.verify(toSignedEntity(bundle, signed.bytes));
    const [name, issuer] = [identity?.subjectAlternativeName, identity?.extensions?.issuer];
    if (name === undefined || issuer === undefined) throw new Error('its certificate names no identity');
    const trusted = signers.sigstore.some((one) => one.identity === name && one.issuer === issuer);
    return { kind: 'sigstore', identity: name, issuer, trusted };
  } catch (thrown) {
    throw wrong(
      signed,
      `does not fit its sigstore bundle: ${thrown instanceof Error ? thrown.message.slice(0, 200) : ''}`,
      thrown,
    );
  }
}

/** An attestation signs a statement about files, named by their hashes. */
function checkSubject({ bytes }: SignedBytes, payload: Buffer): void {
  const statement: unknown = JSON.parse(payload.toString('utf8'));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const subjects = isJsonObject(statement) && Array.isArray(statement.subject) ? statement.subject : [];
  const isSubject = subjects.some(
    (one: unknown) => isJsonObject(one) && isJsonObject(one.digest) && one.digest.sha256 === sha256,
  );
  if (!isSubject) throw new Error('its statement is about other files');
}

/** Throws SCHEMA_INVALID unless `text` is a trusted root. */
async function trustMaterial(text: string): Promise<TrustMaterial> {
  const [{ toTrustMaterial }, { TrustedRoot }] = await Promise.all([
    import('@sigstore/verify'),
    import('@sigstore/protobuf-specs'),
  ]);
  try {
    const root = TrustedRoot.fromJSON(JSON.parse(text));
    // Any other JSON is read as a root that trusts nobody.
    if (root.certificateAuthorities.length === 0) throw new Error('it names no certificate authority');
    return toTrustMaterial(root);
  } catch (cause) {
    throw new ContextdError('SCHEMA_INVALID', 'the trusted root of sigstore is not a trusted_root.json', {
      remedy:
        'Name another file with `ctxd config set install.sigstore_root FILE`, or unset it for the public instance.',
      cause,
    });
  }
}

async function shippedRoot(): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return readFile(new URL('./sigstore-trusted-root.json', import.meta.url), 'utf8');
}

function wrong({ name }: SignedBytes, fault: string, cause?: unknown): ContextdError {
  return new ContextdError('INTEGRITY_FAILED', `the signature of ${name}: ${name} ${fault}`, {
    remedy:
      'Do not install this tool: someone changed it after it was signed, or the signature belongs to another version.',
    cause,
  });
}
