import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { countBytes, pruneArtifacts, sweepFiles } from './artifact-prune.ts';
import type { Database } from './sqlite.ts';

export interface PrunerDeps {
  database: Database;
  files: ArtifactFiles;
  limits: { max_age_days: number; max_bytes: number };
  clock: Clock;
  logger: Logger;
}

/** When pruning runs: asked for, or in the background once puts went over the quota; never twice at a time. */
export class ArtifactPruner {
  readonly #deps: PrunerDeps;
  /** What the contents add up to, never less than it is: a deduplicated put counts until the next prune. */
  #totalBytes = 0;
  #pruning: Promise<number> | undefined;
  #makingRoom: Promise<void> | undefined;
  #sweepDue = true;

  constructor(deps: PrunerDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#totalBytes = await countBytes(this.#deps.database);
  }

  async stop(): Promise<void> {
    await this.#makingRoom;
    await this.#pruning?.catch(() => undefined);
  }

  /** A put was committed. */
  add(bytes: number): void {
    this.#totalBytes += bytes;
    if (this.#totalBytes <= this.#deps.limits.max_bytes) return;
    this.#makingRoom ??= this.#makeRoom();
  }

  /** A file may have been published without its row: the next prune looks for it. */
  expectOrphans(): void {
    this.#sweepDue = true;
  }

  prune(): Promise<number> {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = undefined;
    });
    return this.#pruning;
  }

  async #prune(): Promise<number> {
    const { database, files, clock, limits, logger } = this.#deps;
    if (this.#sweepDue) {
      this.#sweepDue = false;
      await sweepFiles(database, files);
    }
    const { max_age_days: maxAgeDays, max_bytes: maxBytes } = limits;
    const removed = await pruneArtifacts({ database, files, nowMs: clock.now(), maxAgeDays, maxBytes });
    this.#totalBytes = await countBytes(database);
    if (removed > 0) logger.info('artifacts.pruned', { removed, bytes: this.#totalBytes });
    return removed;
  }

  /** Again when puts went over the quota meanwhile. */
  async #makeRoom(): Promise<void> {
    try {
      while (this.#totalBytes > this.#deps.limits.max_bytes && (await this.prune()) > 0);
    } catch (error) {
      this.#deps.logger.error('artifacts.prune_failed', {}, error);
    }
    this.#makingRoom = undefined;
  }
}
