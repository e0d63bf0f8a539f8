import { ContextdError } from '../core/errors.ts';

export interface LineLimit {
  bytes: number;
  /** What is thrown for a longer line. */
  error(): ContextdError;
}

/** The JSON of a text of 64 MiB fits. */
const LINE_LIMIT: LineLimit = { bytes: 256 * 1024 * 1024, error: tooLong };
const NEWLINE = 0x0a;

/**
 * The lines of a stream without their line ends. Throws the error of `limit` for a longer line, by default PAYLOAD_TOO_LARGE
 * beyond 256 MiB.
 */
export async function* byteLines(
  chunks: AsyncIterable<Buffer | string>,
  limit: LineLimit = LINE_LIMIT,
): AsyncGenerator<Buffer> {
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
    if (size > limit.bytes) throw limit.error();
  }
  if (size > 0) yield Buffer.concat(parts);
}

function tooLong(): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', `a line has more than ${LINE_LIMIT.bytes} bytes`, {
    remedy: 'Split it into several lines.',
    details: { limit: LINE_LIMIT.bytes },
  });
}
