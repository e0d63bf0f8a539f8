import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ContextdError } from '../../core/errors.ts';
import { type Embedded, type Embedder, type Purpose, unitVectors } from './embedder.ts';
import { unavailable } from './http-embedder.ts';
import type { LocalReply, LocalRequest } from './local-thread.ts';

export interface LocalModel {
  /** Holds config.json, tokenizer.json and onnx/model.onnx or onnx/model_quantized.onnx. */
  readonly folder: string;
  /** Added to the hash of the model, which makes the revision. */
  readonly revision: string;
  readonly prefixes: Readonly<Record<Purpose, string>>;
  /** Where contextd is installed, for the command that installs the package. */
  readonly installRoot: string;
}

/** The version that was tried. */
const PACKAGE = '@huggingface/transformers@4.3.1';

interface Waiting {
  readonly thread: Worker;
  resolve(reply: LocalReply): void;
  reject(error: Error): void;
}

/** An ONNX model in a thread of its own, which starts with the first text. Nothing is downloaded. */
export class LocalEmbedder implements Embedder {
  readonly #model: LocalModel;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  #last = 0;

  constructor(model: LocalModel) {
    this.#model = model;
  }

  get name(): string {
    return `the model in ${this.#model.folder}`;
  }

  async embed(texts: readonly string[], purpose: Purpose, signal: AbortSignal): Promise<Embedded> {
    const { folder, revision, prefixes } = this.#model;
    const prefixed = texts.map((text) => `${prefixes[purpose]}${text}`);
    const reply = await this.#ask({ texts: prefixed, isQuery: purpose === 'query' }, signal);
    if ('fault' in reply) throw await this.#failure(reply);
    const vectors = unitVectors(reply.vectors, texts.length);
    if (typeof vectors === 'string') throw unavailable(vectors);
    return { model: basename(folder), revision: [revision, reply.revision].filter(Boolean).join(' '), vectors };
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #ask(request: Omit<LocalRequest, 'id'>, signal: AbortSignal): Promise<LocalReply> {
    const thread = this.#running();
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(id);
        reject(signal.reason);
      };
      if (signal.aborted) return end();
      signal.addEventListener('abort', end, { once: true });
      const settled = (): void => signal.removeEventListener('abort', end);
      this.#waiting.set(id, {
        thread,
        resolve(reply) {
          settled();
          resolve(reply);
        },
        reject(error) {
          settled();
          reject(error);
        },
      });
      thread.postMessage({ id, ...request } satisfies LocalRequest);
    });
  }

  #running(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(new URL('./local-thread.js', import.meta.url), { workerData: this.#model.folder });
    thread.unref();
    thread.on('message', (reply: LocalReply) => {
      this.#waiting.get(reply.id)?.resolve(reply);
      this.#waiting.delete(reply.id);
    });
    thread.on('error', (error) => this.#died(thread, error.message));
    thread.on('exit', (code) => this.#died(thread, `its thread ended with ${code}`));
    this.#thread = thread;
    return thread;
  }

  #died(thread: Worker, why: string): void {
    if (this.#thread === thread) this.#thread = null;
    for (const [id, { thread: asked, reject }] of this.#waiting) {
      if (asked !== thread) continue;
      this.#waiting.delete(id);
      reject(unavailable(`failed: ${why}`));
    }
  }

  /** The next text starts the thread again: meanwhile somebody may have installed what is missing. */
  async #failure({ fault, isMissing }: { fault: string; isMissing: boolean }): Promise<ContextdError> {
    await this.stop();
    if (!isMissing) return unavailable(`failed: ${fault.slice(0, 300)}`);
    const { installRoot } = this.#model;
    return new ContextdError(
      'NOT_FOUND',
      `a local embedding model needs the package ${PACKAGE}, which is not installed`,
      {
        remedy: `Run \`ONNXRUNTIME_NODE_INSTALL=skip npm install --no-save --prefix ${installRoot} ${PACKAGE}\`.`,
      },
    );
  }
}
