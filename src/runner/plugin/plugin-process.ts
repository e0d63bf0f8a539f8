import type { Readable } from 'node:stream';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { PluginCertificate } from '../../protocol/plugin/certificate.ts';
import { HANDSHAKE_MAX_BYTES, quote } from '../../protocol/plugin/handshake-line.ts';

/** A started tool process; `SandboxProcess` is one. */
export interface PluginProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when every process of the tool is dead. Never rejects. */
  readonly exited: Promise<PluginExit>;
  /** Kills the whole tree and returns when every process is dead. Idempotent. */
  kill(): Promise<void>;
  /** Host path of the directory in which both sides put their sockets. */
  readonly socketDir: string;
}

export interface PluginExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** contextd's certificate on the connections of one tool process. Made by `createCertificate`. */
export type HostCertificate = PluginCertificate;

export interface PluginOptions {
  /**
   * Directory that only the daemon can enter, on the file system of `socketDir`: the tool's sockets are moved here
   * before they are dialled, so that the tool cannot put a link in their place. Its content may be removed after
   * `stop`.
   */
  privateDir: string;
  /** The path of `socketDir` inside the sandbox. */
  insideSocketDir: string;
  certificate: HostCertificate;
  /** Milliseconds within which the plugin must have answered its health check. Usually 10,000. */
  startTimeoutMs: number;
  /**
   * Milliseconds to wait until a number of the broker is announced or dialled, and for the answer to a ping. Usually
   * 5,000.
   */
  brokerTimeoutMs: number;
  /** Milliseconds between the request to shut down and the kill. Usually 2,000. */
  graceMs: number;
  /** Everything the process prints, unscrubbed: all of stderr, and stdout after the handshake. */
  onOutput(channel: 'stdout' | 'stderr', data: Buffer): void;
  logger: Logger;
}

/** `it was killed by SIGKILL`, `it exited with code 3`. */
export function describeEnd({ code, signal }: PluginExit): string {
  return signal === null ? `it exited with code ${code ?? 'unknown'}` : `it was killed by ${signal}`;
}

/** Bytes kept of the end of stderr, to explain why a process did not start. */
const LAST_WORDS_BYTES = 1_000;

const LINE_END = 0x0a;

/** Reads both output streams of a plugin as long as it lives. */
export class PluginOutput {
  /** The first line of stdout, without its end. Rejects if the first 8 KiB contain no line end. */
  readonly firstLine: Promise<string>;
  /** Settles when stderr has ended. */
  readonly ended: Promise<void>;
  readonly #onOutput: PluginOptions['onOutput'];
  #lastWords = Buffer.alloc(0);
  #isStarting = true;

  constructor({ stdout, stderr }: PluginProcess, onOutput: PluginOptions['onOutput']) {
    this.#onOutput = onOutput;
    this.firstLine = this.#readFirstLine(stdout);
    this.firstLine.catch(() => {});
    this.ended = new Promise((resolve) => {
      stderr.once('end', resolve);
      stderr.once('close', resolve);
    });
    stderr.on('data', (data: Buffer) => this.#takeError(data));
    stderr.on('error', () => {});
  }

  /** The end of what was printed to stderr while the plugin started. */
  get lastWords(): string {
    return this.#lastWords.toString().trim();
  }

  /** The plugin has started: from now on its output is not kept. */
  started(): void {
    this.#isStarting = false;
    this.#lastWords = Buffer.alloc(0);
  }

  #takeError(data: Buffer): void {
    if (this.#isStarting) this.#lastWords = Buffer.concat([this.#lastWords, data]).subarray(-LAST_WORDS_BYTES);
    this.#onOutput('stderr', data);
  }

  #readFirstLine(stdout: Readable): Promise<string> {
    return new Promise((resolve, reject) => {
      let line = Buffer.alloc(0);
      let take = (data: Buffer): void => {
        const end = data.indexOf(LINE_END);
        line = Buffer.concat([line, end === -1 ? data : data.subarray(0, end)]);
        if (line.length > HANDSHAKE_MAX_BYTES) {
          reject(tooLong(line));
          // Read on until the process is killed, so that it does not block.
          take = () => {};
        } else if (end !== -1) {
          resolve(line.toString());
          take = (rest) => this.#onOutput('stdout', rest);
          if (end + 1 < data.length) take(data.subarray(end + 1));
        }
      };
      stdout.on('data', (data: Buffer) => take(data));
      stdout.on('error', () => {});
    });
  }
}

function tooLong(line: Buffer): ContextdError {
  return new ContextdError(
    'TOOL_CRASHED',
    `the tool did not start: its first line has more than ${HANDSHAKE_MAX_BYTES} bytes and begins with ${quote(line.toString())}`,
    { remedy: 'Nothing may be printed to stdout before the handshake line.' },
  );
}
