import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { CallMarks } from './call-marks.ts';
import type { UndoRecord, UndoRecords } from './undo-records.ts';

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface RetentionDeps {
  sandbox: Pick<Sandbox, 'snapshot'>;
  records: UndoRecords;
  marks: CallMarks;
  config: Pick<Config['undo'], 'max_mb' | 'max_age_days'>;
  clock: Clock;
  logger: Logger;
}

/** Deletes what is too old or too much. */
export class Retention {
  readonly #deps: RetentionDeps;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  /** Deletes everything about a project that was unregistered. */
  async forget(project: string): Promise<void> {
    await this.#deps.records.forget(project);
    await this.#deps.marks.forget(project);
    await this.#drop(project);
  }

  /** Deletes old records, and the oldest ones of a project that exceeds its quota. */
  async clean(projects: readonly string[], isUsed: (project: string) => boolean): Promise<void> {
    const { records, marks, config, clock } = this.#deps;
    for (const project of projects) {
      const sinceMs = clock.now() - config.max_age_days * DAY_MS;
      const removed = await records.removeBefore(project, sinceMs);
      await marks.clean(project, sinceMs);
      const left = await records.all(project);
      const trees = await records.trees(project);
      if (isUsed(project)) await this.#shrink(project, left, trees);
      else if (removed > 0 && left.length + trees.length === 0) await this.#drop(project);
    }
  }

  /**
   * Drops the oldest half of the records until the rest fits `undo.max_mb`. If it does not fit without records either,
   * drops everything, unless saved lists are held.
   */
  async #shrink(project: string, all: readonly UndoRecord[], trees: readonly string[]): Promise<void> {
    const { records, sandbox, config, logger } = this.#deps;
    let left = all;
    for (;;) {
      const keep = left.flatMap(({ changes }) => changes.flatMap(({ before, after }) => [before, after].flatMap(idOf)));
      const reply = await sandbox.snapshot(project, { do: 'clean', keep, trees });
      if ((reply?.bytes ?? 0) <= config.max_mb * MIB) return;
      if (left.length === 0) break;
      const newer = left.slice(Math.ceil(left.length / 2));
      await records.removeBefore(project, newer[0]?.atMs ?? Number.POSITIVE_INFINITY);
      left = newer;
    }
    logger.warn('undo.too_large', { project });
    if (trees.length === 0) await this.#drop(project);
  }

  async #drop(project: string): Promise<void> {
    await this.#deps.sandbox.snapshot(project, { do: 'drop' }).catch((cause: unknown) => {
      this.#deps.logger.warn('undo.not_dropped', { project, cause: String(cause) });
    });
  }
}

function idOf(state: string | null): string[] {
  return state === null ? [] : [state.slice(state.indexOf(' ') + 1)];
}
