import { access, readFile } from 'node:fs/promises';
import type { KeptHead } from '../../audit/check.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { signerOf } from './ssh-signature.ts';

/** A head with a person's signature. `signed` is the exact text, which holds the head. */
export interface SignedHead {
  readonly signed: string;
  readonly signature: string;
}

export interface KeptHeads {
  readonly heads: readonly KeptHead[];
  /** What was found of the signatures. */
  readonly notes: readonly string[];
  /** Heads that no allowed signer signed: they count for nothing, and are no fault of the log. */
  readonly unproven: readonly string[];
}

/** The heads in a file of JSON lines, whatever else the lines hold. Throws ARGS_INVALID without one. */
export async function readKeptHeads(file: string): Promise<KeptHeads> {
  const heads = (await readText(file)).split('\n').flatMap((line) => headsIn(parsed(line), file));
  if (heads.length > 0) return { heads, notes: [], unproven: [] };
  throw new ContextdError('ARGS_INVALID', `${file} holds no head of an audit log`, {
    remedy: 'Keep what `ctxd audit head` prints, one line for each time.',
  });
}

/** The same for signed heads. What no allowed signer signed proves nothing. */
export async function readSignedHeads(file: string, allowedSigners: string): Promise<KeptHeads> {
  await checkReadable(allowedSigners);
  const { heads: all } = await readKeptHeads(file);
  const heads: KeptHead[] = [];
  const signers = new Map<string, number>();
  for (const { signed, signature } of (await readText(file)).split('\n').flatMap((line) => signedIn(parsed(line)))) {
    const signer = await signerOf(signed, signature, allowedSigners);
    if (signer === null) continue;
    const proven = headsIn(parsed(signed), `${file}, signed by ${signer},`);
    heads.push(...proven);
    signers.set(signer, (signers.get(signer) ?? 0) + proven.length);
  }
  const isProven = ({ seq, mac }: KeptHead): boolean => heads.some((one) => one.seq === seq && one.mac === mac);
  const unproven = all.filter((head) => !isProven(head)).map(({ seq }) => seq);
  return {
    heads,
    notes: [...signers].map(([signer, count]) => `${count} ${count === 1 ? 'head' : 'heads'} signed by ${signer}`),
    unproven: unproven.map(
      (seq) =>
        `the head of record ${seq} in ${file} is not signed by anyone in ${allowedSigners}: it counts for nothing`,
    ),
  };
}

/** Also inside of what a collector wraps around a line. */
function headsIn(value: unknown, from: string): KeptHead[] {
  if (typeof value === 'string') return value.startsWith('{') ? headsIn(parsed(value), from) : [];
  if (Array.isArray(value)) return value.flatMap((inner) => headsIn(inner, from));
  if (!isJsonObject(value)) return [];
  const { seq, mac } = value;
  // An empty log has no line that its head could name.
  if (seq === 0) return [];
  if (typeof seq === 'number' && typeof mac === 'string') return [{ seq, mac, from }];
  return Object.values(value).flatMap((inner) => headsIn(inner, from));
}

function signedIn(value: unknown): SignedHead[] {
  if (typeof value === 'string') return value.startsWith('{') ? signedIn(parsed(value)) : [];
  if (Array.isArray(value)) return value.flatMap(signedIn);
  if (!isJsonObject(value)) return [];
  const { signed, signature } = value;
  if (typeof signed === 'string' && typeof signature === 'string') return [{ signed, signature }];
  return Object.values(value).flatMap(signedIn);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function checkReadable(file: string): Promise<void> {
  try {
    await access(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): unknown {
  if (!isErrno(error)) return error;
  return new ContextdError('PATH_NOT_FOUND', `${file} cannot be read: ${error.message}`, { remedy: 'Check the path.' });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
