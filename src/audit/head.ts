import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { jsonObjectIn } from '../core/json.ts';
import { CHAIN_START, KEY_BYTES, type Link, macOf } from './chain.ts';

/** The last line that is on disk, and where it ends. */
export interface Head extends Link {
  /** Number of the segment, from 1. */
  readonly segment: number;
  /** File name of the segment, and the bytes it has at least. */
  readonly name: string;
  readonly bytes: number;
}

/** Where the parts beside the segments are. */
export interface ChainPlaces {
  readonly keyFile: string;
  readonly headFile: string;
}

/** `dir` is Paths.auditDir. Both are outside of it, so that a copy of the log does not hold the key. */
export function chainPlaces(dir: string): ChainPlaces {
  return { keyFile: join(dirname(dir), 'audit.key'), headFile: join(dirname(dir), 'audit.head') };
}

const EMPTY_LOG: Head = { ...CHAIN_START, segment: 0, name: '', bytes: 0 };
const LABEL = 'contextd audit head 1\n';
/** One sector, so that it is written whole. */
const FILE_BYTES = 512;

/** `missing`; `damaged`: it is not what the owner of the key wrote. */
export function readHead({ headFile }: ChainPlaces, key: Buffer): Head | 'missing' | 'damaged' {
  const text = readIfThere(headFile)?.toString('utf8');
  if (text === undefined) return 'missing';
  const [covered = '', mac = ''] = text.trimEnd().split('\n');
  if (mac !== macOf(key, '', covered, LABEL)) return 'damaged';
  const { seq, mac: lineMac, segment, name, bytes } = jsonObjectIn(covered);
  if (typeof seq !== 'number' || typeof segment !== 'number' || typeof bytes !== 'number') return 'damaged';
  if (typeof name !== 'string' || typeof lineMac !== 'string') return 'damaged';
  return { seq, mac: lineMac, segment, name, bytes };
}

/** An open head file. It is not synced: after a power loss it may name an older line, which proves less but nothing false. */
export class HeadFile {
  readonly #fd: number;
  readonly #key: Buffer;

  /** Throws the error of the file system. */
  constructor({ headFile }: ChainPlaces, key: Buffer) {
    this.#fd = openSync(headFile, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    this.#key = key;
  }

  write(head: Head): void {
    const covered = JSON.stringify(head);
    const text = `${covered}\n${macOf(this.#key, '', covered, LABEL)}`.padEnd(FILE_BYTES - 1);
    writeSync(this.#fd, `${text}\n`, 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Null if the file is missing. Throws AUDIT_FAILED if it is not a key. */
export function readKey({ keyFile }: ChainPlaces): Buffer | null {
  const key = readIfThere(keyFile);
  if (key !== null && key.length !== KEY_BYTES) throw damagedKey(keyFile);
  return key;
}

function damagedKey(keyFile: string): ContextdError {
  return new ContextdError('AUDIT_FAILED', `${keyFile} holds no key of ${KEY_BYTES} bytes`, {
    remedy: `Put the key back if you have it elsewhere. Otherwise move ${keyFile} to another folder and run \`ctxd server start\`: the audit log goes on with a new key and says so, and nothing proves the records before.`,
  });
}

/**
 * A new key, after the head of an empty log: a key without a head always means that the head was removed. Throws the error of the
 * file system.
 */
export function createKey(places: ChainPlaces): Buffer {
  const key = randomBytes(KEY_BYTES);
  const head = new HeadFile(places, key);
  head.write(EMPTY_LOG);
  head.close();
  const unfinished = `${places.keyFile}.new`;
  rmSync(unfinished, { force: true });
  const fd = openSync(unfinished, 'wx', 0o600);
  try {
    writeSync(fd, key);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, places.keyFile);
  return key;
}

/** A head to keep elsewhere: what `ctxd audit head` prints. */
export interface HeadLine extends Link {
  readonly segment: number;
  /** ISO 8601, UTC. */
  readonly time: string;
}

export function headLine({ segment, seq, mac }: Head, nowMs: number): HeadLine {
  return { segment, seq, mac, time: new Date(nowMs).toISOString() };
}

export function linkOf({ seq, mac }: Head): Link {
  return { seq, mac };
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
