import type { Clock } from '../../core/clock.ts';
import type { Answer } from '../contract/messages.ts';
import type { QuarantineReport } from '../contract/quarantine.ts';
import { REPORTED_MAX, type Run, type Runs } from '../index/runs.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import type { Mover } from '../search/mover.ts';
import type { Search } from '../search/search.ts';

/** Milliseconds that a report waits for the search: enough for about 5,000 directories. */
export const FOREGROUND_MS = 20;
/** Minimum number of search steps that a report waits for: on a busy machine the thread may get little time. */
const FOREGROUND_STEPS = 64;
/** Extra milliseconds that a report waits while directories that the run changed, or probably changed, are searched. */
const CHANGED_MS = 60;

interface AwaitedReport {
  readonly run: Run;
  readonly answer: Answer<QuarantineReport>;
  /** Monotonic deadline: the report is sent then even if the search continues. */
  readonly dueAtMs: number;
  /** Search step that it waits for, regardless of the deadline. */
  readonly dueAtStep: number;
}

interface ReportParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  readonly search: Search;
  readonly mover: Mover;
  readonly clock: Clock;
}

/** The reports of ended runs that wait for the search. */
export class Reports {
  readonly #parts: ReportParts;
  readonly #awaited: AwaitedReport[] = [];

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  /** `startedAtMs`: monotonic, since when its caller waits. */
  add(run: Run, answer: Answer<QuarantineReport>, startedAtMs: number): void {
    const dueAtStep = this.#parts.search.steps + FOREGROUND_STEPS;
    this.#awaited.push({ run, answer, dueAtMs: startedAtMs + FOREGROUND_MS, dueAtStep });
  }

  /** Forgets the report of a run, whose caller got an error. */
  drop(run: Run): void {
    const at = this.#awaited.findIndex((report) => report.run === run);
    if (at >= 0) this.#awaited.splice(at, 1);
  }

  /** Answers every report that is due; all of them if the search is done. Returns whether any still wait. */
  answerDue(): boolean {
    if (this.#awaited.length === 0) return false;
    const { search, clock } = this.#parts;
    const { isDone, isSearched, hasChangesLeft, steps } = search;
    const nowMs = clock.monotonic() - (hasChangesLeft ? CHANGED_MS : 0);
    const due = this.#awaited.filter(({ dueAtMs, dueAtStep }) => isDone || (nowMs >= dueAtMs && steps >= dueAtStep));
    for (const report of due) {
      this.#awaited.splice(this.#awaited.indexOf(report), 1);
      this.#answer(report, isSearched);
    }
    return this.#awaited.length > 0;
  }

  #answer({ run, answer }: AwaitedReport, isSearched: boolean): void {
    const { index, runs, mover } = this.#parts;
    const failure = mover.takeFailure();
    if (failure !== null) {
      runs.postpone(run);
      answer.reject(failure);
      return;
    }
    const found = runs.collect(run);
    answer.resolve({
      quarantined: found.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, REPORTED_MAX),
      complete: isSearched && index.isComplete && found.length <= REPORTED_MAX,
    });
  }
}
