import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { fitsAsData, type ToolOutput, type ToolStream, toFailure } from '../../protocol/tool-output.ts';
import { decodeStream, type StreamText } from '../exec-output.ts';
import type { ProgramEnd } from './run-program.ts';

/** UTF-16 characters from which on a text of the printed object counts as long, so that the budget may cut it. */
const LONG_CHARS = 400;
/** Names that a long text of an answer may have, and the most of them, as the protocol has it. A failure adds two. */
const FIELD = /^(?!(?:stderr|exit_code)$)[a-z][a-z0-9_]{0,31}$/;
const STREAMS_MAX = 8;
/** UTF-16 characters of the last line of stderr that a failure quotes. */
const QUOTED_CHARS = 300;

/**
 * What a program printed, as the output of a tool. A JSON object on stdout is the data; anything else is `text`, as is an object
 * with more values than data may have, so that it is kept whole. An exit
 * status other than 0 is a failure, with `exit_code` and `stderr`. A call that was ended fails with the reason, and has what
 * was printed until then.
 */
export function answerOf(tool: string, end: ProgramEnd, signal: AbortSignal): ToolOutput {
  const [stdout, stderr] = [decodeStream(end.stdout), decodeStream(end.stderr)];
  const { data, streams } = printed(stdout);
  const droppedBytes = stdout.droppedBytes + stderr.droppedBytes;
  const dropped = droppedBytes === 0 ? {} : { droppedBytes };
  if (end.exitCode === 0 && !signal.aborted) return { data, streams, ...dropped };
  const own = stderr.text === '' || 'stderr' in data ? [] : [streamOf('stderr', stderr)];
  const failure = toFailure(signal.aborted ? ContextdError.from(signal.reason) : failed(tool, end, stderr.text));
  return { data: { ...data, exit_code: end.exitCode }, streams: [...streams, ...own], failure, ...dropped };
}

function printed(stdout: StreamText): { data: JsonObject; streams: ToolStream[] } {
  const value = stdout.droppedBytes === 0 ? parseObject(stdout.text) : null;
  if (value === null) return { data: {}, streams: stdout.text === '' ? [] : [streamOf('text', stdout)] };
  const isLong = (entry: [string, Json]): entry is [string, string] =>
    typeof entry[1] === 'string' && entry[1].length >= LONG_CHARS && FIELD.test(entry[0]);
  const long = Object.entries(value).filter(isLong).slice(0, STREAMS_MAX);
  const names = new Set(long.map(([field]) => field));
  const data = Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
  if (!fitsAsData(data)) return { data: {}, streams: [streamOf('text', stdout)] };
  return {
    data,
    streams: long.map(([field, text]) => ({ field, text })),
  };
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function streamOf(field: string, { text, gap }: StreamText): ToolStream {
  return { field, text, ...(gap === null ? {} : { gap }) };
}

function failed(tool: string, { exitCode, killedBy }: ProgramEnd, stderr: string): ContextdError {
  const how = killedBy === null ? `failed with exit status ${exitCode}` : `was killed by ${killedBy}`;
  const last = stderr.trimEnd().split('\n').at(-1)?.slice(0, QUOTED_CHARS) ?? '';
  return new ContextdError('TOOL_CRASHED', `the program of ${tool} ${how}${last === '' ? '' : `: ${last}`}`, {
    remedy: `Its own words are in its standard error. If the input is right, the tool is broken: a person can run \`ctxd tool update ${tool}\`, \`ctxd tool rollback ${tool}\`, or report it to its author.`,
  });
}
