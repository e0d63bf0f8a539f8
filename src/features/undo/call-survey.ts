import { ContextdError } from '../../core/errors.ts';
import { quoteName } from '../../core/own-line.ts';
import { FILE_TIME_SLACK_MS } from '../../fs/file-time.ts';
import { type RawPath, toText } from '../../fs/raw-path.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import { isDirectoryState, type TimeSpan, type Uncovered } from '../../sandbox/contract/snapshot-messages.ts';
import { ignoredByGit } from '../shared/ignored-by-git.ts';
import type { CallMark, CallMarks } from './call-marks.ts';
import { worthNaming } from './undo-plan.ts';
import type { UndoRecord, UndoRecords } from './undo-records.ts';

/** Times of files have fractions of it. */
const CLOCK_STEP_MS = 1;
/** Records about which git is asked at once. */
const BATCH = 20;
/** The cache of byte code, as PEP 3147 names it. */
const BYTE_CODE = /(?:^|\/)__pycache__\/|\.pyc$/;
/** Paths that a message names. */
const NAMED_MAX = 3;

/**
 * What a call did. `work`: it changed a source. `byproducts`: only what git ignores, or the byte code that Python writes whenever it
 * imports, which many projects do not list. `not covered`: nothing that can be put back, and more than by-products.
 */
export type CallVerdict = 'work' | 'byproducts' | 'not covered';

export interface SurveyedCall {
  readonly requestId: string;
  readonly tool: string;
  /** When it ended, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly verdict: CallVerdict;
  /** Null if it changed nothing that can be put back. */
  readonly record: UndoRecord | null;
  /** What it changed and undo does not cover. */
  readonly notCovered: readonly Uncovered[];
  /** For `not covered`: the end of a sentence about the call. */
  readonly why: string;
}

export interface CallSurveyDeps {
  sandbox: Pick<Sandbox, 'snapshot'>;
  records: UndoRecords;
  marks: Pick<CallMarks, 'all'>;
}

/** The call that an undo without a name takes back, and the newer ones that it skips, the newest first. */
export interface LastCall {
  readonly last: SurveyedCall & { readonly record: UndoRecord };
  readonly skipped: readonly SurveyedCall[];
}

/**
 * Throws NOT_FOUND if no call did any work, and CONFLICT if the last one that did is not covered: an older call is then undone
 * only by its name.
 */
export async function findLastCall(project: string, deps: CallSurveyDeps): Promise<LastCall> {
  const calls = await surveyCalls(project, 'to the last work', deps);
  const at = calls.findIndex(({ verdict }) => verdict !== 'byproducts');
  const skipped = at < 0 ? calls : calls.slice(0, at);
  const last = calls[at];
  if (last === undefined) throw noWork(project, skipped);
  const older = calls.slice(at).find(({ verdict }) => verdict === 'work');
  if (last.verdict !== 'work' || last.record === null) throw nothingCovered(last, older ?? null);
  return { last: { ...last, record: last.record }, skipped };
}

/** The newest calls that changed something, the newest first; at most `max`, or those up to the last one that did work. */
export async function surveyCalls(
  project: string,
  max: number | 'to the last work',
  deps: CallSurveyDeps,
): Promise<SurveyedCall[]> {
  const records: UndoRecord[] = [];
  const work = new Set<UndoRecord>();
  const newest = deps.records.newestFirst(project);
  const isEnough = (): boolean => (max === 'to the last work' ? work.size > 0 : records.length >= max);
  while (!isEnough()) {
    const batch = await take(newest, BATCH);
    if (batch.length === 0) break;
    const working = await workAmong(project, batch, deps);
    for (const record of batch) {
      if (isEnough()) break;
      records.push(record);
      if (working.has(record)) work.add(record);
    }
  }
  const oldest = records.at(-1);
  const marks = await deps.marks.all(project);
  const since = marks.find(({ requestId }) => requestId === oldest?.requestId)?.beganMs ?? oldest?.atMs ?? 0;
  const newer = marks.filter(({ beganMs, endedMs }) => beganMs >= since && endedMs !== null);
  const touched = await touchedBy(project, newer, deps);
  const markOf = new Map(newer.map((mark) => [mark.requestId, mark]));
  const alone = newer.filter(({ requestId }) => !records.some((record) => record.requestId === requestId));
  const calls = [
    ...records.map((record) => ({ record, mark: markOf.get(record.requestId) ?? null })),
    ...alone.map((mark) => ({ record: null, mark })),
  ];
  const surveyed: SurveyedCall[] = [];
  for (const { record, mark } of calls) {
    const found = mark === null ? [] : (touched.get(mark) ?? []);
    const one = await judge(project, { record, mark, found, isWork: record !== null && work.has(record) }, deps);
    if (one !== null) surveyed.push(one);
  }
  return surveyed.sort((a, b) => b.atMs - a.atMs);
}

async function take<One>(from: AsyncGenerator<One>, count: number): Promise<One[]> {
  const taken: One[] = [];
  while (taken.length < count) {
    const { value, done } = await from.next();
    if (done === true) break;
    taken.push(value);
  }
  return taken;
}

/** The calls that changed something else than by-products. */
async function workAmong(
  project: string,
  records: readonly UndoRecord[],
  deps: CallSurveyDeps,
): Promise<Set<UndoRecord>> {
  const pathsOf = ({ changes }: UndoRecord): RawPath[] =>
    worthNaming(changes).map(({ path, before, after }) => (isDirectoryState(before ?? after) ? `${path}/` : path));
  const ignored = await byproductsAmong(project, [...new Set(records.flatMap(pathsOf))], deps);
  return new Set(records.filter((record) => pathsOf(record).some((path) => !ignored.has(path))));
}

/** The path of a directory ends with a slash. */
async function byproductsAmong(
  project: string,
  paths: readonly RawPath[],
  { sandbox }: CallSurveyDeps,
): Promise<Set<RawPath>> {
  const ignored = await ignoredByGit(project, paths, sandbox);
  return new Set([...ignored, ...paths.filter((path) => BYTE_CODE.test(path))]);
}

/** What each call changed where nothing is kept, by the times of the files. */
async function touchedBy(
  project: string,
  marks: readonly CallMark[],
  { sandbox }: CallSurveyDeps,
): Promise<Map<CallMark, readonly Uncovered[]>> {
  if (marks.length === 0) return new Map();
  const spans = marks.map(
    ({ beganMs, endedMs }): TimeSpan => ({
      fromMs: beganMs - FILE_TIME_SLACK_MS,
      toMs: (endedMs ?? beganMs) + CLOCK_STEP_MS,
    }),
  );
  const reply = await sandbox.snapshot(project, { do: 'touched', spans });
  return new Map(marks.map((mark, index) => [mark, reply?.touched[index] ?? []]));
}

interface Evidence {
  readonly record: UndoRecord | null;
  readonly mark: CallMark | null;
  /** Changes that times show. */
  readonly found: readonly Uncovered[];
  readonly isWork: boolean;
}

/** Null if the call changed nothing. */
async function judge(
  project: string,
  { record, mark, found, isWork }: Evidence,
  deps: CallSurveyDeps,
): Promise<SurveyedCall | null> {
  const notCovered = distinct([...(record?.missed ?? []), ...found]);
  const call = {
    requestId: record?.requestId ?? mark?.requestId ?? '',
    tool: record?.tool ?? mark?.tool ?? '',
    atMs: record?.atMs ?? mark?.endedMs ?? 0,
    record,
    notCovered,
  };
  const changed = record?.changes.length ?? 0;
  if (isWork) return { ...call, verdict: 'work', why: '' };
  if (mark?.isKept === false) return { ...call, verdict: 'not covered', why: 'ran while changes could not be kept' };
  if (record?.isCutShort === true && changed + notCovered.length === 0)
    return {
      ...call,
      verdict: 'not covered',
      why: 'was cut short by the end of contextd, and its changes are not known',
    };
  const serious = await seriousAmong(project, notCovered, mark?.named ?? [], deps);
  if (serious.length > 0)
    return { ...call, verdict: 'not covered', why: `changed only what undo does not cover: ${namesOf(serious)}` };
  return changed + notCovered.length > 0 ? { ...call, verdict: 'byproducts', why: '' } : null;
}

/**
 * Without by-products: what git ignores. In an ignored directory that the words of the call name, a change is what the call was
 * for.
 */
async function seriousAmong(
  project: string,
  uncovered: readonly Uncovered[],
  named: readonly string[],
  deps: CallSurveyDeps,
): Promise<Uncovered[]> {
  const files = uncovered.flatMap(({ path, why }) => (why === 'ignored directory' ? [] : [path]));
  const ignored = await byproductsAmong(project, files, deps);
  return uncovered.filter(({ path, why }) =>
    why === 'ignored directory' ? path.split('/').some((part) => named.includes(toText(part))) : !ignored.has(path),
  );
}

/** Without a directory of which something inside is listed. */
function distinct(all: readonly Uncovered[]): Uncovered[] {
  const byPath = new Map(all.map((one) => [one.path, one]));
  const paths = [...byPath.keys()];
  return [...byPath.values()].filter(
    ({ path }) => !path.endsWith('/') || !paths.some((other) => other !== path && other.startsWith(path)),
  );
}

/** Of a call that is named to a person. */
export function callName({ requestId, tool, atMs, record }: SurveyedCall): string {
  return `${record?.ref ?? requestId}, ${tool} at ${new Date(atMs).toISOString()}`;
}

function namesOf(uncovered: readonly Uncovered[]): string {
  const more = uncovered.length > NAMED_MAX ? ` and ${uncovered.length - NAMED_MAX} more` : '';
  return `${uncovered
    .slice(0, NAMED_MAX)
    .map(({ path, why }) => `${quoteName(toText(path))} (${why})`)
    .join(', ')}${more}`;
}

function noWork(project: string, [skipped]: readonly SurveyedCall[]): ContextdError {
  const what = `no call has changed files in ${project} that are still known`;
  return skipped === undefined
    ? new ContextdError('NOT_FOUND', what)
    : new ContextdError('NOT_FOUND', `${what}, but for by-products such as files that git ignores`, {
        remedy: `The last one was ${callName(skipped)}. \`ctxd undo --list\` shows what can be taken back.`,
      });
}

function nothingCovered({ tool, atMs, why }: SurveyedCall, older: SurveyedCall | null): ContextdError {
  return new ContextdError(
    'CONFLICT',
    `the last call that changed files, ${tool} at ${new Date(atMs).toISOString()}, ${why}`,
    older?.record == null
      ? { remedy: 'Nothing was put back, and no older call can be taken back.' }
      : {
          remedy: `Nothing was put back. \`ctxd undo ${older.record.ref}\` takes back the call before, ${older.tool} at ${new Date(older.atMs).toISOString()}.`,
        },
  );
}
