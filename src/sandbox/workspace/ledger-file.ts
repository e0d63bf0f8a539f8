import {
  chmodSync,
  closeSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { RawPath } from './raw-path.ts';

/** Something that was set aside. Paths are relative to the workspace, absolute outside it. */
export interface LedgerItem {
  readonly id: string;
  readonly path: RawPath;
  readonly moved: RawPath;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface LedgerAcceptance {
  readonly path: RawPath;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface LedgerContent {
  readonly items: readonly LedgerItem[];
  readonly accepted: readonly LedgerAcceptance[];
}

const ID = /^[0-9a-f]{8}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Null if there is no file. Throws for one that cannot be read or does not have exactly the shape that is written. */
export function readLedger(file: string): LedgerContent | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return null;
    throw cause;
  }
  const value: unknown = JSON.parse(text);
  if (!hasKeys(value, ['workspace', 'items', 'accepted']) || typeof value.workspace !== 'string') throw misshapen();
  return { items: listOf(value.items, toItem), accepted: listOf(value.accepted, toAcceptance) };
}

/** Written beside itself and renamed, mode 0600 in a directory of mode 0700 whatever the umask is. */
export function writeLedger(file: string, workspace: RawPath, { items, accepted }: LedgerContent): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const draft = `${file}.new`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeFileSync(fd, JSON.stringify({ workspace, items, accepted }));
  } finally {
    closeSync(fd);
  }
  renameSync(draft, file);
}

/** Keeps a file that cannot be used beside the next one, for a person to look at. */
export function keepUnusable(file: string): void {
  try {
    renameSync(file, `${file}.unusable`);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}

function toItem(value: unknown): LedgerItem {
  if (!hasKeys(value, ['id', 'path', 'moved', 'reason', 'at'])) throw misshapen();
  const { id, path, moved, reason, at } = value;
  if (typeof id !== 'string' || !ID.test(id) || !isRawPath(path) || !isRawPath(moved)) throw misshapen();
  if (typeof reason !== 'string' || typeof at !== 'number') throw misshapen();
  return { id, path, moved, reason, at };
}

function toAcceptance(value: unknown): LedgerAcceptance {
  if (!hasKeys(value, ['path', 'sha256', 'at'])) throw misshapen();
  const { path, sha256, at } = value;
  if (!isRawPath(path) || typeof sha256 !== 'string' || !SHA256.test(sha256) || typeof at !== 'number')
    throw misshapen();
  return { path, sha256, at };
}

function listOf<T>(value: unknown, convert: (one: unknown) => T): T[] {
  if (!Array.isArray(value)) throw misshapen();
  return value.map(convert);
}

function hasKeys(value: unknown, keys: readonly string[]): value is Record<string, unknown> {
  return isJsonObject(value) && Object.keys(value).length === keys.length && keys.every((key) => key in value);
}

/** One character for each byte, none of them NUL, and no way up. */
function isRawPath(value: unknown): value is RawPath {
  if (typeof value !== 'string' || value === '' || /[\u0100-\uffff]/.test(value)) return false;
  return !value.includes('\0') && !value.split('/').includes('..');
}

function misshapen(): Error {
  return new Error('it does not have the shape of a quarantine ledger');
}
