import { gunzipSync } from 'node:zlib';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { CliContext } from './context.ts';
import { readChunks } from './input.ts';

/** The text of a file, which may be packed by gzip. Throws PAYLOAD_TOO_LARGE beyond `maxBytes`, packed or not. */
export async function readCatalogueBytes(file: string, context: CliContext, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(file, context)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(file, maxBytes);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  // The first two bytes of gzip.
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? unpacked(file, bytes, maxBytes) : bytes).toString('utf8');
}

function unpacked(file: string, bytes: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (isErrno(cause, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(file, maxBytes);
    throw new ContextdError('ARGS_INVALID', `cannot unpack ${file}`, {
      remedy: 'Pass a complete file, packed by gzip or not at all.',
      cause,
    });
  }
}

function tooLarge(file: string, maxBytes: number): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', `${file} has more than ${maxBytes} bytes`, {
    remedy: 'Leave out tools, or texts of resources.',
    details: { limit: maxBytes },
  });
}
