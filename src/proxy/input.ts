import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import type { AnswerForm } from '../core/envelope.ts';
import { ContextdError, isErrno } from '../core/errors.ts';
import { startsLikeJson } from '../core/json.ts';
import { INPUT_MAX_BYTES } from '../core/limits.ts';
import { isWithin } from '../core/paths.ts';
import { type CallRequest, explainInput, type InputSource, jsonWithFlags } from './arguments.ts';
import { cancelled } from './connect.ts';
import { isTerminal } from './is-terminal.ts';

const CHUNK_BYTES = 256 * 1024;

/** The input of a call, as sent to the daemon. */
export interface Input {
  /** A JSON object as text; empty if not given. */
  inputJson: Buffer;
  /** Plain text for the tool's primary property; empty if not given. */
  inputText: Buffer;
  /** Form of the answer, unless the caller requests one. */
  form: AnswerForm;
}

/**
 * Reads the input as bytes; the daemon parses it. Input that starts like a JSON object is JSON, anything else is plain
 * text. Throws ARGS_INVALID if the input is empty, PAYLOAD_TOO_LARGE with limit and size, PATH_NOT_FOUND or
 * PATH_INVALID for the file, and PERMISSION_DENIED for a file outside the project.
 */
export async function readInput(
  { source, flags }: Pick<CallRequest, 'source' | 'flags'>,
  { tool, toolDir, projectRoot }: { tool: string; toolDir: string; projectRoot: string },
  signal: AbortSignal,
): Promise<Input> {
  if (source === null) return { inputJson: Buffer.from(flags), inputText: NOTHING, form: 'text' };
  const isTyped = source.from === 'stdin' && isTerminal(0);
  const input = isTyped ? NOTHING : await readSource(source, { tool, projectRoot }, signal);
  if (isBlank(input) && source.from === 'stdin' && (await canDoWithout(tool, toolDir)))
    return { inputJson: Buffer.from('{}'), inputText: NOTHING, form: 'text' };
  if (isTyped) throw missing('no input: there is no argument, and stdin is a terminal', tool);
  if (isBlank(input)) throw missing(`no input: ${describe(source)} is empty`, tool);
  if (!startsLikeJson(input.toString('utf8')))
    return { inputJson: Buffer.from(flags), inputText: wordsOf(source, input), form: 'text' };
  if (flags !== '') throw jsonWithFlags(describe(source), 'flags');
  return { inputJson: input, inputText: NOTHING, form: 'json' };
}

/** The code for schemas is loaded only if the input is empty. A tool without a usable schema needs input. */
async function canDoWithout(tool: string, toolDir: string): Promise<boolean> {
  const { needsNoInput } = await import('./properties.ts');
  try {
    return needsNoInput(toolDir, tool);
  } catch (thrown) {
    if (thrown instanceof ContextdError) return false;
    throw thrown;
  }
}

const NOTHING = Buffer.alloc(0);
const LINE_FEED = 0x0a;

/** The final newline of a file or pipe is not part of a path or a command. */
function wordsOf({ from }: InputSource, input: Buffer): Buffer {
  return from !== 'argument' && input.at(-1) === LINE_FEED ? input.subarray(0, -1) : input;
}

async function readSource(
  source: InputSource,
  { tool, projectRoot }: { tool: string; projectRoot: string },
  signal: AbortSignal,
): Promise<Buffer> {
  switch (source.from) {
    case 'argument':
      return checked(Buffer.from(source.text));
    case 'file':
      return readFile(source.path, projectRoot);
    case 'stdin':
      return readStdin(tool, signal);
  }
}

async function readStdin(tool: string, signal: AbortSignal): Promise<Buffer> {
  try {
    return await collect(process.stdin, signal);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw missing(`cannot read stdin (${error.code})`, tool);
  }
}

/** Asynchronous, so that a signal can end the wait for input. */
function collect(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  stdin.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > INPUT_MAX_BYTES) reject(tooLarge(`at least ${size}`, size));
  });
  signal.addEventListener('abort', () => reject(cancelled()));
  stdin.on('end', () => resolve(Buffer.concat(chunks)));
  stdin.on('error', reject);
  return promise;
}

/**
 * Agents call tools without asking a person, and tools see only the project. So the file must be in the project after
 * resolving links.
 */
function readFile(path: string, projectRoot: string): Buffer {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const place = realPathOf(descriptor, path);
    if (!isWithin(projectRoot, place)) {
      closeSync(descriptor);
      throw new ContextdError('PERMISSION_DENIED', `the input file ${path} is outside the project ${projectRoot}`, {
        remedy: 'Copy it into the project, or pass its content on standard input: `-` instead of the @ and the path.',
        details: { path },
      });
    }
    return readDescriptor(descriptor);
  } catch (error) {
    if (!isErrno(error)) throw error;
    const code = error.code === 'ENOENT' ? 'PATH_NOT_FOUND' : 'PATH_INVALID';
    throw new ContextdError(code, `cannot read the input file ${path} (${error.code})`, {
      remedy: 'Give the path of a readable file after the @.',
      details: { path },
    });
  }
}

/** Path of the opened file itself, on systems with /proc: the original path may point elsewhere by now. */
function realPathOf(descriptor: number, path: string): string {
  const opened = `/proc/self/fd/${descriptor}`;
  return existsSync('/proc/self/fd') ? readlinkSync(opened) : realpathSync(path);
}

function readDescriptor(descriptor: number): Buffer {
  try {
    const { size } = fstatSync(descriptor);
    if (size > INPUT_MAX_BYTES) throw tooLarge(`${size}`, size);
    const chunks: Buffer[] = [];
    for (let total = 0; total <= INPUT_MAX_BYTES; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(descriptor, chunk);
      if (count === 0) break;
      chunks.push(chunk.subarray(0, count));
      total += count;
    }
    return checked(Buffer.concat(chunks));
  } finally {
    closeSync(descriptor);
  }
}

function checked(input: Buffer): Buffer {
  if (input.length > INPUT_MAX_BYTES) throw tooLarge(`${input.length}`, input.length);
  return input;
}

function isBlank(input: Buffer): boolean {
  return input.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

function describe(source: InputSource): string {
  if (source.from === 'file') return source.path;
  return source.from === 'stdin' ? 'stdin' : 'the argument';
}

function missing(message: string, tool: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy: explainInput(tool) });
}

function tooLarge(shownSize: string, size: number): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', `the input has ${shownSize} bytes, the limit is ${INPUT_MAX_BYTES}`, {
    remedy:
      'The limit holds for an argument, an @FILE and stdin. Give the data in several calls, or let a command write it (safe_bash); to read a large file, give its path only.',
    details: { limit: INPUT_MAX_BYTES, size },
  });
}
