import { execa } from 'execa';
import type { Timer } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { type GitleaksRun, mayHoldSecret, parseReport, searchFailed, searchOptions, withEmptyLine } from './run.ts';

interface WaitingDeps {
  /** Absolute path of the program. */
  program: string;
  /** For more texts than processes may wait. */
  overFiles: GitleaksRun;
  timer: Timer;
}

/** Runs of gitleaks that begin at once. */
export interface WaitingSearch {
  run: GitleaksRun;
  /** Ends the processes that wait. */
  stop(): void;
}

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
  const take = (): GitleaksProcess => {
    taken += 1;
    for (let process = waiting.pop(); process !== undefined; process = waiting.pop()) if (process.waits) return process;
    return new GitleaksProcess(program);
  };
  let stopped = false;
  return {
    async run(texts, withinMs) {
      const searched = texts.flatMap((text, position) => (mayHoldSecret(text) ? [{ text, position }] : []));
      if (searched.length === 0) return [];
      if (searched.length > WAITING_MAX) return overFiles(texts, withinMs);
      const searches = searched.map((one) => ({ ...one, process: take() }));
      try {
        const found = await Promise.all(
          searches.map(async ({ text, position, process }) =>
            (await process.search(text, withinMs)).map(({ rule, secret }) => ({ position, rule, secret })),
          ),
        );
        return found.flat();
      } catch (thrown) {
        throw searchFailed(thrown);
      } finally {
        for (const { process } of searches) process.end();
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

/** A gitleaks that searches one text. If the daemon dies, its input ends and so does it. */
class GitleaksProcess {
  readonly #controller = new AbortController();
  readonly #process;
  /** False once it has ended. */
  waits = true;

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
    const ended = (): void => {
      this.waits = false;
    };
    this.#process.then(ended, ended);
    this.#process.stdin.on('error', () => {});
  }

  async search(text: string, withinMs: number): Promise<ReturnType<typeof parseReport>> {
    this.#process.stdin.end(withEmptyLine(text));
    const { stdout } = await within(withinMs, this.#process, () => {
      throw Object.assign(new Error('it took too long'), { timedOut: true });
    });
    return parseReport(stdout);
  }

  /** Of one that has ended, nothing. */
  end(): void {
    this.#controller.abort();
  }
}
