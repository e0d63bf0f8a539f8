import { writeSync } from 'node:fs';
import { type AnswerForm, ENVELOPE_VERSION, failureEnvelope } from '../core/envelope.ts';
import { type ContextdError, ERROR_TABLE, isErrno, withRemedy } from '../core/errors.ts';
import { ownLine } from '../core/own-line.ts';
import { isTerminal } from './is-terminal.ts';

/** The output of the program, and its exit code. */
export interface Result {
  form: AnswerForm;
  stdout: Buffer;
  /** Printed unchanged, after stdout. */
  stderr: Buffer;
  exitCode: number;
}

/** Writes everything; it is safe to exit afterwards. A closed reader does not make the call fail. */
export async function print(result: Result): Promise<void> {
  await writeAll(() => process.stdout, 1, result.stdout);
  await writeAll(() => process.stderr, STDERR, result.stderr);
}

/** Writes synchronously while the reader keeps up: creating a stream takes longer than writing a line. */
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

/**
 * The output for a call that failed without an answer from the daemon. As text: a status line and the reason. As JSON:
 * the usual envelope with its exact token count, and on stderr the status line.
 */
export async function renderFailure(
  error: ContextdError,
  form: AnswerForm,
  requestId: string,
  rankFile: string,
): Promise<Result> {
  const { exitCode } = ERROR_TABLE[error.code];
  const what = `exit ${exitCode} · ${error.code}`;
  if (form === 'text') {
    return {
      form,
      stdout: Buffer.alloc(0),
      stderr: Buffer.concat([lineOf(what), lineOf(withRemedy(error))]),
      exitCode,
    };
  }
  const meta = { version: ENVELOPE_VERSION, request_id: requestId } as const;
  const envelope = failureEnvelope({ error, meta });
  const line = await stateTokens((tokens) => JSON.stringify({ ...envelope, tokens_used: tokens }), rankFile);
  return { form, stdout: Buffer.from(`${line}\n`), stderr: lineOf(what), exitCode };
}

/** A line of contextd's own, as bytes. */
export function lineOf(text: string): Buffer {
  return Buffer.from(`${ownLine(text)}\n`);
}

/**
 * Renders a line that contains its own token count. A number below 1000 is one token and a longer one two, so the
 * second count is final. Without the rank file the installation is broken, and the line's size in bytes is used, an
 * upper bound. The rank file is loaded only here: a call whose answer is printed unchanged must not pay for it.
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
 * Returns a function that shows a person the output of a running command. The daemon has scrubbed the text and removed
 * terminal sequences. Undefined if stderr is not a terminal: an agent would read the text along with the answer. Text
 * that cannot be written at once is dropped, because the answer contains or names all of it.
 */
export function progressWriter(): ((text: string) => void) | undefined {
  if (!isTerminal(STDERR)) return undefined;
  return (text) => {
    try {
      writeSync(STDERR, text);
    } catch (error) {
      if (!isErrno(error)) throw error;
    }
  };
}
