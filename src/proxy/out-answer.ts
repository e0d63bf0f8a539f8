import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { ENVELOPE_VERSION, type Envelope, failureEnvelope, successEnvelope } from '../core/envelope.ts';
import { ContextdError, isErrno, isErrorCode } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { ToolLink } from './invocation.ts';
import {
  type Folder,
  isStill,
  locateOut,
  type OutPlace,
  type Owner,
  openFolder,
  outFault,
  ownerOfProject,
  statOf,
} from './out-place.ts';
import { lineOf, type Result, stateTokens } from './output.ts';

/** The exit code if the call succeeded and its answer could not be written. Other codes would say that it did not run. */
const NOT_SAVED = 74;

/** Where and how to save an answer. */
export interface SaveRequest {
  /** The file, as the caller wrote it. */
  out: string;
  link: ToolLink;
  requestId: string;
  /** Path of the token ranks, to count the short line. */
  rankFile: string;
}

/**
 * Saves what `run` answers with in a file and prints a short line instead, with the same exit code: an envelope on stdout for
 * an envelope, a line on stderr for text. A text is saved as it would have been printed, stdout before stderr.
 * Checks the file before `run` and throws if it cannot be written: a command must not run for an answer that would be
 * lost. If writing fails afterwards, the whole line is printed on stdout, stderr says why, and a call that succeeded ends
 * with exit code 74.
 */
export async function saveAnswer(request: SaveRequest, run: () => Promise<Result>): Promise<Result> {
  const { out, link, requestId, rankFile } = request;
  const place = locateOut(out, link);
  checkOut(place);
  const result = await run();
  const saved = result.form === 'json' ? result.stdout : Buffer.concat([result.stdout, result.stderr]);
  try {
    writeOut(place, saved, requestId);
  } catch (error) {
    return notSaved(result, ContextdError.from(error));
  }
  if (result.form === 'text') return shortText(result, saved.length, out);
  const envelope = shortEnvelope(readAnswer(result.stdout), out, result, requestId);
  const line = await stateTokens((tokens) => JSON.stringify({ ...envelope, tokens_used: tokens }), rankFile);
  return { ...result, stdout: Buffer.from(`${line}\n`) };
}

function notSaved(result: Result, { code, message, remedy }: ContextdError): Result {
  const exitCode = result.exitCode === 0 ? NOT_SAVED : result.exitCode;
  const why = `${code}: ${message}. The call has run and its whole answer is printed. ${remedy ?? ''}`;
  return { ...result, stderr: Buffer.concat([result.stderr, lineOf(`exit ${exitCode} · ${why}`)]), exitCode };
}

/** A status line of the daemon about a cut output, without the beginning that says how the command ended. */
const CUT =
  /^\[contextd (?:[^·]*exit \d+ · )?((?:[\d,]+ of [\d,]+ tokens · )?(?:rest: )?(?:\w+ )?--continuation \d+)\]$/;

function shortText(result: Result, bytes: number, out: string): Result {
  // The line of a cut answer says how much is shown and how to go on; its exit status is in the other line.
  const last = result.stderr.toString('utf8').trimEnd().split('\n').at(-1) ?? '';
  const cut = CUT.exec(last)?.[1];
  const saved = lineOf(`exit ${result.exitCode} · ${bytes} bytes saved in ${out}`);
  const stderr = Buffer.concat([...(cut === undefined ? [] : [lineOf(`saved in part: ${cut}`)]), saved]);
  return { ...result, stdout: Buffer.alloc(0), stderr };
}

function readAnswer(line: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function shortEnvelope(answer: JsonObject, out: string, result: Result, requestId: string): Envelope {
  const real = objectOf(answer.data);
  const data: Record<string, Json> = { out, bytes: result.stdout.length };
  if (real.exit_code !== undefined) data.exit_code = real.exit_code;
  const answeredId = objectOf(answer.meta).request_id;
  const parts = {
    data,
    refs: Array.isArray(answer.refs) ? answer.refs.filter((ref) => typeof ref === 'string') : [],
    hasMore: answer.has_more === true,
    truncated: answer.truncated === true,
    meta: { version: ENVELOPE_VERSION, request_id: typeof answeredId === 'string' ? answeredId : requestId },
  } as const;
  return answer.success === true ? successEnvelope(parts) : failureEnvelope({ ...parts, error: errorOf(answer, real) });
}

/** The daemon's error. */
function errorOf(answer: JsonObject, data: JsonObject): ContextdError {
  const code = isErrorCode(data.error_code) ? data.error_code : 'INTERNAL_ERROR';
  const remedy = typeof data.remediation === 'string' ? data.remediation : undefined;
  const sentence = typeof answer.error === 'string' ? answer.error : 'the call failed';
  const { retry_after_ms: retryAfterMs } = data;
  return new ContextdError(code, sentence, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    details: objectOf(data.details),
  });
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const NEW_FILE_MODE = 0o666;
/** The first characters of every envelope. */
const ANSWER_START = '{"success":';

export interface OutOptions {
  /** As in `openFolder`. Default: those of the system. */
  descriptors?: string | null;
}

/**
 * Checks that an answer can be written to `place`, as far as this can be known before the call runs. Throws PATH_INVALID,
 * PATH_NOT_FOUND or PERMISSION_DENIED.
 */
export function checkOut(place: OutPlace, options: OutOptions = {}): void {
  inFolder(place, options, (folder) => {
    accessSync(folder.path, constants.W_OK | constants.X_OK);
    checkTarget(folder, place);
  });
}

/**
 * Writes `bytes` to a temporary file beside `place`, then renames it: the old file remains until the new one is complete on
 * disk. The file is new, or replaces an earlier answer and keeps its permissions except execution. `nonce` makes the
 * temporary name unique among concurrent calls. Throws the errors of `checkOut`, STORAGE_FULL, and PATH_INVALID if the
 * directory was exchanged in the meantime.
 */
export function writeOut(place: OutPlace, bytes: Buffer, nonce: string, options: OutOptions = {}): void {
  inFolder(place, options, (folder) => {
    const old = checkTarget(folder, place);
    const temporary = folder.at(`.contextd-${nonce}.tmp`);
    const descriptor = openSync(temporary, CREATE, NEW_FILE_MODE);
    try {
      writeAll(descriptor, bytes, old, ownerOfProject(place));
      renameSync(temporary, folder.at(place.name));
    } catch (error) {
      removeQuietly(temporary);
      throw error;
    }
    if (!isStill(folder, place, options.descriptors)) {
      throw outFault('PATH_INVALID', place.given, 'its directory was exchanged while the file was written');
    }
  });
}

function inFolder(place: OutPlace, options: OutOptions, work: (folder: Folder) => void): void {
  try {
    const folder = openFolder(place, options.descriptors);
    try {
      work(folder);
    } finally {
      folder.close();
    }
  } catch (error) {
    throw systemFault(error, place.given);
  }
}

const OTHER_NAME = 'Name a file that does not exist, or remove this one first';
const KNOWN_BY_FORM = `${OTHER_NAME}. Only an answer in JSON is known as an earlier answer`;

/** The existing file, if it may be replaced; undefined if it does not exist. */
function checkTarget(folder: Folder, place: OutPlace): Stats | undefined {
  const { given, name } = place;
  const path = folder.at(name);
  const stat = statOf(path);
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) throw outFault('PATH_INVALID', given, 'it is a link');
  if (!stat.isFile())
    throw outFault('PATH_INVALID', given, stat.isDirectory() ? 'it is a directory' : 'it is not a regular file');
  if (stat.nlink !== 1) throw outFault('PERMISSION_DENIED', given, `it has ${stat.nlink} hard links`, OTHER_NAME);
  const owners = [process.geteuid?.(), ownerOfProject(place)?.uid];
  if (!owners.includes(stat.uid)) throw outFault('PERMISSION_DENIED', given, 'it belongs to another user', OTHER_NAME);
  accessSync(path, constants.W_OK);
  if (stat.size > 0 && !isAnswer(path)) {
    const why = 'it exists and is not an earlier answer, so it is not replaced';
    throw outFault('PERMISSION_DENIED', given, why, KNOWN_BY_FORM);
  }
  return stat;
}

function isAnswer(path: string): boolean {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const start = Buffer.alloc(ANSWER_START.length);
    return (
      readSync(descriptor, start, 0, start.length, 0) === start.length && start.toString('latin1') === ANSWER_START
    );
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs the file, because a full disk may be reported only then. */
function writeAll(descriptor: number, bytes: Buffer, old: Stats | undefined, owner: Owner | null): void {
  try {
    // By descriptor: the name could lead to another file by now.
    if (owner !== null) fchownSync(descriptor, owner.uid, owner.gid);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    if (old !== undefined) fchmodSync(descriptor, old.mode & NEW_FILE_MODE);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Ignores errors: the one that led here matters more. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
  }
}

function systemFault(error: unknown, given: string): unknown {
  if (error instanceof ContextdError || !isErrno(error)) return error;
  const code = error.code ?? '';
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new ContextdError('STORAGE_FULL', `cannot save the answer in ${given}: the disk is full (${code})`, {
        remedy: 'Free disk space, or name a file elsewhere in the project.',
        details: { path: given },
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EBUSY':
      return outFault('PERMISSION_DENIED', given, `it cannot be written (${code})`);
    case 'ENOENT':
      return outFault('PATH_NOT_FOUND', given, 'its directory does not exist');
    default:
      return outFault('PATH_INVALID', given, `it cannot be written (${code})`);
  }
}
