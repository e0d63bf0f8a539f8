import type { Readable } from 'node:stream';
import { ContextdError } from '../../core/errors.ts';
import { HANDSHAKE_MAX_BYTES, quote } from '../../protocol/plugin/handshake-line.ts';
import type { PluginOptions, PluginProcess } from './plugin-process.ts';

/** Bytes kept of the end of stderr, to say why a process did not start. */
const LAST_WORDS_BYTES = 1_000;

const LINE_END = 0x0a;

/** Reads both streams of a plugin for as long as it lives. */
export class PluginOutput {
  /** The first line of stdout, without its end. Rejects when there is none in the first 8 KiB. */
  readonly firstLine: Promise<string>;
  /** Settles when stderr is at its end. */
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

  /** The end of what was written to stderr while the plugin started. */
  get lastWords(): string {
    return this.#lastWords.toString().trim();
  }

  /** The plugin is up: from now on nothing is kept. */
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
          // Read on, so that the process does not block, until it is killed.
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
