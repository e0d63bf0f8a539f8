import type { AuditRecord } from '../../audit/record.ts';
import { hasErrorLine } from './error-line.ts';
import type { ReportedResult } from './test-result.ts';

/** UTF-16 units at the end of a text that are searched for a printed status. */
const LAST_CHARS = 4_096;
/** 128 + SIGPIPE: the reader behind it ended first, such as `head`. */
const READER_ENDED = 141;
/** The same for a program that ignores the signal. */
const BROKEN_PIPE = /broken ?pipe|\bEPIPE\b/i;

/**
 * The status of the first part of a pipeline that failed, null if none did. Status 1 is the answer "no" for many programs, such
 * as `grep` and `diff`. It is a failure only if the output has an error and no success is reported.
 */
export function failedStatus(
  { exitCode, pipeStatus }: { readonly exitCode: number | null; readonly pipeStatus: readonly number[] },
  texts: readonly string[],
  reported: ReportedResult | null,
): number | null {
  if (pipeStatus.length === 0) return null;
  const failed = pipeStatus.filter((status) => status !== 0 && status !== READER_ENDED);
  if (pipeStatus.every((status) => status === 0)) return exitCode === 0 ? null : exitCode;
  if (failed.length === 0 || texts.some((text) => BROKEN_PIPE.test(text))) return null;
  const saysSo = reported === null ? hasErrorLine(texts) : reported.failed > 0;
  return failed.find((status) => status > 1) ?? (saysSo ? 1 : null);
}

/** An `echo` or `printf` of the status of what ran before it: its words, with or without quotes around all of them. */
const ECHO = /\b(?:echo|printf)[ \t]+(?:"([^"]*\$\?[^"]*)"|([^;|&"'\\\n]*\$\?[^\s;|&"']*))/g;
const COMMAND_CHARS = 2_000;

/**
 * The statuses of the parts of a command: those that its shell reported, otherwise the one that `make; echo "exit: $?"` printed and
 * that of the whole. Empty if neither is known.
 */
export function partStatuses(
  { exit_code: exitCode, pipe_status: measured = [] }: Pick<AuditRecord, 'exit_code' | 'pipe_status'>,
  command: string,
  texts: readonly string[],
): readonly number[] {
  if (measured.length > 0) return measured;
  const words = [...command.slice(-COMMAND_CHARS).matchAll(ECHO)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const [before, behind] = words.at(-1)?.replaceAll('\\n', '').trim().split('$?') ?? [];
  if (before === undefined || behind === undefined || exitCode === null) return [];
  const lines = texts.flatMap((text) => text.slice(-LAST_CHARS).split('\n'));
  const printed = lines
    .map((line) => line.trim())
    .filter((line) => line.startsWith(before) && line.endsWith(behind))
    .map((line) => line.slice(before.length, line.length - behind.length))
    .findLast((status) => /^\d{1,3}$/.test(status));
  return printed === undefined ? [] : [Number(printed), exitCode];
}
