import { writeSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/** All that a call leaves behind. */
export interface Result {
  stdout: Buffer;
  /** One line without its newline; empty for none. */
  stderr: string;
  exitCode: number;
}

/** Writes everything, then it is safe to exit. A reader that is gone is no failure of the call. */
export async function print(result: Result): Promise<void> {
  await writeAll(() => process.stdout, 1, result.stdout);
  if (result.stderr !== '') await writeAll(() => process.stderr, 2, Buffer.from(`${singleLine(result.stderr)}\n`));
}

/** Synchronous as far as it goes: making a stream takes longer than writing a line. */
async function writeAll(open: () => NodeJS.WriteStream, descriptor: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      if (!isErrno(error)) throw error;
      if (error.code !== 'EAGAIN') return;
      return writeStream(open(), bytes.subarray(at));
    }
  }
}

function writeStream(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.on('error', () => resolve());
  stream.write(bytes, () => resolve());
  return promise;
}

/** Paths and messages come from elsewhere: no control character of theirs reaches a terminal or breaks the line. */
function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
