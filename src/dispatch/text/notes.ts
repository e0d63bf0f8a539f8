import type { EnvelopeMeta } from '../../core/envelope.ts';
import { ERROR_TABLE, withRemedy } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { ownLine, quoteName } from '../../core/own-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { TextPart } from '../../tokens/fit-text.ts';
import type { ScrubbedOutcome } from '../scrub.ts';
import { STATUS_MAX_TOKENS } from './status-line.ts';

type Reported = Pick<ScrubbedOutcome, 'data' | 'facts' | 'failure'>;

/** Whether the caller can list what the notes leave out: with a flag, or not at all. */
export type Rest = 'flag' | 'unlisted';

const HOW_TO_LIST: Readonly<Record<Rest, string>> = { flag: '; --json lists them', unlisted: '' };

/** Maximum lines of one kind, and paths per line. The number of the rest is stated. */
const LINES_MAX = 5;
const NAMED_MAX = 3;
/** Maximum characters per line; halved until all lines fit. */
const LINE_MAX_CHARS = 2_000;
const LINE_MIN_CHARS = 60;

/**
 * Everything else a caller must know, one line each: refusals and how to allow them, set-aside paths, warnings, and why
 * the call failed. Together they take at most `maxTokens`, unless `maxTokens` is below a hundred.
 */
export function notesOf(
  outcome: Reported,
  meta: Pick<EnvelopeMeta, 'warnings' | 'warning_details' | 'dropped_bytes' | 'dropped_lines' | 'files_not_covered'>,
  maxTokens: number,
  counter: TokenCounter,
  rest: Rest,
): string[] {
  const bounded = (lines: readonly string[]): string[] => firstOf(lines, rest);
  const notes = [
    ...bounded(denials(outcome)),
    ...bounded(encodings(outcome, counter)),
    ...bounded(unreadFiles(outcome)),
    ...bounded([...(meta.warnings ?? []), ...(meta.warning_details ?? []).map(({ message }) => message)]),
    ...notKept(meta, rest),
    ...notUndone(meta),
    ...failureLines(outcome, counter),
  ];
  for (let limit = LINE_MAX_CHARS; ; limit /= 2) {
    const lines = notes.map((note) => ownLine(note.length <= limit ? note : `${note.slice(0, limit)}…`));
    if (limit < LINE_MIN_CHARS || counter.count(lines.join('\n')) <= maxTokens) return lines;
  }
}

function notKept(
  { dropped_bytes: bytes, dropped_lines: lines = {} }: Pick<EnvelopeMeta, 'dropped_bytes' | 'dropped_lines'>,
  rest: Rest,
): string[] {
  if (bytes === undefined) return [];
  const where = Object.entries(lines).map(([field, range]) => `lines ${range} of ${quoteName(field)}`);
  return [[`${bytes} bytes beyond output.max_bytes were not kept`, ...firstOf(where, rest)].join(': ')];
}

function notUndone({ files_not_covered: files = [] }: Pick<EnvelopeMeta, 'files_not_covered'>): string[] {
  const shown = files.map((file) => {
    const end = file.lastIndexOf(': ');
    return `${quoteName(file.slice(0, end))} (${file.slice(end + 2)})`;
  });
  return shown.length === 0 ? [] : [`changed, but undo does not cover it: ${named(shown)}`];
}

/** Refusals with the same remedy share a line. */
function denials({ facts: { denied } }: Reported): string[] {
  const byRemedy = new Map<string, string[]>();
  for (const { kind, path, host, port, rule, how_to_allow } of denied) {
    const name = path ?? (port === undefined ? host : `${host}:${port}`);
    const isExplained = kind === 'file_size' || (kind === 'network' && host !== undefined);
    const what = [kind, ...(name === undefined ? [] : [quoteName(name)]), ...(isExplained ? [`(${rule})`] : [])].join(
      ' ',
    );
    byRemedy.set(how_to_allow, [...(byRemedy.get(how_to_allow) ?? []), what]);
  }
  return [...byRemedy].map(([remedy, refused]) => `denied: ${named(refused)}. ${remedy}`);
}

/** Texts that are not UTF-8. Their names are left out if the line would be longer than a status line. */
function encodings({ data }: Reported, counter: TokenCounter): string[] {
  const files = Array.isArray(data.files) ? data.files.filter(isJsonObject) : [];
  const texts = [data, ...files].flatMap(({ encoding, path }): { name: unknown; of: unknown }[] => {
    if (!isJsonObject(encoding)) return [{ name: encoding, of: path }];
    return Object.entries(encoding).map(([of, name]) => ({ name, of }));
  });
  return texts.flatMap(({ name, of }) => {
    if (typeof name !== 'string') return [];
    const line = `encoding: ${quoteName(name)}${typeof of === 'string' ? ` (${quoteName(of)})` : ''}`;
    return counter.count(ownLine(line)) <= STATUS_MAX_TOKENS ? [line] : [`encoding: ${quoteName(name)}`];
  });
}

/** Errors in `data.files`, in place of a text. */
function unreadFiles({ data }: Reported): string[] {
  const files = Array.isArray(data.files) ? data.files : [];
  return files.flatMap((file) => {
    const error = isJsonObject(file) ? file.error : undefined;
    return isJsonObject(error) ? [`${String(error.code)}: ${String(error.message)}`] : [];
  });
}

/** The status, with as much of the reason as fits a status line; the rest goes on its own line. */
function failureLines({ failure: error }: Reported, counter: TokenCounter): string[] {
  if (error === null) return [];
  const { code, message, remedy } = error;
  const status = `exit ${ERROR_TABLE[code].exitCode} · ${code}`;
  const sentence = withRemedy(error);
  const fits = (text: string) => counter.count(ownLine(text)) <= STATUS_MAX_TOKENS;
  if (fits(`${status}: ${sentence}`)) return [`${status}: ${sentence}`];
  if (remedy !== undefined && fits(`${status}: ${message}`)) return [`${status}: ${message}`, remedy];
  return [status, sentence];
}

function firstOf(lines: readonly string[], rest: Rest): string[] {
  const more = lines.length - LINES_MAX;
  return more <= 0 ? [...lines] : [...lines.slice(0, LINES_MAX), `and ${more} more${HOW_TO_LIST[rest]}`];
}

function named(texts: readonly string[]): string {
  const more = texts.length - NAMED_MAX;
  return more <= 0 ? texts.join(', ') : `${texts.slice(0, NAMED_MAX).join(', ')} and ${more} more`;
}

/** Where text is missing. The text's name is left out if there is only one text. */
export function gapLines(parts: readonly TextPart[], rest: Rest): string[] {
  const isOnly = parts.filter(({ text, gaps }) => text !== '' || gaps.length > 0).length <= 1;
  const lines = parts.flatMap(({ field, gaps }) =>
    gaps.map(({ bytes, afterLine }) => {
      const where = afterLine === 0 ? 'before line 1' : `after line ${afterLine}`;
      return `${bytes} bytes${isOnly ? '' : ` of ${quoteName(field)}`} left out ${where}`;
    }),
  );
  return firstOf(lines, rest).map((line) => ownLine(line));
}

/** A dry run that fails is an error of its own; of the others only a rule of a person stands in the way of the call. */
export function dryRunNote({ checks }: JsonObject): string {
  const lines = Array.isArray(checks) ? checks.filter(isJsonObject) : [];
  const asking = lines.find(({ asks }) => asks === true);
  if (asking === undefined) return 'dry run: every check allows the call';
  return `dry run: the call would wait for a person: ${String(asking.reason)}`;
}
