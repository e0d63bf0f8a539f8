import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { FetchedSignature, FetchRequest, TrustedSigners } from '../messages.ts';
import { type SignedBytes, verifyMinisign, verifySigstore } from '../signature.ts';
import { formatSource } from '../source.ts';

/** Reads the file that has the archive's name and `suffix`; null: there is no such file. */
export type ReadBeside = (suffix: string) => Promise<Buffer | null>;

const [MINISIGN, SIGSTORE] = ['.minisig', '.sigstore.json'];
/** The list that stands for the files of a tool in a folder, as `sha256sum` prints it. */
const LIST = 'SHA256SUMS';

export async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return null;
    throw thrown;
  }
}

/** Checks the signature beside an archive; null if there is no signature. Throws INTEGRITY_FAILED for a wrong one. */
export async function signatureOfArchive(
  path: string,
  sha256: string,
  readBeside: ReadBeside,
  signers: TrustedSigners,
): Promise<FetchedSignature | null> {
  const read = async (): Promise<SignedBytes> => {
    const bytes = await readFile(path);
    if (createHash('sha256').update(bytes).digest('hex') === sha256) return { name: 'the archive', bytes };
    throw new ContextdError('CONFLICT', `${path} was changed while it was read`, { remedy: 'Try again.' });
  };
  return verifyBeside(read, readBeside, signers);
}

/** The same for a tool in a folder: the signature is over its file SHA256SUMS, which must list exactly the tool's files. */
export async function signatureOfFolder(
  dir: string,
  inside: string,
  sums: ReadonlyMap<string, string>,
  signers: TrustedSigners,
): Promise<FetchedSignature | null> {
  const read = async (): Promise<SignedBytes> => {
    const bytes = await readFile(join(dir, LIST));
    checkList(bytes.toString('utf8'), sumsOf(inside, sums));
    return { name: LIST, bytes };
  };
  if (!sums.has(inside === '' ? LIST : `${inside}/${LIST}`)) return null;
  return verifyBeside(read, (suffix) => readIfThere(join(dir, `${LIST}${suffix}`)), signers);
}

/** A signature of someone a person trusts counts first. */
async function verifyBeside(
  read: () => Promise<SignedBytes>,
  readBeside: ReadBeside,
  signers: TrustedSigners,
): Promise<FetchedSignature | null> {
  const [minisign = null, sigstore = null] = await Promise.all(
    [MINISIGN, SIGSTORE].map((suffix) => readQuietly(readBeside, suffix)),
  );
  if (minisign === null && sigstore === null) return null;
  const signed = await read();
  const found = [
    ...(minisign === null ? [] : [verifyMinisign(signed, minisign.toString('utf8'), signers)]),
    ...(sigstore === null ? [] : [await verifySigstore(signed, sigstore.toString('utf8'), signers)]),
  ];
  return found.find(({ trusted }) => trusted) ?? found[0] ?? null;
}

/**
 * Some servers answer 403, or with a web page, for what does not exist. Neither is worse than no signature: anyone who
 * can forge such an answer can also leave the signature out.
 */
async function readQuietly(readBeside: ReadBeside, suffix: string): Promise<Buffer | null> {
  try {
    const bytes = await readBeside(suffix);
    return bytes?.toString('latin1', 0, 512).trimStart().startsWith('<') === true ? null : bytes;
  } catch (thrown) {
    if (thrown instanceof ContextdError && thrown.code === 'AUTH_FAILED') return null;
    throw thrown;
  }
}

/** The files that the list must name: all but itself and its signatures. */
function sumsOf(inside: string, sums: ReadonlyMap<string, string>): Map<string, string> {
  const prefix = inside === '' ? '' : `${inside}/`;
  const own = [LIST, `${LIST}${MINISIGN}`, `${LIST}${SIGSTORE}`];
  const files = [...sums].flatMap(([path, sum]) =>
    path.startsWith(prefix) ? [[path.slice(prefix.length), sum] as const] : [],
  );
  return new Map(files.filter(([path]) => !own.includes(path)));
}

function checkList(text: string, wanted: ReadonlyMap<string, string>): void {
  const listed = new Map<string, string>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, sum = '', path = ''] = /^([0-9a-f]{64}) [ *](?:\.\/)?(.+)$/.exec(line) ?? [];
    if (path === '' || listed.has(path)) throw listFault(`has the line ${JSON.stringify(line.slice(0, 200))}`);
    listed.set(path, sum);
  }
  for (const [path, sum] of wanted)
    if (listed.get(path) !== sum)
      throw listFault(listed.has(path) ? `has another sha256 for ${path}` : `does not list ${path}`);
  for (const path of listed.keys()) if (!wanted.has(path)) throw listFault(`lists ${path}, which is not there`);
}

function listFault(fault: string): ContextdError {
  return new ContextdError('INTEGRITY_FAILED', `the signed list ${LIST} ${fault}`, {
    remedy: `Do not install this tool: it was changed after it was signed. Its author makes the list with sha256sum.`,
  });
}

/** Throws INTEGRITY_FAILED if a person wants a signature of a trusted signer and the tool has none. */
export function checkRequired({ source, requireSignature }: FetchRequest, signature: FetchedSignature | null): void {
  if (!requireSignature || signature?.trusted === true) return;
  const text = formatSource(source);
  const what =
    signature === null ? 'has no signature' : `is signed by ${signature.identity}, whom nobody listed as trusted`;
  throw new ContextdError('INTEGRITY_FAILED', `${text} ${what}, and install.require_signature is set`, {
    remedy: 'If you trust the signer, add it to install.trusted_keys; otherwise do not install the tool.',
  });
}
