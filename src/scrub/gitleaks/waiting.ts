import { randomInt } from 'node:crypto';
import { execa } from 'execa';
import type { Timer } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
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
const SILENT_MAX = 3;

/**
 * Searches with a process that has read its rules and stays: gitleaks takes a hundred times as long to read its rules as to
 * search a short text. It tells whether it finds anything at all. Only if it does, or cannot be asked, the texts are searched by
 * processes of their own, whose reports say what was found. A text that holds nothing goes to no file.
 */
export function createWaitingSearch({ program, overFiles, timer }: WaitingDeps): WaitingSearch {
  let waiting: WaitingGitleaks | null = null;
  /** Processes in a row that were too late with their first answer, as one that prints nothing before its input ends. */
  let silent = 0;
  let forget = (): void => {};

  const end = (): void => {
    waiting?.end();
    waiting = null;
  };
  const areClean = async (texts: readonly string[], withinMs: number): Promise<boolean> => {
    if (silent >= SILENT_MAX) return false;
    if (waiting?.isSpent) end();
    waiting ??= new WaitingGitleaks(program);
    const asked = waiting;
    try {
      const isClean = await within(withinMs, asked.areClean(texts), () => {
        throw new Error('it took too long');
      });
      silent = 0;
      return isClean;
    } catch {
      if (!asked.hasAnswered && !asked.hasEnded) silent += 1;
      if (waiting === asked) end();
      return false;
    } finally {
      forget();
      forget = timer.after(IDLE_MS, end);
    }
  };
  return {
    async run(texts, withinMs) {
      const searched = texts.filter(mayHoldSecret);
      // Of the time, for each of the two ways.
      const halfMs = Math.ceil(withinMs / 2);
      if (searched.length === 0 || (await areClean(searched, halfMs))) return [];
      if (searched.length > PROCESSES_MAX) return overFiles(texts, halfMs);
      try {
        return (await Promise.all(searched.map((text) => searchOnce(program, text, halfMs)))).flat();
      } catch (thrown) {
        throw searchFailed(thrown);
      }
    },
    stop() {
      silent = SILENT_MAX;
      forget();
      end();
    },
  };
}

/** If the daemon dies, the input of the process ends, and so does the process. */
const PROCESS_OPTIONS = { cwd: '/', env: {}, extendEnv: false, stderr: 'ignore' } as const;

async function searchOnce(program: string, text: string, withinMs: number): Promise<Found[]> {
  const options = { ...PROCESS_OPTIONS, input: behindMagicNumbers(text), timeout: withinMs };
  const { stdout } = await execa(program, ['stdin', ...reportOptions('-')], options);
  return parseReport(stdout).map(({ rule, secret }) => ({ rule, secret }));
}

/** More empty lines than the whitespace that a rule allows between a name and its value. */
const BETWEEN_TEXTS = '\n'.repeat(12);
/** Searches after which another process takes over: this one keeps all that it found. */
const SEARCHES_MAX = 1000;

/**
 * A gitleaks that searches one group of texts after the other. It prints a finding when it has searched the piece of its input that
 * holds it, and a piece ends where an empty line ends what could be read. So each group is followed by a mark that a rule finds. The
 * findings of one piece come in any order: once a second mark is found, which was written after the first, all of the group have come.
 */
class WaitingGitleaks {
  readonly #controller = new AbortController();
  readonly #process;
  readonly #ended: Promise<never>;
  #last: Promise<unknown> = Promise.resolve();
  #printed = '';
  #heard = (): void => {};
  #searches = 0;
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
      this.#heard();
    });
  }

  get hasAnswered(): boolean {
    return this.#searches > 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isSpent(): boolean {
    return this.#searches >= SEARCHES_MAX;
  }

  /** Rejects if the process ends. */
  areClean(texts: readonly string[]): Promise<boolean> {
    const done = this.#last.then(() => this.#search(texts));
    this.#last = done.catch(() => {});
    return done;
  }

  async #search(texts: readonly string[]): Promise<boolean> {
    this.#printed = '';
    const [first, second] = [newMark(), newMark()];
    const group = texts.join(BETWEEN_TEXTS) + BETWEEN_TEXTS;
    await this.#find(first, this.#searches === 0 ? behindMagicNumbers(group) : group);
    await this.#find(second, '');
    this.#searches += 1;
    const findings = this.#printed.split(/^Finding: */m).slice(1);
    return findings.every((finding) => [first, second].some((mark) => finding.startsWith(printedOf(mark))));
  }

  async #find(mark: string, before: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#heard = () => {
      if (this.#printed.includes(printedOf(mark))) resolve();
    };
    this.#process.stdin.write(`${before}${mark}\n\n`);
    await Promise.race([promise, this.#ended]);
  }

  end(): void {
    this.#controller.abort();
  }
}

/** How a mark is printed that is all of a match and all of its secret. */
function printedOf(mark: string): string {
  return `${mark}\nSecret:      ${mark}\n`;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** What the rule for keys of AWS finds: 16 characters of base 32, all different, so that their entropy is high. No text can name it before. */
function newMark(): string {
  const left = [...BASE32];
  const drawn = Array.from({ length: 16 }, () => left.splice(randomInt(left.length), 1)[0]);
  return `AKIA${drawn.join('')}`;
}
