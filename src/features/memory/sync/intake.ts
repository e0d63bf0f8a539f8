import { createHash } from 'node:crypto';
import type { Clock } from '../../../core/clock.ts';
import { ContextdError } from '../../../core/errors.ts';
import { Lock } from '../../../core/lock.ts';
import type { Logger } from '../../../core/log.ts';
import type { MemoryDraft } from '../item.ts';
import { readPoint, type SharedPoint } from './points.ts';
import type { Cursor, SharedItems } from './shared-items.ts';

/** Memories of one other store, and of all others: anyone with the key can write what they like. */
export const FOREIGN_MAX = { ofOne: 20_000, ofAll: 200_000 } as const;
/** Points that are counted as left out. */
const REFUSED_KEPT = 10_000;

export interface IntakeDeps {
  items: SharedItems;
  /** The name of this store, once it is open. */
  writer(): string;
  /** Configured ids of the shared projects by their roots. */
  projects: ReadonlyMap<string, string>;
  /** Masks what others wrote as what is stored here is masked. In the order of the drafts. */
  mask(root: string, drafts: readonly MemoryDraft[]): Promise<MemoryDraft[]>;
  clock: Clock;
  logger: Logger;
}

/** Decides which memories of others are taken over, and masks them first: anyone with the key can write what they like. */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #pages = new Lock();
  /** What was not taken over, each once, however often it is read. */
  readonly #refused = new Set<string>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  /** Points that could not be read or masked, or were too many, since the start. */
  get refused(): number {
    return this.#refused.size;
  }

  /** Settles when nothing is being taken over; never rejects. */
  get settled(): Promise<unknown> {
    return this.#pages.settled;
  }

  /** One page after another, so that a point is never taken over in two versions at once. */
  accept(payloads: readonly unknown[], cursor: Cursor | null): Promise<void> {
    return this.#pages.run(() => this.#acceptPage(payloads, cursor));
  }

  async #acceptPage(payloads: readonly unknown[], cursor: Cursor | null): Promise<void> {
    const { items } = this.#deps;
    const own = this.#deps.writer();
    const read = payloads.flatMap((payload) => this.#readable(payload));
    const ids = read.map(({ id }) => id);
    const [known, ownIds] = await Promise.all([items.knownVersions(ids), items.ownIds(ids)]);
    const fresh = read.filter(({ id, writer, version, isDeleted }) => {
      const before = known.get(id);
      // Nobody else may change what was made here, or what a third one made.
      if (writer === own || ownIds.has(id) || (before !== undefined && before.writer !== writer)) return false;
      if (before === undefined) return !isDeleted;
      // Nor what a person has made global.
      if (before.isDetached) return false;
      // What a person has forgotten here does not come back.
      return before.version < version && (before.isHere || isDeleted);
    });
    const kept = await this.#withinQuota(fresh, known);
    await items.accept(await this.#masked(kept), cursor);
  }

  async #withinQuota(
    points: readonly SharedPoint[],
    known: ReadonlyMap<string, unknown>,
  ): Promise<readonly SharedPoint[]> {
    if (points.every(({ id }) => known.has(id))) return points;
    const counts = await this.#deps.items.countsByWriter();
    let all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return points.filter((point) => {
      if (known.has(point.id)) return true;
      const ofOne = counts.get(point.writer) ?? 0;
      if (ofOne >= FOREIGN_MAX.ofOne || all >= FOREIGN_MAX.ofAll) {
        this.#refuse(point.id, `there are ${ofOne} memories of its writer here, and ${all} of others`);
        return false;
      }
      counts.set(point.writer, ofOne + 1);
      all += 1;
      return true;
    });
  }

  #readable(payload: unknown): SharedPoint[] {
    try {
      const point = readPoint(payload, this.#deps.clock.now());
      if (point !== null) return [point];
    } catch (thrown) {
      if (!(thrown instanceof ContextdError)) throw thrown;
    }
    this.#refuse(payload, 'it cannot be read');
    return [];
  }

  async #masked(points: readonly SharedPoint[]): Promise<SharedPoint[]> {
    const masked: SharedPoint[] = [];
    for (const [root, project] of this.#deps.projects) {
      const own = points.filter((point) => point.project === project);
      masked.push(...(await this.#maskedIn(root, own)));
    }
    return masked;
  }

  async #maskedIn(root: string, points: readonly SharedPoint[]): Promise<SharedPoint[]> {
    const drafts = points.flatMap((point) => (point.isDeleted ? [] : [point.draft]));
    if (drafts.length === 0) return [...points];
    try {
      const masked = await this.#deps.mask(root, drafts);
      return points.map((point) => (point.isDeleted ? point : { ...point, draft: masked.shift() ?? missing() }));
    } catch (thrown) {
      if (points.length > 1) {
        const one = await Promise.all(points.map((point) => this.#maskedIn(root, [point])));
        return one.flat();
      }
      // What cannot be searched for secrets is not kept.
      this.#refuse(points, thrown instanceof Error ? thrown.message : String(thrown));
      return [];
    }
  }

  #refuse(point: unknown, why: string): void {
    const known = this.#refused.size;
    if (known < REFUSED_KEPT) this.#refused.add(createHash('sha1').update(JSON.stringify(point)).digest('base64'));
    if (this.#refused.size === known) return;
    this.#deps.logger.warn('memory.sync_refused', { why });
  }
}

function missing(): never {
  throw new Error('fewer drafts were masked than given');
}
