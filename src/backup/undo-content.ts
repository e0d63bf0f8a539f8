import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/*
 * What a daemon believes about calls and their changes, because only it writes these files: `ctxd undo` writes what a record says.
 * A backup can be changed, so its records and calls are checked when it is restored.
 */

const RECORD = /^undo\/records\/[^/]+\/(\d{15})-(undo_[0-9a-z]+)-(req_[0-9A-Z]+)\.json$/;
const CALLS = /^undo\/calls\//;
/** Of one system call, without the final NUL. */
const PATH_MAX_BYTES = 4095;
const STATE = /^(?:f[0-7]{1,4} [0-9a-f]{40}|l [0-9a-f]{40}|d[0-7]{1,4}|u [ -~]{1,200})$/;

/** Milliseconds since the epoch at which a record was made; null for another entry. */
export function recordedMs(path: string): number | null {
  const [, time] = RECORD.exec(path) ?? [];
  return time === undefined ? null : Number(time);
}

export function isCalls(path: string): boolean {
  return CALLS.test(path);
}

/**
 * Throws Error if the record is not what a daemon wrote under this name by the time of the backup. Returns it as it was `aheadMs`
 * earlier, by which the clock of the backup is ahead.
 */
export function checkedRecord(
  path: string,
  text: string,
  madeMs: number,
  aheadMs: number,
): { readonly path: string; readonly text: string } {
  const [, time = '', ref, requestId] = RECORD.exec(path) ?? [];
  if (Number(time) > madeMs) throw new Error(`${path} is newer than the backup`);
  const record: unknown = JSON.parse(text);
  const isSound =
    isJsonObject(record) &&
    record.ref === ref &&
    record.requestId === requestId &&
    Math.floor(numberOf(record.atMs)) === Number(time) &&
    [record.tool, record.session].every(isText) &&
    typeof record.isShared === 'boolean' &&
    ['undefined', 'boolean'].includes(typeof record.isCutShort) &&
    (record.cutShortBeside === undefined || isListOf(record.cutShortBeside, isText)) &&
    isListOf(record.changes, isChange) &&
    isListOf(record.missed, isUncovered);
  if (!isSound) throw new Error(`${path} is no record of a call`);
  if (aheadMs === 0) return { path, text };
  const atMs = earlier(record.atMs, aheadMs);
  const name = `/${String(Math.floor(atMs)).padStart(15, '0')}-`;
  return { path: path.replace(`/${time}-`, name), text: JSON.stringify({ ...record, atMs }) };
}

function earlier(timeMs: Json | undefined, aheadMs: number): number {
  return Math.max(0, numberOf(timeMs) - aheadMs);
}

/**
 * The calls that ended by the time of the backup, a line each, `aheadMs` earlier. A call without an end would be one that was cut
 * short here: all differences of the files would look like its work.
 */
export function endedCalls(text: string, madeMs: number, aheadMs = 0): string {
  const calls = new Map<string, JsonObject>();
  for (const line of text.split('\n')) {
    const mark = parse(line);
    if (mark !== null && isText(mark.requestId)) calls.set(mark.requestId, { ...calls.get(mark.requestId), ...mark });
  }
  const ended = [...calls.values()].filter((call) => isCall(call) && numberOf(call.endedMs) <= madeMs);
  return ended
    .map((call) => {
      const times = { beganMs: earlier(call.beganMs, aheadMs), endedMs: earlier(call.endedMs, aheadMs) };
      return `\n${JSON.stringify({ ...call, ...times })}`;
    })
    .join('');
}

function isCall({ tool, session, beganMs, endedMs, named, isKept }: JsonObject): boolean {
  const isInOrder = numberOf(beganMs) <= numberOf(endedMs);
  return isInOrder && [tool, session].every(isText) && isListOf(named, isText) && typeof isKept === 'boolean';
}

function isChange(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { path, before, after } = value;
  return isPath(path) && [before, after].every((state) => state === null || (isText(state) && STATE.test(state)));
}

/** Only shown, never written. */
function isUncovered(value: unknown): boolean {
  return isJsonObject(value) && isText(value.path) && isText(value.why);
}

/** Below the workspace, or the workspace itself: one character for each byte. */
function isPath(value: unknown): boolean {
  if (value === '') return true;
  if (!isText(value) || value.length > PATH_MAX_BYTES || /[\0\u0100-\uffff]/.test(value)) return false;
  return value.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

/** NaN, which no comparison holds for, if it is no number. */
function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function parse(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
