import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { CliContext } from './context.ts';
import { printable, write } from './render.ts';

type InputContext = Pick<CliContext, 'cwd' | 'stdin' | 'signal'>;

const READABLE = 'Pass a readable file, or - for standard input.';

/** The bytes of an argument: JSON itself, `@file`, or `-` for standard input. */
export async function readInput(argument: string, context: InputContext, maxBytes: number): Promise<Buffer> {
  if (argument === '-') return readAll(context.stdin, 'standard input', maxBytes);
  if (!argument.startsWith('@')) return checkSize(Buffer.from(argument), '--input', maxBytes);
  const file = resolve(context.cwd, argument.slice(1));
  return readAll(await openFile(file, file), file, maxBytes);
}

/** A pipe or a device is refused at once: opening and reading it may wait forever. Throws PATH_NOT_FOUND. */
async function openFile(path: string, name: string): Promise<Readable> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY).catch((error) => {
    throw isErrno(error) ? unreadable(name, error.code, error) : error;
  });
  const status = await handle.stat();
  if (status.isFile()) return handle.createReadStream();
  await handle.close();
  throw unreadable(name, status.isDirectory() ? 'EISDIR' : 'it is not a regular file');
}

function unreadable(name: string, why: string | undefined, cause?: unknown): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `cannot read ${name} (${why})`, { remedy: READABLE, cause });
}

async function readAll(stream: Readable, name: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(name, maxBytes);
    }
  } catch (error) {
    if (error instanceof ContextdError || !isErrno(error)) throw error;
    throw unreadable(name, error.code, error);
  }
  return Buffer.concat(chunks);
}

function checkSize(bytes: Buffer, name: string, maxBytes: number): Buffer {
  if (bytes.length > maxBytes) throw tooLarge(name, maxBytes);
  return bytes;
}

function tooLarge(name: string, maxBytes: number): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', `${name} holds more than ${maxBytes} bytes`, {
    remedy: 'Send less in one call.',
    details: { limit: maxBytes },
  });
}

/** The bytes of a regular file, or of standard input for "-" and undefined. Throws PATH_NOT_FOUND if it cannot be read. */
export async function* readChunks(file: string | undefined, context: InputContext): AsyncGenerator<Buffer> {
  const fromStdin = file === undefined || file === '-';
  const stream = fromStdin ? context.stdin : await openFile(resolve(context.cwd, file), file);
  const stop = (): void => void stream.destroy();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream) yield Buffer.from(chunk);
  } catch (error) {
    if (!isErrno(error) || error.code === 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    throw unreadable(fromStdin ? 'standard input' : file, error.code, error);
  } finally {
    context.signal.removeEventListener('abort', stop);
  }
}

/** Decodes chunk by chunk. Bytes that are not UTF-8 become U+FFFD; if there were any, `onReplaced` is called once. */
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

/**
 * Shows lines on standard error and asks for a yes or a no. Any other answer is asked about again. Throws `refusal` if nobody can be asked, the same without its remedy if
 * the answer is no, and `stopped()` if the person presses Ctrl-C.
 */
export async function confirm(
  context: CliContext,
  lines: readonly string[],
  question: string,
  refusal: ContextdError,
  usual: 'yes' | 'no' = 'no',
): Promise<void> {
  await write(context.stderr, `${lines.map(printable).join('\n')}\n`);
  if (context.stdin.isTTY !== true) throw refusal;
  const prompt = createInterface({ input: context.stdin, output: context.stderr });
  try {
    const ask = (text: string): Promise<string> => prompt.question(text, { signal: context.signal });
    const text = `${printable(question)} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `;
    let said = decisionOf(await ask(text), usual);
    while (said === undefined) said = decisionOf(await ask(`Answer y or n. ${text}`), usual);
    if (said === 'no') throw declined(refusal);
  } catch (thrown) {
    throw thrown instanceof Error && thrown.name === 'AbortError' ? stopped(thrown) : thrown;
  } finally {
    prompt.close();
  }
}

/** Undefined for an answer that is neither. */
function decisionOf(answer: string, usual: 'yes' | 'no'): 'yes' | 'no' | undefined {
  const said = answer.trim().toLowerCase() || usual;
  return (['yes', 'no'] as const).find((one) => one === said || one.charAt(0) === said);
}

/** Who was asked knows how to say yes. */
function declined(refusal: ContextdError): ContextdError {
  return refusal.remedy === undefined ? refusal : new ContextdError(refusal.code, refusal.message);
}

/** A person pressed Ctrl-C at a question. */
function stopped(cause: Error): ContextdError {
  return new ContextdError('CANCELLED', 'stopped, nothing was changed', { details: INTERRUPTED, cause });
}

/** The details of an error by which a person ended the command: its exit code is that of a signal. */
export const INTERRUPTED = { interrupted: true } as const;
