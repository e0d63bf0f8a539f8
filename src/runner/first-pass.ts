import { Worker } from 'node:worker_threads';
import { ContextdError } from '../core/errors.ts';
import type { Finding } from '../scrub/finding.ts';
import type { ScrubEngine } from '../scrub/hardened/engine.ts';
import { collectNamed, type NamedText, scanNamed } from '../scrub/leaves.ts';
import type { SearchedOutput } from '../sdk/serve.ts';

/** Longest text, in UTF-16 characters, that is scanned in the main thread: it takes a millisecond or two. */
const INLINE_MAX_CHARS = 32 * 1024;

/**
 * The first scrub pass (design §3 step 6): searches for patterns, reports them and replaces nothing. The first long
 * output starts a worker thread, which scans long outputs so that the other calls of the process continue.
 */
export class FirstPass {
  readonly #engine: ScrubEngine;
  readonly #workerUrl: URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** The program at `workerUrl` calls `answerScans` when it runs in a worker thread. */
  constructor(engine: ScrubEngine, workerUrl: URL) {
    this.#engine = engine;
    this.#workerUrl = workerUrl;
  }

  /**
   * What looks like a secret, for each leaf of {data, streams}. Throws SCRUB_FAILED: without the scan no output leaves.
   */
  async scan({ data, streams }: SearchedOutput): Promise<readonly Finding[][]> {
    const leaves = collectNamed({ data, streams: streams.map(({ field, text }) => ({ field, text })) });
    const chars = leaves.reduce((sum, { text }) => sum + text.length, 0);
    if (chars <= INLINE_MAX_CHARS) return leaves.map((leaf) => scanNamed(this.#engine, leaf));
    return this.#scanInWorker(leaves);
  }

  #scanInWorker(leaves: readonly NamedText[]): Promise<Finding[][]> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#worker ??= this.#startWorker();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, leaves } satisfies ScanRequest);
    });
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#workerUrl);
    worker.on('message', ({ id, findings }: ScanAnswer) => this.#take(id)?.resolve(findings));
    worker.once('error', (cause) => this.#fail(cause));
    worker.once('exit', () => this.#fail(new Error('the scan worker ended')));
    return worker;
  }

  #fail(cause: unknown): void {
    this.#worker = null;
    const fault = new ContextdError('SCRUB_FAILED', 'the output could not be searched for secrets', { cause });
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(fault);
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}

/** Messages between the two threads of one program. */
interface ScanRequest {
  id: number;
  leaves: readonly NamedText[];
}

interface ScanAnswer {
  id: number;
  findings: Finding[][];
}

interface Waiting {
  resolve(findings: Finding[][]): void;
  reject(fault: ContextdError): void;
}

/** The worker's side: scans what it receives, one request after the other. */
export function answerScans(engine: ScrubEngine, port: ScanPort): void {
  port.on('message', ({ id, leaves }) => {
    port.postMessage({ id, findings: leaves.map((leaf) => scanNamed(engine, leaf)) });
  });
}

/** The part of a worker's `parentPort` that is used here. */
export interface ScanPort {
  on(event: 'message', listener: (request: ScanRequest) => void): unknown;
  postMessage(answer: ScanAnswer): void;
}
