import type { HealthCheck } from '../../call/management.ts';
import { readSource, type SourceEnvironment } from '../../config/credential-source.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { MemorySync__Output as MemorySync } from '../../protocol/generated/management.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { Database } from '../../stores/sqlite.ts';
import { maskAlone } from '../shared/kept-text.ts';
import type { Dense } from './dense/dense.ts';
import type { MemoryDraft } from './item.ts';
import { QdrantCollection } from './sync/qdrant.ts';
import { SharedItems } from './sync/shared-items.ts';
import { Syncer } from './sync/syncer.ts';

export interface SharingDeps {
  config: Config['memory']['qdrant'];
  database: Database;
  /** Null: no model is configured. */
  dense: Dense | null;
  environment: SourceEnvironment;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'forget'>;
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

/** Memories that are shared through a Qdrant server, as a person sees it. */
export class Sharing {
  /** Null: no server is configured. */
  readonly syncer: Syncer | null;
  readonly #config: Config['memory']['qdrant'];

  constructor(deps: SharingDeps) {
    this.#config = deps.config;
    const syncer = syncerOf(deps);
    this.syncer = syncer;
    if (deps.dense !== null) deps.dense.onEmbedded = () => syncer?.changed();
  }

  async start(): Promise<void> {
    await this.syncer?.start();
  }

  async stop(): Promise<void> {
    await this.syncer?.stop();
  }

  /** `action`: status, now or rebuild; "" for the root of no project. Throws ARGS_INVALID, UPSTREAM_UNAVAILABLE. */
  async carryOut(root: string, action: string): Promise<MemorySync> {
    if (!['status', 'now', 'rebuild'].includes(action))
      throw new ContextdError('ARGS_INVALID', `not an action: ${JSON.stringify(action.slice(0, 40))}`, {
        remedy: 'Pass status, now or rebuild.',
      });
    if (action === 'now') await this.#configured().now();
    if (action === 'rebuild') await this.#configured().rebuild();
    return this.#state(root);
  }

  /** The line of `ctxd doctor` if a server is configured. */
  async check(): Promise<Omit<HealthCheck, 'name'>> {
    const { state, url, collection, pending, fault } = await this.#state('');
    const changes = pending === 1 ? '1 change waits' : `${pending} changes wait`;
    const waiting = pending === 0 ? 'everything was sent' : `${changes} to be sent`;
    if (state !== 'failing')
      return { status: 'ok', detail: `${url}, collection ${collection}: ${waiting}`, remedy: '' };
    const detail = `${fault}; memories are stored and found on this machine meanwhile, ${waiting}`;
    return { status: 'warn', detail, remedy: 'Check the server and memory.qdrant, then run `ctxd memory sync now`.' };
  }

  async #state(root: string): Promise<MemorySync> {
    const { url, collection, project_ids } = this.#config;
    const off = { state: 'off', url: '', collection: '', pending: 0, foreign: 0, refused: 0, fault: '' };
    if (this.syncer === null || url === null) return { ...off, project_id: '', synced_ms: 0, retry_ms: 0 };
    const { syncedMs, retryMs, fault, state, pending, foreign, refused } = await this.syncer.status();
    return {
      state,
      url,
      collection,
      project_id: project_ids[root] ?? '',
      pending,
      foreign,
      refused,
      synced_ms: syncedMs ?? 0,
      fault: fault ?? '',
      retry_ms: retryMs,
    };
  }

  #configured(): Syncer {
    if (this.syncer !== null) return this.syncer;
    throw new ContextdError('ARGS_INVALID', 'no Qdrant server is configured', {
      remedy: 'Run `ctxd config set memory.qdrant.url https://qdrant.example.com:6333`; docs/qdrant.md has the rest.',
    });
  }
}

function syncerOf(deps: SharingDeps): Syncer | null {
  const { config, database, dense, environment, scrubber, clock, timer, logger } = deps;
  const { url, api_key_file: keyFile, collection, project_ids, timeout_ms, search_timeout_ms, interval_ms } = config;
  if (url === null) return null;
  const projects = new Map(Object.entries(project_ids));
  return new Syncer({
    items: new SharedItems({ database, projects }),
    collection: new QdrantCollection({
      url,
      collection,
      timeoutMs: timeout_ms,
      searchTimeoutMs: search_timeout_ms,
      async apiKey() {
        if (keyFile === null) return null;
        return readSource({ kind: 'file', path: keyFile }, new URL(url).hostname, environment);
      },
    }),
    target: JSON.stringify([url, collection, [...projects].sort()]),
    mask: (root, drafts) => maskDrafts(root, drafts, { scrubber, clock }),
    projects,
    dense,
    intervalMs: interval_ms,
    searchTimeoutMs: search_timeout_ms,
    clock,
    timer,
    random: Math.random,
    logger,
  });
}

/** Masks drafts as what is stored here. */
export function maskDrafts(
  root: string,
  drafts: readonly MemoryDraft[],
  deps: Pick<SharingDeps, 'scrubber' | 'clock'>,
): Promise<MemoryDraft[]> {
  return maskAlone(
    root,
    drafts.map(({ tags, ...draft }) => ({ ...draft, tags: [...tags] })),
    deps,
  );
}
