import { ContextdError } from '../core/errors.ts';

/** Limit of one line in bytes. The JSON of a text of 64 MiB fits. */
const LINE_MAX_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The lines of a stream without their line ends. Throws PAYLOAD_TOO_LARGE if a line exceeds 256 MiB. */
export async function* byteLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
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
    remedy: 'Split it into several lines.',
    details: { limit: LINE_MAX_BYTES },
  });
}
