import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject, jsonObjectIn } from '../core/json.ts';
import { type ChainedLine, readChained } from './chain.ts';
import { type AuditFault, type AuditReport, ChainCheck, type KeptHead } from './check.ts';
import { chainPlaces, readKey } from './head.ts';
import { linesForwards } from './lines.ts';
import { parseRecord } from './record.ts';
import { isAboutSegments, listFalseSegments, listSegments, readStart } from './segments.ts';

/** The segments of the log of another machine, as they were restored from a backup. */
export interface LogListing {
  /** Name of its folder. */
  readonly log: string;
  readonly segments: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

/** The command of the record that holds the hash of each list, in `input.logs`. */
export const RESTORE_ACT = 'backup restore';
const LISTING = 'segments.json';

/** `dir` is Paths.otherAuditDir. */
export function listingFile(dir: string, log: string): string {
  return join(dir, log, LISTING);
}

export async function writeListing(dir: string, listing: LogListing): Promise<void> {
  await writeFile(listingFile(dir, listing.log), textOf(listing), { mode: 0o600 });
}

export function hashOfListing(listing: LogListing): string {
  return createHash('sha256').update(textOf(listing)).digest('hex');
}

function textOf(listing: LogListing): string {
  return `${JSON.stringify(listing)}\n`;
}

/** The folder of the log of another machine. Throws NOT_FOUND, which names those that are there. */
export async function otherLogDir(dir: string, log: string): Promise<string> {
  const logs = await otherLogs(dir);
  if (logs.includes(log)) return join(dir, log);
  const there = logs.length === 0 ? 'None was restored here.' : `There are ${logs.join(', ')}.`;
  throw new ContextdError('NOT_FOUND', `there is no audit log of another machine with the name ${log.slice(0, 200)}`, {
    remedy: there,
  });
}

/** The names of the logs of other machines. `dir` is Paths.otherAuditDir. */
export async function otherLogs(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).filter((name) => existsSync(join(dir, name, LISTING))).sort();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/**
 * Checks the log of another machine: that its segments are as they were restored, as the log of this machine says, and that it has
 * the lines of `heads`. The codes of its lines can be checked only where its key is. `ownDir` is Paths.auditDir.
 */
export async function verifyOtherLog(
  { dir, log, ownDir }: { dir: string; log: string; ownDir: string },
  heads: readonly KeptHead[] = [],
): Promise<AuditReport> {
  const folder = await otherLogDir(dir, log);
  const faults: AuditFault[] = [];
  const fault = (file: string, line: number, what: string): void => void faults.push({ file, line, what });
  const text = await readFile(join(folder, LISTING), 'utf8');
  const restored = await restoredHash(ownDir, log);
  if (restored === null) fault(LISTING, 0, 'is in no record of the log of this machine that its key proves');
  else if (createHash('sha256').update(text).digest('hex') !== restored) fault(LISTING, 0, 'is not as it was written');
  const listed = new Map(segmentsIn(text).map((segment) => [segment.name, segment]));
  const counts = { records: 0, segments: 0, unchained: 0, since: '' };
  const seen = new Set<KeptHead>();
  for (const name of await listFalseSegments(folder)) fault(name, 0, 'is no regular file');
  for (const { name, path } of await listSegments(folder)) {
    const expected = listed.get(name);
    listed.delete(name);
    if (expected === undefined) fault(name, 0, 'was not restored');
    else if ((await hashOfFile(path)) !== expected.sha256) fault(name, 0, 'is not as it was restored');
    let at = 0;
    for await (const line of linesForwards(path)) {
      at += 1;
      const chained = readChained(line);
      const start = readStart(chained);
      if (start !== null) counts.since ||= start.started;
      if (start !== null) counts.segments += 1;
      if (chained === null) counts.unchained += line.isTorn ? 0 : 1;
      else if (!isAboutSegments(chained)) counts.records += 1;
      for (const head of heads.filter(({ seq }) => seq === chained?.link.seq)) {
        seen.add(head);
        if (head.mac !== chained?.link.mac) fault(name, at, `is not record ${head.seq} as ${head.from} has it`);
      }
    }
  }
  for (const name of listed.keys()) fault(name, 0, 'is missing');
  for (const { seq, from } of heads.filter((head) => !seen.has(head)))
    fault('', 0, `record ${seq}, which ${from} has, is missing`);
  const note = 'It is the log of another machine: the codes of its lines can be checked only where its key is';
  return { ...counts, faults, moreFaults: 0, notes: [note], head: null };
}

/** The hash of the list as the newest record of a restore has it that the key proves; null without one. */
async function restoredHash(ownDir: string, log: string): Promise<string | null> {
  const key = readKey(chainPlaces(ownDir));
  if (key === null) return null;
  let hash: string | null = null;
  const onProven = ({ text }: ChainedLine): void => {
    const record = parseRecord({ bytes: Buffer.from(text), isTorn: false });
    if (record?.kind !== 'person' || record.tool !== RESTORE_ACT) return;
    const { logs } = isJsonObject(record.input) ? record.input : {};
    const listed = isJsonObject(logs) ? logs[log] : undefined;
    if (typeof listed === 'string') hash = listed;
  };
  const check = new ChainCheck(key, [], { onProven });
  for (const segment of await listSegments(ownDir)) await check.segment(segment);
  return hash;
}

function segmentsIn(text: string): { name: string; sha256: string }[] {
  const { segments } = jsonObjectIn(text);
  if (!Array.isArray(segments)) return [];
  return segments.flatMap((segment: unknown) => {
    const { name, sha256 } = isJsonObject(segment) ? segment : {};
    return typeof name === 'string' && typeof sha256 === 'string' ? [{ name, sha256 }] : [];
  });
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
