import { ContextdError, isErrno } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import { textOfAnswer } from '../model-answer.ts';
import { type Embedded, type Embedder, type Purpose, unitVectors } from './embedder.ts';

export interface EmbeddingEndpoint {
  /** The address before `/embeddings`, such as http://127.0.0.1:11434/v1. */
  readonly url: string;
  readonly model: string;
  readonly revision: string;
  /** Put before each text, as some models want it. */
  readonly prefixes: Readonly<Record<Purpose, string>>;
  /** Read at each request. Null: the endpoint asks for none. */
  apiKey(): Promise<string | null>;
}

/** Bytes; a longer answer is refused. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;
/** What a server answers to a text that it does not take. */
const REFUSED: readonly number[] = [400, 413, 422];

/** The body of a request, as OpenAI's interface has it. */
interface EmbeddingRequest {
  readonly model: string;
  readonly encoding_format: 'float';
  readonly input: readonly string[];
}

/** `POST /embeddings` as OpenAI defines it, which Ollama, vLLM, TEI and others serve too. */
export class HttpEmbedder implements Embedder {
  readonly #endpoint: EmbeddingEndpoint;

  constructor(endpoint: EmbeddingEndpoint) {
    this.#endpoint = endpoint;
  }

  get name(): string {
    return `${this.#endpoint.model} at ${this.#endpoint.url}`;
  }

  async embed(texts: readonly string[], purpose: Purpose, signal: AbortSignal): Promise<Embedded> {
    const { model, revision, prefixes } = this.#endpoint;
    const input = texts.map((text) => `${prefixes[purpose]}${text}`);
    const answer = await this.#post({ model, encoding_format: 'float', input }, signal);
    const vectors = unitVectors(embeddingsIn(answer), texts.length);
    if (typeof vectors === 'string') throw unavailable(vectors);
    return { model, revision, vectors };
  }

  async stop(): Promise<void> {}

  async #post(body: EmbeddingRequest, signal: AbortSignal): Promise<unknown> {
    const { url, apiKey } = this.#endpoint;
    const key = await apiKey();
    try {
      const answer = await fetch(`${url.replace(/\/+$/, '')}/embeddings`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
        // The key is for this address only.
        redirect: 'error',
        signal,
      });
      if (answer.ok) return JSON.parse(await textOf(answer));
      await answer.body?.cancel();
      if (!REFUSED.includes(answer.status)) throw unavailable(`answered ${answer.status}`);
      throw new ContextdError('UPSTREAM_ERROR', `the embedding model answered ${answer.status}: it takes no such text`);
    } catch (thrown) {
      if (thrown instanceof ContextdError) throw thrown;
      signal.throwIfAborted();
      throw unavailable(reasonOf(thrown), thrown);
    }
  }
}

/** No address and no text in it: the sentence goes to agents. */
export function unavailable(fault: string, cause?: unknown): ContextdError {
  return new ContextdError('UPSTREAM_UNAVAILABLE', `the embedding model ${fault}`, {
    remedy: 'Check memory.embedding in the configuration and the server; `ctxd doctor` tries it.',
    cause,
  });
}

function textOf(answer: Response): Promise<string> {
  return textOfAnswer(answer, ANSWER_MAX_BYTES, () => unavailable(`answered more than ${ANSWER_MAX_BYTES} bytes`));
}

/** In the order of the texts, whatever the order of the answer. */
function embeddingsIn(answer: unknown): unknown[] {
  const data: unknown = isJsonObject(answer) ? answer.data : undefined;
  if (!Array.isArray(data)) return [];
  const vectors: unknown[] = [];
  data.forEach((one: unknown, place) => {
    const { index, embedding }: { index?: unknown; embedding?: unknown } = isJsonObject(one) ? one : {};
    vectors[typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < data.length ? index : place] =
      embedding;
  });
  return [...vectors];
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return 'answered something that is not JSON';
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (isErrno(cause)) return `cannot be reached (${cause.code})`;
  return `failed: ${(cause instanceof Error ? cause.message : String(thrown)).slice(0, 200)}`;
}
