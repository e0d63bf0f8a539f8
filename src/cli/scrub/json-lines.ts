import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { ScrubbedText } from './text-scrubber.ts';

/** One line of `--jsonl`. */
interface TextLine {
  /** Any JSON value, copied to the output. Undefined if the line has none. */
  id: Json | undefined;
  text: string;
  path: string | undefined;
}

export type ScrubLine = (text: string, path: string | undefined) => Promise<ScrubbedText> | ScrubbedText;

/** The line to print, or the fault that prevents it. */
type LineResult = { number: number; line: string } | { number: number; fault: string };

/**
 * Scrubs line after line. A line that cannot be read or searched is reported as a fault; the others are still scrubbed.
 */
export async function* scrubJsonLines(
  chunks: AsyncIterable<Buffer | string>,
  scrub: ScrubLine,
): AsyncGenerator<LineResult> {
  let number = 0;
  for await (const bytes of byteLines(chunks)) {
    number += 1;
    if (bytes.every(isBlank)) continue;
    yield { number, ...(await scrubLine(bytes, scrub)) };
  }
}

async function scrubLine(bytes: Buffer, scrub: ScrubLine): Promise<{ line: string } | { fault: string }> {
  try {
    const { id, text, path } = readLine(bytes);
    const scrubbed = await scrub(text, path);
    const findings = scrubbed.findings.map(({ rule, start, end }) => ({ rule, start, end }));
    return { line: JSON.stringify({ ...(id === undefined ? {} : { id }), text: scrubbed.text, findings }) };
  } catch (thrown) {
    return { fault: ContextdError.from(thrown).message };
  }
}

/** Messages must not quote the line, because it may hold a secret. */
function readLine(bytes: Buffer): TextLine {
  const value = parse(decode(bytes));
  if (!isJsonObject(value)) throw invalid('it is not a JSON object');
  const { id, text, path } = value;
  if (typeof text !== 'string') throw invalid('"text" is not a string');
  if (path !== undefined && path !== null && typeof path !== 'string') throw invalid('"path" is not a string');
  return { id, text, path: path ?? undefined };
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid('it is not UTF-8', cause);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('it is not JSON', cause);
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09;
}

function invalid(why: string, cause?: unknown): ContextdError {
  return new ContextdError('ARGS_INVALID', why, cause === undefined ? {} : { cause });
}

/** Limit of one line in bytes. The JSON of a text of 64 MiB fits. */
const LINE_MAX_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The lines of a stream without their line ends. Throws PAYLOAD_TOO_LARGE if a line exceeds 256 MiB. */
async function* byteLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...parts, bytes.subarray(from, at)]);
      parts = [];
      size = 0;
      from = at + 1;
    }
    parts.push(bytes.subarray(from));
    size += bytes.length - from;
    if (size > LINE_MAX_BYTES) throw tooLong();
  }
  if (size > 0) yield Buffer.concat(parts);
}

function tooLong(): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', `a line has more than ${LINE_MAX_BYTES} bytes`, {
    remedy: 'Split it, or use plain text without --jsonl.',
    details: { limit: LINE_MAX_BYTES },
  });
}
