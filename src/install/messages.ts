import { ContextdError, type ErrorCode, isErrorCode } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { FetchLimits } from './limits.ts';
import type { FetchSource } from './source.ts';

/** The steps of a fetch, in their order. */
export const FETCH_STEPS = ['resolve', 'download', 'unpack', 'check'] as const;
export type FetchStep = (typeof FETCH_STEPS)[number];

/** How far a fetch is. */
export interface Progress {
  step: FetchStep;
  /** Bytes done in this step. */
  bytes: number;
  /** Bytes of the whole step; null: unknown. */
  total_bytes: number | null;
  /** Over the last second or so; 0 if nothing moves. */
  bytes_per_second: number;
  /** A few plain words for a person. */
  text: string;
}

/** A signature that was found with the tool, and what it says. */
export interface FetchedSignature {
  kind: 'minisign' | 'sigstore';
  /** Who signed: the name a person gave the minisign key, otherwise its id; of sigstore the identity of the certificate. */
  identity: string;
  /** Of sigstore: who vouched for the identity. */
  issuer: string | null;
  /** True if the signature is correct and a person listed the signer. A wrong signature never gets here. */
  trusted: boolean;
}

/** Signers that a person trusts. */
export interface TrustedSigners {
  /** Public keys as `minisign -G` prints them: 56 characters of base64, with a name for people. */
  minisign: readonly { name: string; key: string }[];
  /** Exact identities: the mail address or URL of the certificate, and the URL of who vouches for it. */
  sigstore: readonly { identity: string; issuer: string }[];
  /** JSON text of a sigstore trusted root; null: the one of the public good instance that contextd ships. */
  trusted_root: string | null;
}

/** A tool on this disk, not yet accepted. */
export interface FetchedTool {
  /** The tool's own folder inside `into`: plain files and directories only. */
  dir: string;
  resolved: {
    /** Canonical, without credentials. */
    source: string;
    /** Of git: the commit, and the ref that led to it, such as `refs/tags/v1`. */
    commit?: string;
    ref?: string;
    /** Of the archive. */
    sha256?: string;
  };
  signature: FetchedSignature | null;
  files: number;
  bytes: number;
}

/** What the child is asked: one line of JSON on its standard input, which stays open as long as the daemon wants it. */
export interface FetchRequest {
  source: FetchSource;
  /** Directory of ours, and the only place the child writes to. */
  into: string;
  limits: FetchLimits;
  expected: ExpectedVersion;
  signers: TrustedSigners;
  requireSignature: boolean;
  home: string;
  /** Variables of the person that lead to proxies and regions. The child's environment has them too. */
  variables: Readonly<Record<string, string>>;
}

/** What a lock file says. A source that leads elsewhere now is CONFLICT before anything is downloaded, if it can be. */
export interface ExpectedVersion {
  commit?: string;
  sha256?: string;
}

/** What the child answers, a line each. */
export type FetchMessage =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; tool: FetchedTool }
  | { kind: 'failed'; code: ErrorCode; message: string; remedy: string | null; details: JsonObject };

/** Characters of one line of the child, and of a text in it. A child that was taken over gets no further than this. */
export const LINE_MAX_CHARS = 16_384;
const TEXT_MAX_CHARS = 2_000;

/** Reads a line of the child, which parses hostile bytes: nothing in it is believed without a check. Null: not a message. */
export function parseMessage(line: string): FetchMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  if (value.kind === 'progress') return parseProgress(value.progress);
  if (value.kind === 'done') return parseDone(value.tool);
  if (value.kind === 'failed') return parseFailed(value);
  return null;
}

function parseProgress(value: unknown): FetchMessage | null {
  if (!isJsonObject(value)) return null;
  const { bytes, total_bytes, bytes_per_second, text } = value;
  const step = FETCH_STEPS.find((one) => one === value.step);
  if (step === undefined || !isCount(bytes) || !isCount(bytes_per_second) || !isText(text)) return null;
  if (total_bytes !== null && !isCount(total_bytes)) return null;
  return { kind: 'progress', progress: { step, bytes, total_bytes, bytes_per_second, text } };
}

function parseDone(value: unknown): FetchMessage | null {
  if (!isJsonObject(value) || !isJsonObject(value.resolved)) return null;
  const { dir, files, bytes } = value;
  const { source, commit, ref, sha256 } = value.resolved;
  const signature = parseSignature(value.signature);
  if (!isText(dir) || !isCount(files) || !isCount(bytes) || !isText(source) || signature === undefined) return null;
  for (const one of [commit, ref, sha256]) if (one !== undefined && !isText(one)) return null;
  const resolved = {
    source,
    ...(isText(commit) ? { commit } : {}),
    ...(isText(ref) ? { ref } : {}),
    ...(isText(sha256) ? { sha256 } : {}),
  };
  return { kind: 'done', tool: { dir, files, bytes, resolved, signature } };
}

/** Undefined: malformed. */
function parseSignature(value: unknown): FetchedSignature | null | undefined {
  if (value === null) return null;
  if (!isJsonObject(value)) return undefined;
  const { kind, identity, issuer, trusted } = value;
  if ((kind !== 'minisign' && kind !== 'sigstore') || !isText(identity) || typeof trusted !== 'boolean')
    return undefined;
  if (issuer !== null && !isText(issuer)) return undefined;
  return { kind, identity, issuer, trusted };
}

function parseFailed({ code, message, remedy, details }: JsonObject): FetchMessage | null {
  if (!isErrorCode(code) || !isText(message) || (remedy !== null && !isText(remedy)) || !isJsonObject(details))
    return null;
  return { kind: 'failed', code, message, remedy, details };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_MAX_CHARS;
}

/** The error as the child sends it. Its cause stays behind: it may hold bytes of the tool. */
export function toFailed(thrown: unknown): FetchMessage {
  const error = ContextdError.from(thrown);
  const details = JSON.parse(JSON.stringify(error.details));
  const [message, remedy] = [error.message, error.remedy ?? null].map((text) => text?.slice(0, TEXT_MAX_CHARS) ?? null);
  return { kind: 'failed', code: error.code, message: message ?? '', remedy: remedy ?? null, details };
}
