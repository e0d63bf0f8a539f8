import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Channel } from '../../../core/channel.ts';
import { untilAborted } from '../../../core/deadline.ts';
import { ContextdError } from '../../../core/errors.ts';
import { ownProgram } from '../../../core/own-program.ts';
import { type Embedded, type Embedder, type Purpose, unitVectors } from './embedder.ts';
import { unavailable } from './http-embedder.ts';
import type { LocalReply, LocalRequest } from './local-thread/messages.ts';

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

interface Running {
  readonly thread: Worker;
  readonly channel: Channel<Omit<LocalRequest, 'id'>, LocalReply>;
}

/** An ONNX model in a thread of its own, which starts with the first text. Nothing is downloaded. */
export class LocalEmbedder implements Embedder {
  readonly #model: LocalModel;
  #running: Running | null = null;

  constructor(model: LocalModel) {
    this.#model = model;
  }

  get name(): string {
    return `the model in ${this.#model.folder}`;
  }

  async embed(texts: readonly string[], purpose: Purpose, signal: AbortSignal): Promise<Embedded> {
    const { folder, revision, prefixes } = this.#model;
    const prefixed = texts.map((text) => `${prefixes[purpose]}${text}`);
    const { channel } = this.#start();
    signal.throwIfAborted();
    const reply = await untilAborted(channel.ask({ texts: prefixed, isQuery: purpose === 'query' }), signal);
    if ('fault' in reply) throw await this.#failure(reply);
    const vectors = unitVectors(reply.vectors, texts.length);
    if (typeof vectors === 'string') throw unavailable(vectors);
    return { model: basename(folder), revision: [revision, reply.revision].filter(Boolean).join(' '), vectors };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.thread.terminate();
  }

  #start(): Running {
    if (this.#running !== null) return this.#running;
    const thread = new Worker(ownProgram(new URL('./local-thread/main.js', import.meta.url)), {
      workerData: this.#model.folder,
    });
    const channel: Running['channel'] = new Channel((id, request) =>
      thread.postMessage({ id, ...request } satisfies LocalRequest),
    );
    const running = { thread, channel };
    const end = (why: string): void => {
      if (this.#running === running) this.#running = null;
      channel.close(unavailable(`failed: ${why}`));
    };
    thread.unref();
    thread.on('message', (reply: LocalReply) => channel.resolve(reply.id, reply));
    thread.on('error', (error) => end(error.message));
    thread.on('exit', (code) => end(`its thread ended with ${code}`));
    this.#running = running;
    return running;
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
