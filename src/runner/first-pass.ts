import { Worker } from 'node:worker_threads';
import { Channel } from '../core/channel.ts';
import { ContextdError } from '../core/errors.ts';
import { letOthersGoFirst } from '../core/nice-thread.ts';
import type { Finding } from '../scrub/finding.ts';
import type { ScrubEngine } from '../scrub/hardened/engine.ts';
import { collectNamed, type NamedText, scanNamed } from '../scrub/leaves.ts';
import type { SearchedOutput } from '../sdk/serve.ts';

/** Longest text, in UTF-16 characters, that is scanned in the main thread: it takes a millisecond or two. */
const INLINE_MAX_CHARS = 32 * 1024;

/**
 * The first scrub pass (docs/scrubbing.md): searches for patterns, reports them and replaces nothing. The first long
 * output starts a worker thread, which scans long outputs so that the other calls of the process continue.
 */
export class FirstPass {
  readonly #engine: ScrubEngine;
  readonly #workerUrl: URL;
  #channel: ScanChannel | null = null;

  /** The program at `workerUrl` calls `answerScans` when it runs in a worker thread. */
  constructor(engine: ScrubEngine, workerUrl: URL) {
    this.#engine = engine;
    this.#workerUrl = workerUrl;
  }

  /**
   * What looks like a secret, for each leaf of {data, streams}; a promise for a long output. Fails with SCRUB_FAILED: without
   * the scan no output leaves the daemon.
   */
  scan({ data, streams }: SearchedOutput): readonly Finding[][] | Promise<readonly Finding[][]> {
    const leaves = collectNamed({ data, streams: streams.map(({ field, text }) => ({ field, text })) });
    const chars = leaves.reduce((sum, { text }) => sum + text.length, 0);
    if (chars <= INLINE_MAX_CHARS) return leaves.map((leaf) => scanNamed(this.#engine, leaf));
    this.#channel ??= this.#startWorker();
    return this.#channel.ask(leaves);
  }

  #startWorker(): ScanChannel {
    const worker = new Worker(this.#workerUrl);
    const channel: ScanChannel = new Channel((id, leaves) => worker.postMessage({ id, leaves } satisfies ScanRequest));
    const end = (cause: unknown): void => {
      if (this.#channel === channel) this.#channel = null;
      channel.close(new ContextdError('SCRUB_FAILED', 'the output could not be searched for secrets', { cause }));
    };
    worker.on('message', ({ id, findings }: ScanAnswer) => channel.resolve(id, findings));
    worker.once('error', end);
    worker.once('exit', () => end(new Error('the scan worker ended')));
    return channel;
  }
}

type ScanChannel = Channel<readonly NamedText[], Finding[][]>;

/** Messages between the two threads of one program. */
interface ScanRequest {
  id: number;
  leaves: readonly NamedText[];
}

interface ScanAnswer {
  id: number;
  findings: Finding[][];
}

/** The worker's side: scans what it receives, one request after the other. */
export function answerScans(engine: ScrubEngine, port: ScanPort): void {
  letOthersGoFirst();
  port.on('message', ({ id, leaves }) => {
    port.postMessage({ id, findings: leaves.map((leaf) => scanNamed(engine, leaf)) });
  });
}

/** The part of a worker's `parentPort` that is used here. */
export interface ScanPort {
  on(event: 'message', listener: (request: ScanRequest) => void): unknown;
  postMessage(answer: ScanAnswer): void;
}
