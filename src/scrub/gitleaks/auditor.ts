import type { SessionRef } from '../../call/session.ts';
import { untilAborted } from '../../core/deadline.ts';
import type { Logger } from '../../core/log.ts';
import type { IsSecret } from './judged.ts';
import { type GitleaksRun, type MissedSecret, missedSecrets } from './run.ts';

/** One stored output to be searched a second time. */
export interface AuditItem {
  session: SessionRef;
  artifactId: string;
  /** Of the call whose output it is. */
  requestId: string;
  tool: string;
}

export interface AuditorDeps {
  run: GitleaksRun;
  /** The texts of an item that were not searched before; null if it is gone. */
  read(item: AuditItem): Promise<readonly string[] | null>;
  isSecret: IsSecret;
  /** Without what a person declared no secret. */
  secretsAmong(item: AuditItem, missed: readonly MissedSecret[]): readonly MissedSecret[];
  /** Masks what was missed, stores the text again and records it. */
  onMissed(item: AuditItem, missed: readonly MissedSecret[]): Promise<void>;
  /** Resolves after `ms` milliseconds, or at once if the daemon stops. */
  pause(ms: number): Promise<void>;
  logger: Logger;
}

export interface AuditorState {
  /** Outputs that wait. */
  waiting: number;
  searched: number;
  /** Outputs that were left out because too many waited. */
  skipped: number;
  /** Runs of gitleaks that failed. */
  failures: number;
  /** Secrets it found that the engine had missed. */
  missed: number;
  /** Their rules, each once. */
  missedRules: readonly string[];
}

/** Most outputs that may wait; beyond this the newest are skipped and counted. */
const WAITING_MAX = 2000;
/** Outputs and characters per process, because starting one costs more than the search. */
const BATCH_ITEMS = 200;
const BATCH_CHARS = 32 * 1024 * 1024;
/** Milliseconds for collecting a batch. */
const GATHER_MS = 1000;
/** Milliseconds for one process. */
const RUN_MS = 120_000;

/**
 * Runs the real gitleaks over stored outputs in the background. Outputs that wait are lost when the daemon ends, and so
 * are the vaults of its sessions.
 */
export class Auditor {
  readonly #deps: AuditorDeps;
  readonly #queue: AuditItem[] = [];
  readonly #missedRules = new Set<string>();
  readonly #counts = { searched: 0, skipped: 0, failures: 0, missed: 0 };
  #working: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(deps: AuditorDeps) {
    this.#deps = deps;
  }

  state(): AuditorState {
    return { waiting: this.#queue.length, ...this.#counts, missedRules: [...this.#missedRules] };
  }

  submit(item: AuditItem): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#queue.length >= WAITING_MAX) {
      this.#counts.skipped += 1;
      return;
    }
    this.#queue.push(item);
    this.#working ??= this.#work();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#working;
  }

  /** Drops what waits and what a running process may find, and waits for what is being masked. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#queue.length = 0;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#deps.pause(GATHER_MS);
      if (this.#stopping.signal.aborted) break;
      await this.#runBatch().catch((cause: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#counts.failures += 1;
        this.#deps.logger.error('scrub.audit_failed', {}, cause);
      });
    }
    this.#working = undefined;
  }

  async #runBatch(): Promise<void> {
    const texts: string[] = [];
    const owners: AuditItem[] = [];
    let chars = 0;
    for (let taken = 0; taken < BATCH_ITEMS && chars < BATCH_CHARS; taken++) {
      const item = this.#queue.shift();
      if (item === undefined) break;
      const unsearched = (await this.#deps.read(item)) ?? [];
      for (const text of unsearched) {
        owners.push(item);
        texts.push(text);
        chars += text.length;
      }
      if (unsearched.length > 0) this.#counts.searched += 1;
    }
    if (texts.length === 0) return;
    const reported = await untilAborted(this.#deps.run(texts, RUN_MS), this.#stopping.signal);
    const findings = reported.filter((finding) => this.#deps.isSecret(finding, [texts[finding.position] ?? '']));
    for (const item of new Set(owners)) {
      const found = missedSecrets(findings.filter(({ position }) => owners[position] === item));
      const missed = this.#deps.secretsAmong(item, found);
      if (missed.length > 0) await this.#tell(item, missed);
    }
  }

  async #tell(item: AuditItem, missed: readonly MissedSecret[]): Promise<void> {
    this.#counts.missed += missed.length;
    for (const { rule } of missed) this.#missedRules.add(rule);
    await this.#deps.onMissed(item, missed);
  }
}
