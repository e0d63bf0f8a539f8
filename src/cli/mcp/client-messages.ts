import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { ContextdError } from '../../core/errors.ts';
import { MESSAGE_MAX_BYTES, UNREAD_MAX_BYTES } from '../../core/limits.ts';
import { byteLines } from '../byte-lines.ts';

/**
 * A message a piece: the SDK copies and searches all that it has with each piece that comes, so a message of 30 MB in pieces
 * of 64 KiB kept the process busy for seconds. While UNREAD_MAX_BYTES of answers wait for the client, none of its messages is read.
 * Throws RESOURCE_LIMIT for a message that is too long: where the next one begins is not known without reading on.
 */
export async function* clientMessages(stdin: AsyncIterable<Buffer>, stdout: Writable): AsyncGenerator<Buffer> {
  for await (const line of byteLines(stdin, { bytes: MESSAGE_MAX_BYTES, error: messageTooLong })) {
    if (stdout.writableLength > UNREAD_MAX_BYTES) await once(stdout, 'drain');
    yield Buffer.concat([line, Buffer.from('\n')]);
  }
}

function messageTooLong(): ContextdError {
  return new ContextdError('RESOURCE_LIMIT', `a message of the client has more than ${MESSAGE_MAX_BYTES} bytes`, {
    remedy: 'Put large content into a file of the workspace and pass its path.',
  });
}
