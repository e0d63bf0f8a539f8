import { randomInt } from 'node:crypto';
import { execa } from 'execa';
import type { Timer } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import {
  behindMagicNumbers,
  type GitleaksFinding,
  type GitleaksRun,
  mayHoldSecret,
  parseReport,
  reportOptions,
  SEARCH_OPTIONS,
  searchFailed,
} from './run.ts';

interface WaitingDeps {
  /** Absolute path of the program. */
  program: string;
  /** For more texts with findings than processes may run at once. */
  overFiles: GitleaksRun;
  timer: Timer;
}

/** Runs of gitleaks that begin at once. */
export interface WaitingSearch {
  /** What it finds in the texts, wherever it is. SCRUB_FAILED as for GitleaksRun. */
  run(texts: readonly string[], withinMs: number): Promise<Found[]>;
  /** Ends the process that waits. */
  stop(): void;
}

type Found = Pick<GitleaksFinding, 'rule' | 'secret'>;

/** Texts that are searched by a process each; more go to files. */
const PROCESSES_MAX = 3;
/** Milliseconds that a process waits for a text. */
const IDLE_MS = 10 * 60_000;
/** Milliseconds for one search of the process that waits, and for its turn. A text of 64 KiB takes a tenth of it. */
const ASKED_MS = 1000;
/** Processes in a row that were too late with their first answer, after which none is asked for IDLE_MS. */
const SILENT_MAX = 3;

/**
 * Searches with a process that has read its rules and stays: gitleaks takes a hundred times as long to read its rules as to
 * search a short text. It tells whether it finds anything at all. Only if it does, or cannot be asked, the texts are searched by
 * processes of their own, whose reports say what was found. A text that holds nothing goes to no file.
 */
export function createWaitingSearch({ program, overFiles, timer }: WaitingDeps): WaitingSearch {
  let waiting: WaitingGitleaks | null = null;
  let silent = 0;
  let isStopped = false;
  const [idle, pause] = [new Alarm(timer), new Alarm(timer)];

  const end = (): void => {
    waiting?.end();
    waiting = null;
  };
  const areClean = async (texts: readonly string[], withinMs: number): Promise<boolean> => {
    if (silent >= SILENT_MAX) return false;
    idle.cancel();
    if (waiting?.isSpent) {
      waiting.endAfterLast();
      waiting = null;
    }
    waiting ??= new WaitingGitleaks(program);
    const asked = waiting;
    // A new one reads its rules first.
    const limitMs = asked.isReady ? Math.min(ASKED_MS, withinMs) : withinMs;
    const answer = asked.areClean(texts);
    try {
      const isClean = await within(limitMs, answer, () => {
        throw new Error('it took too long');
      });
      silent = 0;
      return isClean;
    } catch {
      // One that searches the text of another call is not at fault.
      if (waiting === asked && (asked.hasEnded || asked.isSearchedNow(answer))) {
        if (!asked.isReady && !asked.hasEnded) silent += 1;
        if (silent === SILENT_MAX) pause.set(IDLE_MS, () => (silent = 0));
        end();
      }
      return false;
    } finally {
      if (!isStopped) idle.set(IDLE_MS, end);
    }
  };
  return {
    async run(texts, withinMs) {
      const searched = texts.filter(mayHoldSecret);
      if (searched.length === 0) return [];
      const startedAt = performance.now();
      try {
        if (await areClean(searched, withinMs / 2)) return [];
        if (isStopped) throw new Error('the daemon stops');
        const leftMs = Math.max(1, Math.ceil(withinMs - (performance.now() - startedAt)));
        if (searched.length > PROCESSES_MAX) return await overFiles(texts, leftMs);
        return (await Promise.all(searched.map((text) => searchOnce(program, text, leftMs)))).flat();
      } catch (thrown) {
        throw thrown instanceof ContextdError ? thrown : searchFailed(thrown);
      }
    },
    stop() {
      isStopped = true;
      idle.cancel();
      pause.cancel();
      end();
    },
  };
}

/** Goes off once, unless it is set again or cancelled before. */
class Alarm {
  readonly #timer: Timer;
  #cancel = (): void => {};

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  set(ms: number, wake: () => void): void {
    this.#cancel();
    this.#cancel = this.#timer.after(ms, wake);
  }

  cancel(): void {
    this.#cancel();
  }
}

/** If the daemon dies, the input of the process ends, and so does the process. */
const PROCESS_OPTIONS = { cwd: '/', env: {}, extendEnv: false, stderr: 'ignore' } as const;

async function searchOnce(program: string, text: string, withinMs: number): Promise<Found[]> {
  const options = { ...PROCESS_OPTIONS, input: behindMagicNumbers(text), timeout: withinMs };
  const { stdout } = await execa(program, ['stdin', ...reportOptions('-')], options);
  return parseReport(stdout).map(({ rule, secret }) => ({ rule, secret }));
}

/**
 * No rule for a name and its value allows this many empty lines. The rule for private keys allows any, so that a key that only begins in one
 * text would take the beginning of a key in the next: here it ends, at the end that the rule looks for.
 */
const BETWEEN_TEXTS = `${'\n'.repeat(76)}KEY-----${'\n'.repeat(12)}`;
/** Characters that a process reads and prints, and findings of one search, after which another process takes over: it keeps what it found. */
const KEPT_MAX_CHARS = 16 * 1024 * 1024;
const FINDINGS_MAX = 100;

/**
 * A gitleaks that searches one group of texts after the other. It prints a finding when it has searched the piece of its input that
 * holds it, and a piece ends where an empty line ends what could be read. So each group is followed by a mark that a rule finds. The
 * findings of one piece come in any order: once a second mark is found, which was written after the first, all of the group have come.
 */
class WaitingGitleaks {
  readonly #controller = new AbortController();
  readonly #process;
  readonly #ended: Promise<never>;
  /** The last answer that was asked for. */
  #last: Promise<unknown>;
  #current: Promise<unknown> | null = null;
  #printed = '';
  #heard = (): void => {};
  #keptChars = 0;
  #isReady = false;
  #hasEnded = false;

  constructor(program: string) {
    this.#process = execa(program, ['stdin', '--verbose', '--no-color', ...SEARCH_OPTIONS], {
      ...PROCESS_OPTIONS,
      stdin: 'pipe',
      stdout: 'pipe',
      buffer: false,
      reject: false,
      cancelSignal: this.#controller.signal,
    });
    this.#ended = this.#process.then(() => {
      this.#hasEnded = true;
      throw new Error('gitleaks has ended');
    });
    this.#ended.catch(() => {});
    this.#process.stdin.on('error', () => {});
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
      this.#keptChars += text.length;
      this.#heard();
    });
    // What it reads first must not be taken for an archive.
    this.#last = this.#find(behindMagicNumbers(''), newMark()).then(() => {
      this.#isReady = true;
    });
    this.#last.catch(() => {});
  }

  /** It has read its rules and answers. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isSpent(): boolean {
    return this.#keptChars > KEPT_MAX_CHARS;
  }

  /** Rejects if the process ends. */
  areClean(texts: readonly string[]): Promise<boolean> {
    const answer: Promise<boolean> = this.#last
      .catch(() => {})
      .then(() => {
        this.#current = answer;
        return this.#search(texts);
      });
    answer.catch(() => {});
    this.#last = answer;
    return answer;
  }

  /** Whether it is at work for this answer, or at its rules and this is one that waits for them. */
  isSearchedNow(answer: Promise<boolean>): boolean {
    return this.#current === answer || !this.#isReady;
  }

  async #search(texts: readonly string[]): Promise<boolean> {
    const [first, second] = [newMark(), newMark()];
    this.#printed = '';
    await this.#find(texts.map((text) => text + BETWEEN_TEXTS).join(''), first);
    await this.#find('', second);
    const findings = this.#printed.split(/^Finding: */m).slice(1);
    if (findings.length > FINDINGS_MAX) this.#keptChars = Number.POSITIVE_INFINITY;
    return findings.every((finding) => [first, second].some((mark) => finding.startsWith(printedOf(mark))));
  }

  async #find(before: string, mark: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wanted = printedOf(mark);
    let searchedTo = 0;
    this.#heard = () => {
      if (this.#printed.indexOf(wanted, searchedTo) !== -1) resolve();
      searchedTo = Math.max(0, this.#printed.length - wanted.length);
    };
    this.#keptChars += before.length;
    this.#process.stdin.write(`${before}${mark}\n\n`);
    await Promise.race([promise, this.#ended]);
  }

  /** Ends it once what was asked for has an answer. */
  endAfterLast(): void {
    this.#last.catch(() => {}).then(() => this.end());
  }

  end(): void {
    this.#controller.abort();
  }
}

/** How a mark is printed that is all of a match and all of its secret. */
function printedOf(mark: string): string {
  return `${mark}\nSecret:      ${mark}\n`;
}

/** Without E, as in `false`, which is no secret to gitleaks wherever it is in a value. */
const BASE32 = 'ABCDFGHIJKLMNOPQRSTUVWXYZ234567';

/** What the rule for keys of AWS finds: 16 characters of base 32, all different, so that their entropy is high. No text can name it before. */
function newMark(): string {
  const left = [...BASE32];
  const drawn = Array.from({ length: 16 }, () => left.splice(randomInt(left.length), 1)[0]);
  return `AKIA${drawn.join('')}`;
}
