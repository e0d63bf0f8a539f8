import { execa } from 'execa';
import type { Timer } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import {
  type GitleaksFinding,
  type GitleaksRun,
  isTimeout,
  mayHoldSecret,
  parseReport,
  searchFailed,
  searchOptions,
  withEmptyLine,
} from './run.ts';

interface WaitingDeps {
  /** Absolute path of the program. */
  program: string;
  /** For more texts than processes may wait. */
  overFiles: GitleaksRun;
  timer: Timer;
}

/** Runs of gitleaks that begin at once. */
export interface WaitingSearch {
  /** What it finds in the texts, wherever it is. SCRUB_FAILED as for GitleaksRun. */
  run(texts: readonly string[], withinMs: number): Promise<Found[]>;
  /** Ends the processes that wait. */
  stop(): void;
}

type Found = Pick<GitleaksFinding, 'rule' | 'secret'>;

/** Most processes that wait, 40 MB each. An answer may need one for what it showed early, one for the whole, and one for errors. */
const WAITING_MAX = 3;
/** Milliseconds that a process waits for a text. */
const IDLE_MS = 10 * 60_000;
/** Milliseconds after a search until others begin to wait: the answer leaves first. */
const REFILL_MS = 20;

/**
 * Searches with processes that have read their rules and wait for a text on stdin: gitleaks takes 15 times as long to read
 * its rules as to search a short text. After an answer as many begin to wait as it needed. A text goes to no file.
 */
export function createWaitingSearch({ program, overFiles, timer }: WaitingDeps): WaitingSearch {
  const waiting: GitleaksProcess[] = [];
  /** Since others began to wait. */
  let taken = 0;
  let forget = (): void => {};

  const end = (): void => {
    for (const process of waiting.splice(0)) process.end();
  };
  const later = (ms: number, wake: () => void): void => {
    forget();
    forget = timer.after(ms, wake);
  };
  const refill = (): void => {
    while (waiting.length < Math.min(taken, WAITING_MAX)) waiting.push(new GitleaksProcess(program));
    taken = 0;
    later(IDLE_MS, end);
  };
  /** With one that waits; with a new one if that has ended, of which the daemon may not know yet. */
  const searchOne = async (text: string, withinMs: number): Promise<Found[]> => {
    taken += 1;
    const process = waiting.pop();
    try {
      if (process !== undefined) return await process.search(text, withinMs);
    } catch (thrown) {
      if (isTimeout(thrown)) throw thrown;
    }
    return new GitleaksProcess(program).search(text, withinMs);
  };
  let stopped = false;
  return {
    async run(texts, withinMs) {
      const searched = joinLines(texts.filter(mayHoldSecret));
      if (searched.length === 0) return [];
      if (searched.length > WAITING_MAX) return overFiles(texts, withinMs);
      try {
        const found = (await Promise.all(searched.map(async (text) => searchOne(text, withinMs)))).flat();
        // A rule for several lines may have taken two of them for one secret.
        return found.some(({ secret }) => secret.includes(BETWEEN_LINES)) ? await overFiles(texts, withinMs) : found;
      } catch (thrown) {
        throw searchFailed(thrown);
      } finally {
        if (!stopped) later(REFILL_MS, refill);
      }
    },
    stop() {
      stopped = true;
      forget();
      end();
    },
  };
}

/** More empty lines than the whitespace that a rule allows between a name and its value. */
const BETWEEN_LINES = '\n'.repeat(12);
/** UTF-16 characters of a line that is searched with others. */
const JOINED_MAX_CHARS = 4096;

/** The texts of one line, such as the names of changed files, as one text. No rule for one line matches across the empty lines between them. */
function joinLines(texts: readonly string[]): string[] {
  const isLine = (text: string): boolean => text.length <= JOINED_MAX_CHARS && !/[\n\r]/.test(text);
  const lines = texts.filter(isLine);
  const others = texts.filter((text) => !isLine(text));
  return lines.length === 0 ? others : [...others, lines.join(BETWEEN_LINES)];
}

/** A gitleaks that searches one text. If the daemon dies, its input ends and so does it. */
class GitleaksProcess {
  readonly #controller = new AbortController();
  readonly #process;
  constructor(program: string) {
    this.#process = execa(program, ['stdin', ...searchOptions('-')], {
      cwd: '/',
      env: {},
      extendEnv: false,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
      cancelSignal: this.#controller.signal,
    });
    // It may end before it has a text; a search then sees why.
    this.#process.catch(() => {});
    this.#process.stdin.on('error', () => {});
  }

  async search(text: string, withinMs: number): Promise<Found[]> {
    this.#process.stdin.end(withEmptyLine(text));
    try {
      const { stdout } = await within(withinMs, this.#process, () => {
        throw Object.assign(new Error('it took too long'), { timedOut: true });
      });
      return parseReport(stdout).map(({ rule, secret }) => ({ rule, secret }));
    } finally {
      this.end();
    }
  }

  /** Of one that has ended, nothing. */
  end(): void {
    this.#controller.abort();
  }
}
