import { writeSync } from 'node:fs';
import { ENVELOPE_VERSION, failureEnvelope } from '../core/envelope.ts';
import { type ContextdError, ERROR_TABLE, isErrno } from '../core/errors.ts';

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

/**
 * The answer to a call that failed before, or without, the daemon's answer: the same envelope, with the true count of
 * its tokens.
 */
export async function renderFailure(error: ContextdError, requestId: string, rankFile: string): Promise<Result> {
  const meta = { version: ENVELOPE_VERSION, request_id: requestId } as const;
  const envelope = failureEnvelope({ error, meta });
  const line = await stateTokens((tokens) => JSON.stringify({ ...envelope, tokens_used: tokens }), rankFile);
  const remedy = error.remedy === undefined ? '' : `. ${error.remedy}`;
  return {
    stdout: Buffer.from(`${line}\n`),
    stderr: `${error.code}: ${error.message}${remedy}`,
    exitCode: ERROR_TABLE[error.code].exitCode,
  };
}

/**
 * The line that states its own count: a number below 1000 is one token, a longer one is two, so the second count is
 * final. An installation without its rank file is broken; the line's bytes then stand in, which are never less. The
 * table is read only here, so a call whose answer goes out as it came does not pay for it.
 */
export async function stateTokens(lineWith: (tokens: number) => string, rankFile: string): Promise<string> {
  try {
    const { loadCounter } = await import('../tokens/counter.ts');
    const counter = loadCounter(rankFile);
    return lineWith(counter.count(lineWith(counter.count(lineWith(0)))));
  } catch {
    return lineWith(Buffer.byteLength(lineWith(0)));
  }
}

const STDERR = 2;

/**
 * Shows a person what a command prints while it runs, in the daemon's words: scrubbed, and nothing in it that steers a
 * terminal. Undefined where stderr is none: an agent would read it with the answer. What cannot be written at once is
 * left out, since the answer holds or names all of it.
 */
export function progressWriter(): ((text: string) => void) | undefined {
  if (!process.getBuiltinModule('node:tty').isatty(STDERR)) return undefined;
  return (text) => {
    try {
      writeSync(STDERR, text);
    } catch (error) {
      if (!isErrno(error)) throw error;
    }
  };
}
