import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { byteLines } from '../byte-lines.ts';
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
