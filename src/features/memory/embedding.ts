import type { HealthCheck } from '../../call/management.ts';
import { readSource, type SourceEnvironment } from '../../config/credential-source.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { Database } from '../../stores/sqlite.ts';
import { maskAlone } from '../shared/kept-text.ts';
import { Dense } from './dense/dense.ts';
import type { Embedder } from './dense/embedder.ts';
import { HttpEmbedder } from './dense/http-embedder.ts';
import { LocalEmbedder } from './dense/local-embedder.ts';

export interface EmbeddingDeps {
  config: Config['memory']['embedding'];
  database: Database;
  environment: SourceEnvironment;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'forget'>;
  /** Where contextd is installed. A remedy names it. */
  installRoot: string;
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

/** The model that ranks memories by meaning; null if none is configured. */
export function createDense({
  config,
  database,
  scrubber,
  clock,
  timer,
  logger,
  ...rest
}: EmbeddingDeps): Dense | null {
  const embedder = embedderOf(config, rest);
  if (embedder === null) return null;
  return new Dense({
    database,
    embedder,
    queryTimeoutMs: config.query_timeout_ms,
    timeoutMs: config.timeout_ms,
    mask: async (project, text) => (await maskAlone(project, { text }, { scrubber, clock })).text,
    clock,
    timer,
    random: Math.random,
    logger,
  });
}

/** The line of `ctxd doctor` if a model is configured. It asks the model. */
export async function checkEmbedding(
  dense: Pick<Dense, 'probe' | 'status'>,
  clock: Pick<Clock, 'monotonic'>,
): Promise<Omit<HealthCheck, 'name'>> {
  const began = clock.monotonic();
  const thrown = await dense.probe().catch((error: unknown) => ContextdError.from(error));
  const took = Math.round(clock.monotonic() - began);
  const { name, identity, waiting } = await dense.status();
  if (thrown instanceof ContextdError)
    return {
      status: 'warn',
      detail: `${name}: ${thrown.message}; memories are found by their words meanwhile`,
      remedy: thrown.remedy ?? 'Check memory.embedding and the model.',
    };
  const memories = waiting === 1 ? '1 memory waits' : `${waiting} memories wait`;
  const left = waiting === 0 ? 'every memory has a vector' : `${memories} for a vector`;
  return {
    status: 'ok',
    detail: `${name}: ${identity?.dimension} numbers, answered in ${took} ms, ${left}`,
    remedy: '',
  };
}

function embedderOf(
  {
    provider,
    url,
    model,
    api_key_file: keyFile,
    folder,
    revision,
    query_prefix,
    document_prefix,
  }: EmbeddingDeps['config'],
  { environment, installRoot }: Pick<EmbeddingDeps, 'environment' | 'installRoot'>,
): Embedder | null {
  const prefixes = { query: query_prefix, document: document_prefix };
  if (provider === 'http' && url !== null && model !== null)
    return new HttpEmbedder({
      url,
      model,
      revision,
      prefixes,
      async apiKey() {
        if (keyFile === null) return null;
        return readSource({ kind: 'file', path: keyFile }, new URL(url).hostname, environment);
      },
    });
  if (provider === 'local' && folder !== null) return new LocalEmbedder({ folder, revision, prefixes, installRoot });
  return null;
}
