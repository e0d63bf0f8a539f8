import { bodyOf } from '../../tokens/views/errors/blocks.ts';
import { errorIn, isSummaryLine } from '../../tokens/views/errors/error-line.ts';

/** How a test runner, a compiler or a build says that it went. Its exit status may be hidden behind `| tail` or `|| true`. */
export interface ReportedResult {
  /** Tests, errors or builds that failed; 0 for a success. */
  readonly failed: number;
  /** Tests that passed; 0 if the output does not say it. */
  readonly passed: number;
  /** The first tests that failed. */
  readonly names: readonly string[];
}

/** UTF-16 units at the end of a text, and of a line, that are read. */
const SEARCHED_CHARS = 64 * 1024;
const LINE_MAX_CHARS = 400;
const NAMES_MAX = 3;
const NAME_MAX_CHARS = 120;

/** A number beside the singular is a code, such as that of HTTP: `error 403`; only one failure is `1 error`. */
const FAILED_COUNT =
  /(?<![\w.%#-])(\d{1,9})\s+(?:[a-z]{1,20}\s+)?(?:failed|failures|failing|errors|errored|broken)\b|(?<![\w.%#-])(1)\s+(?:[a-z]{1,20}\s+)?(?:failure|error)\b|\b(?:failures?|failed|failing|fail|errors)\s*[:=]?\s*(\d{1,9})(?![\w.%])/gi;
const PASSED_COUNT =
  /(?<![\w.%-])(\d{1,9})\s+(?:[a-z]{1,20}\s+)?(?:passed|passing|succeeded)\b|\b(?:passed|passing|pass|succeeded)\s*[:=]?\s*(\d{1,9})(?![\w.%])/gi;
/** What stands beside the counts of a result: a total, skipped tests, or how long it took. */
const BESIDE_COUNTS =
  /\b(?:tests?|examples?|specs?|runs|assertions|suites?|total|skipped|ignored|pending|warnings?|passed|passing)\b|\b\d[\d.]*\s?m?s\b|\bout of \d/i;
/** A success without a count. */
const GREEN = /^(?:OK(?: \(.*\))?|ok\s+\S+\s+(?:[\d.]+s|\(cached\))|BUILD SUCCESS(?:FUL)?\b.*)$/;
/** A compiler's error at its place in a source: `a.c:3:5: error:`, `a.ts(3,5): error TS2304`. */
const LOCATED = /^\S{1,300}(?::\d{1,7}(?::\d{1,7})?:|\(\d{1,7}(?:,\d{1,7})?\):?)\s+(?:fatal )?error\b/i;
/** The last line of a traceback. That a reader such as `head` ended first is no error. */
const EXCEPTION = /^(?!BrokenPipe)(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)(?::|$)/;

const FAILED_TEST = [
  /^(?:FAILED|ERROR)\s+(?<name>\S+::\S+)/,
  /^\s*--- FAIL: (?<name>\S+)/,
  /^(?:FAIL|ERROR): (?<name>\S+ \([\w.]+\))/,
  /^\s*not ok \d+ -? ?(?<name>\S.*)$/,
  /^\s*[✖✗✘✕×] (?<name>\S.*)$/u,
  /^\s*● (?<name>\S.* › \S.*)$/u,
  /^\s*FAIL\s+(?<name>\S+ > \S.*)$/,
  /^\s*(?:test )?(?<name>\S.*?)\s+(?:\.\.\.\s*(?:FAILED|FAIL|ERROR)|FAILED|(?:FAILED|ERROR)\s+\[\s*\d+%\])$/,
  /^rspec (?<name>\.\/\S+)/,
  /^\[\s*FAILED\s*\] (?<name>[\w/]+\.[\w/]+)/,
];

/** Every form above has a letter or a mark, so a line of numbers needs none of them. */
const LETTER_OR_MARK = /[a-z✖✗✘✕×●]/iu;

/**
 * What the texts of a command say of its result, null if they say nothing. A failure is superseded by a later success of at
 * least as many tests, as when a script tries again.
 */
export function reportedResult(texts: readonly string[]): ReportedResult | null {
  const results = texts.map(resultIn).filter((one) => one !== null);
  if (results.length === 0) return null;
  return {
    failed: Math.max(...results.map(({ failed }) => failed)),
    passed: Math.max(...results.map(({ passed }) => passed)),
    names: [...new Set(results.flatMap(({ names }) => names))].slice(0, NAMES_MAX),
  };
}

function resultIn(text: string): ReportedResult | null {
  let [failed, passed, isGreen, isNewFrom] = [0, 0, false, 0];
  const names: string[] = [];
  let last = '';
  for (const line of linesOf(text)) {
    if (line !== '') last = line;
    if (!LETTER_OR_MARK.test(line)) continue;
    const bad = failedIn(line);
    const good = sumOf(line, PASSED_COUNT);
    if (bad > 0) [failed, passed] = [Math.max(failed, bad), Math.max(passed, good)];
    else if (good > 0 || GREEN.test(line)) {
      if (good >= failed + passed) [failed, isNewFrom] = [0, names.length];
      [passed, isGreen] = [Math.max(passed, good), true];
    }
    names.push(...failedTestIn(line));
  }
  if (failed === 0 && EXCEPTION.test(last)) failed = 1;
  if (failed === 0) return isGreen ? { failed, passed, names: [] } : null;
  const since = names.slice(isNewFrom);
  return { failed, passed, names: [...new Set(since.length > 0 ? since : names)].slice(0, NAMES_MAX) };
}

/** The end of a text by lines, without colours. */
function linesOf(text: string): string[] {
  return text
    .slice(-SEARCHED_CHARS)
    .split('\n')
    .map((line) => bodyOf(line.slice(0, LINE_MAX_CHARS)).trimEnd());
}

/** How many failures the line counts; 1 for a line that says so without a number. 0 for a line that sums up nothing. */
function failedIn(line: string): number {
  if (LOCATED.test(line)) return 1;
  const count = sumOf(line, FAILED_COUNT);
  if (isSummaryLine(line) && errorIn(line) !== -1) return Math.max(1, count);
  return BESIDE_COUNTS.test(line) ? count : 0;
}

function sumOf(line: string, counts: RegExp): number {
  // Nearly every line counts nothing, and the search costs a tenth of the iterator.
  if (line.search(counts) === -1) return 0;
  return [...line.matchAll(counts)].reduce(
    (sum, [, ...counts]) => sum + Number(counts.find((count) => count !== undefined)),
    0,
  );
}

/** The test that a line reports as failed: one or none. */
export function failedTestIn(body: string): string[] {
  // A run of blanks would be tried from each of them.
  const line = body
    .slice(0, LINE_MAX_CHARS)
    .trimEnd()
    .replaceAll(/[ \t]{2,}/g, '  ');
  for (const form of FAILED_TEST) {
    const name =
      form
        .exec(line)
        ?.groups?.name?.replace(/\s{1,2}\(?[\d.]{1,12} ?m?s\)?$/, '')
        .trim() ?? '';
    if (/^[^>].*[^:]$/.test(name) && sumOf(name, FAILED_COUNT) === 0) return [name.slice(0, NAME_MAX_CHARS)];
  }
  return [];
}

/** Whether an error line says only which test failed, or how many, and not why. */
export function isResultLine(line: string): boolean {
  return (
    (failedIn(line) > 0 && !LOCATED.test(line)) ||
    (failedTestIn(line).length > 0 && !/^(?!\s*not ok).* - \S/.test(line))
  );
}
