import { writeSync } from 'node:fs';
import { ENVELOPE_VERSION, failureEnvelope } from '../core/envelope.ts';
import { type ContextdError, ERROR_TABLE, isErrno } from '../core/errors.ts';

/** What the program prints, and its exit code. */
export interface Result {
  stdout: Buffer;
  /** One line without its newline; empty: nothing is printed. */
  stderr: string;
  exitCode: number;
}

/** Writes everything; afterwards it is safe to exit. A closed reader does not make the call fail. */
export async function print(result: Result): Promise<void> {
  await writeAll(() => process.stdout, 1, result.stdout);
  if (result.stderr !== '') await writeAll(() => process.stderr, 2, Buffer.from(`${singleLine(result.stderr)}\n`));
}

/** Writes synchronously as long as the reader keeps up: creating a stream takes longer than writing a line. */
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

/** Removes control characters: paths and messages come from elsewhere and must not steer a terminal or break the line. */
function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/**
 * The answer to a call that failed without an answer of the daemon: the same envelope, with the exact count of its tokens.
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
 * A line that contains its own token count. A number below 1000 is one token and a longer one is two, so the second count
 * is final. If the rank file is missing, the installation is broken; the line's size in bytes is used then, which is never
 * less. The rank file is loaded only here: a call whose answer is printed unchanged must not pay for it.
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
 * Returns a function that shows a person what a command prints while it runs. The daemon has scrubbed the text and removed
 * terminal sequences. Returns undefined if stderr is not a terminal: an agent would read the text along with the answer.
 * Text that cannot be written at once is dropped, because the answer contains or names all of it.
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
