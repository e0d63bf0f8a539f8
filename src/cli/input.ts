import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { CliContext } from './context.ts';

/** The bytes that an argument names: JSON as it is, `@file`, or `-` for standard input. */
export async function readInput(argument: string, context: CliContext, maxBytes: number): Promise<Buffer> {
  if (argument === '-') return readAll(context.stdin, 'standard input', maxBytes);
  if (!argument.startsWith('@')) return checkSize(Buffer.from(argument), '--input', maxBytes);
  const file = resolve(context.cwd, argument.slice(1));
  return readAll(createReadStream(file), file, maxBytes);
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
    throw new ContextdError('PATH_NOT_FOUND', `cannot read ${name} (${error.code})`, {
      remedy: 'Name a file that can be read.',
    });
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
