import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { ContextdError } from '../core/errors.ts';
import { ownProgram } from '../core/own-program.ts';
import { isBelow } from '../core/paths.ts';
import type { FetchLimits } from './limits.ts';
import {
  type ExpectedVersion,
  type FetchedTool,
  type FetchMessage,
  LINE_MAX_CHARS,
  type Progress,
  parseMessage,
  type TrustedSigners,
} from './messages.ts';
import { type FetchSource, formatSource } from './source.ts';
import { fetchEnvironment } from './variables.ts';

export interface FetchOptions {
  /** An empty directory of ours, 0700. It is empty again after a failure. */
  into: string;
  limits: FetchLimits;
  /** The person's variables, of which only those of `FETCH_VARIABLES` are passed on, with PATH and HOME. */
  credentials: Readonly<Record<string, string>>;
  signal: AbortSignal;
  onProgress(progress: Progress): void;
  /** What the lock file says; {}: nothing is expected. */
  expected: ExpectedVersion;
  signers: TrustedSigners;
  /** True: a tool without a signature of one of the signers is refused. */
  requireSignature: boolean;
  /** NODE_V8_COVERAGE of the daemon, if a test measures it. */
  coverageDir?: string | undefined;
}

const PROGRAM = fileURLToPath(ownProgram(new URL('./child/main.js', import.meta.url)));
/** Megabytes of the child's heap: what it parses is bounded, what is hostile about it is not. */
const HEAP_MB = 512;
/**
 * Limits of the system for the child and for git, beneath our own: bytes of data of a process, and of a file. They hold
 * even between two looks at what git has written.
 */
const PRELUDE = 'ulimit -c 0; ulimit -d "$1"; ulimit -f "$2"; shift 2; exec "$@"';
const DATA_MAX_KB = 2 * 1024 * 1024;
/** The unit of `ulimit -f`. */
const BLOCK_BYTES = 512;
const FILE_SLACK_BYTES = 64 * 1024 * 1024;
/** Milliseconds that a child has for its last words after its own deadline. */
const GRACE_MS = 2_000;

/**
 * Brings a tool to this disk. One child process parses everything that others made: git's output, archives, answers of
 * servers. It is killed with all its descendants on abort, at the deadline, when it breaks the protocol, and when this
 * process ends. It writes nowhere but into `into`. Throws ContextdError with a remedy; CANCELLED if `signal` is aborted.
 */
export async function fetchTool(source: FetchSource, options: FetchOptions): Promise<FetchedTool> {
  const { into, limits, signal, onProgress, expected, signers, requireSignature } = options;
  if (signal.aborted) throw cancelled(source);
  const work = join(into, 'work');
  await mkdir(work, { mode: 0o700 });
  const environment = fetchEnvironment(options.credentials, work);
  const openssl = environment.SSL_CERT_FILE === undefined ? [] : ['--use-openssl-ca'];
  const flags = [`--max-old-space-size=${HEAP_MB}`, '--no-warnings', ...openssl];
  const blocks = Math.ceil((limits.bytes + FILE_SLACK_BYTES) / BLOCK_BYTES);
  const bounds = ['-c', PRELUDE, 'contextd-fetch', `${DATA_MAX_KB}`, `${blocks}`];
  const child = execa('/bin/sh', [...bounds, process.execPath, ...flags, PROGRAM], {
    cwd: work,
    extendEnv: false,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
    buffer: false,
    reject: false,
    env: {
      ...environment,
      ...(options.coverageDir === undefined ? {} : { NODE_V8_COVERAGE: options.coverageDir }),
    },
    detached: true,
  });
  const kill = (): void => killGroup(child.pid);
  const deadline = setTimeout(kill, limits.time_ms + GRACE_MS);
  signal.addEventListener('abort', kill, { once: true });
  // The child ends when this end of the pipe is gone, so a daemon that dies leaves nothing that runs.
  child.stdin.on('error', () => {});
  const home = environment.HOME ?? '/';
  const request = { source, into, limits, expected, signers, requireSignature, home, variables: options.credentials };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  try {
    const last = await readAnswer(child.stdout, onProgress, kill);
    const end = await child;
    if (signal.aborted) throw cancelled(source);
    if (last === null) throw diedEarly(source, end.signal, limits);
    if (last.kind === 'failed') throw failureOf(last);
    await checkPlace(last.tool, into, source);
    return last.tool;
  } catch (thrown) {
    kill();
    await child;
    await remove(join(into, 'tool'));
    throw thrown;
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', kill);
    await remove(work);
  }
}

/** git may write its last file while it dies. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

type LastMessage = Exclude<FetchMessage, { kind: 'progress' }>;

/** The last message; null without one. A child that sends anything else is killed. */
async function readAnswer(
  output: Readable,
  onProgress: (progress: Progress) => void,
  kill: () => void,
): Promise<LastMessage | null> {
  let last: LastMessage | null = null;
  let pending = 0;
  output.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(0x0a);
    pending = end === -1 ? pending + chunk.length : chunk.length - end - 1;
    if (pending > LINE_MAX_CHARS) kill();
  });
  for await (const line of createInterface({ input: output, crlfDelay: Number.POSITIVE_INFINITY })) {
    const message: FetchMessage | null = last === null && line.length <= LINE_MAX_CHARS ? parseMessage(line) : null;
    if (message === null) {
      kill();
      return null;
    }
    if (message.kind === 'progress') onProgress(message.progress);
    else last = message;
  }
  return last;
}

/** The whole process group: git and its helpers too. They are gone already if there is no such group. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {}
}

/** The folder must lie inside ours, really and not by a link. */
async function checkPlace(tool: FetchedTool, into: string, source: FetchSource): Promise<void> {
  const isInside = isBelow(await realpath(into), await realpath(tool.dir));
  if (isInside && (await lstat(tool.dir)).isDirectory()) return;
  throw new ContextdError(
    'INTEGRITY_FAILED',
    `the process that fetched ${formatSource(source)} answered with ${tool.dir}`,
    {
      remedy: 'Do not install this tool: something in it took the process over.',
    },
  );
}

function failureOf({ code, message, remedy, details }: Extract<FetchMessage, { kind: 'failed' }>): ContextdError {
  return new ContextdError(code, message, { ...(remedy === null ? {} : { remedy }), details });
}

function cancelled(source: FetchSource): ContextdError {
  return new ContextdError('CANCELLED', `the installation of ${formatSource(source)} was cancelled`, {
    remedy: 'Nothing was installed. Run the command again if you want the tool.',
  });
}

function diedEarly(source: FetchSource, signal: string | undefined, limits: FetchLimits): ContextdError {
  const text = formatSource(source);
  const how = signal === undefined ? 'ended without an answer' : `was ended by ${signal}`;
  return new ContextdError('RESOURCE_LIMIT', `the process that fetches ${text} ${how}`, {
    remedy: `It may use ${HEAP_MB} MB of memory and ${limits.time_ms / 1000} s. Try again; if it fails again, download the tool yourself and install it from a folder.`,
  });
}
