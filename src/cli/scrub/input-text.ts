import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';

/** The bytes of a file, or of standard input for "-" and for no name. PATH_NOT_FOUND when it cannot be read. */
export async function* readChunks(file: string | undefined, context: CliContext): AsyncGenerator<Buffer> {
  const fromStdin = file === undefined || file === '-';
  const stream = fromStdin ? context.stdin : createReadStream(resolve(context.cwd, file));
  const stop = (): void => void stream.destroy();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream) yield Buffer.from(chunk);
  } catch (error) {
    if (!isErrno(error) || error.code === 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    throw new ContextdError('PATH_NOT_FOUND', `cannot read ${fromStdin ? 'standard input' : file} (${error.code})`, {
      remedy: 'Name a file that can be read, or leave it out for standard input.',
      cause: error,
    });
  } finally {
    context.signal.removeEventListener('abort', stop);
  }
}

/** Bytes as text, in the pieces they come in. Bytes that are not UTF-8 become U+FFFD; `onReplaced` is told once. */
export async function* decodeText(chunks: AsyncIterable<Buffer>, onReplaced: () => void): AsyncGenerator<string> {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
  let isValid = true;
  for await (const chunk of chunks) {
    isValid &&= accepts(() => strict.decode(chunk, { stream: true }));
    yield lenient.decode(chunk, { stream: true });
  }
  isValid &&= accepts(() => strict.decode());
  yield lenient.decode();
  if (!isValid) onReplaced();
}

function accepts(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}
