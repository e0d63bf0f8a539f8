/** Not within a name, a path or an option: `error.ts`, `--error`, `on_error`. */
const WORD = '(?<![\\w./\\\\@$-])';
/** As `WORD`, and not within quotes: what a program's source says, not its output. */
const SPOKEN = '(?<![\\w./\\\\@$"\'`-])';
/** Behind a word in capitals: a label, or the end of a sentence. */
const LABELLED = '(?=[\\s\\]:|!>),]|\\.(?!\\w)|$)';

/** Tests that passed, names of tests that run, echoed commands, source excerpts and stack frames. */
const NO_ERROR = new RegExp(
  [
    '^\\s*(?:[✓✔√]|ok\\b|PASS(?:ED)?\\b|--- (?:PASS|SKIP)|=== (?:RUN|CONT|PAUSE|NAME)|\\[\\s*(?:OK|PASSED|RUN)\\s*\\]|Passed )',
    '(?:\\.\\.\\.|…)\\s*(?:ok|OK|skipped|ignored|pass(?:ed)?)(?:\\s+\\(?[\\d.]{1,12} ?m?s(?:ec)?\\)?)?\\s*$',
    '\\s(?:PASSED|SKIPPED|XFAIL)(?:\\s+\\[\\s*\\d{1,3}%\\])?\\s*$',
    '\\.{3,}\\s+Passed\\b',
    '^(?:[$+] |std(?:out|err) \\| )',
    '^\\s*(?:\\d{1,7}\\s*[|│]|[|│]|at\\s|File ")',
    '^\\s*● Console',
    '^\\[ERROR\\]\\s*$',
    // What grep -rn found in files.
    "^[^\\s:]{1,300}:\\d{1,7}:(?:\\s{2}|\\t|(?!\\s|\\d|in [`']))",
    '^>?\\s*(?:throw|raise) ',
  ].join('|'),
);

/** `0 errors`, `no failures`, `errors: 0`, `"error": null`. */
const NONE =
  /(?<![\w.])(?:0|no|zero|without(?: any)?)\s+(?:[a-z-]{1,20}\s+)?(?:errors?|failures?|failed|failing|fatal|exceptions?|conflicts?|problems?)\b(?!:)|["']?\b(?:errors?|failures?|failed|failing|fail|exceptions?|conflicts?)["']?\s{0,8}[:=]?\s{0,8}(?:0|none|null|nil|false|\[\]|\{\}|"")(?=\s*(?:[,;|)}\]/]|\.(?!\d)|$|\w+\s*[:=]))/gi;

/** What a line says of itself to be less than an error. */
const MILDER_LABEL = new RegExp(
  [
    '(?:^|[\\s\\[(<|:])(?:warn(?:ing)?|info|note|debug|trace|notice|hint|help|remark)(?:\\[[\\w-]{1,40}\\])?(?:\\]|>|:(?=\\s|$))',
    '^\\s*\\d{1,7}:\\d{1,7}\\s+warning\\b',
    '^npm (?:warn|notice|info|verb|sill)\\b',
    '\\blevel"?[=:]\\s?"?(?:warn|info|debug|trace)',
  ].join('|'),
  'i',
);
const MILDER_WORD = /(?:^|\s)(?:WARN(?:ING)?|INFO|DEBUG|TRACE|NOTICE)(?=\s)/;

/** Errors whatever the line says of itself. */
const ALWAYS = /BUILD FAIL(?:URE|ED)|DATA RACE|AddressSanitizer|Tests run:.{0,40}(?:Failures|Errors): [1-9]/;

const COUNTS = [
  '(?<![\\w.:#-])[1-9]\\d{0,8}\\s+(?:[a-z-]{1,20}\\s+){0,2}(?:errors|failures|failed|failing|problems)\\b',
  '(?<![\\w.:#-])1\\s+(?:[a-z-]{1,20}\\s+)?(?:error|failure|problem)\\b(?=\\s*(?:[,.;:)|!(\\]]|$|in\\b|from\\b|was\\b|found\\b|generated\\b|due\\b|and\\b|occurred\\b))',
  `${WORD}(?:errors?|failures?|failed|failing|fail)\\s{0,8}[:=]\\s{0,8}[1-9]`,
  '^[#ℹ]\\s*fail\\s+[1-9]',
];

const LABELS = [
  `${WORD}(?:error|fatal|panic|failure|exception)(?:\\s?\\[[\\w./-]{1,40}\\]|\\s[a-z]{1,6}\\d{1,6})?\\s?:(?![\\w/:]|\\s*(?:unknown|any|Error|string)\\s*[),;|=])`,
  'Failure/Error:',
  '^\\s*error (?:message|trace):',
  '"(?:error|err|exception|fatal)s?"\\s{0,4}:\\s{0,4}(?:"[^"]|[{[](?!\\s{0,4}[}\\]]))',
  '\\blevel"?[=:]\\s?"?(?:error|fatal|critical|panic|[56]0\\b)',
  '^npm (?:err!|error)',
  '^\\s*\\d{1,7}:\\d{1,7}\\s+(?:error|✖)\\s',
  '^CMake Error\\b',
  '^make(?:\\[\\d{1,3}\\])?: \\*\\*\\* ',
];

const FAILED = [
  `${SPOKEN}(?<!\\b(?:if|when|previously|that|which|be) )failed(?=\\s*(?:[.!;:,)…]|$)|\\s+(?:to|with|for|because|after|due|on|at|in|by|while|during)\\b)`,
  `^[^\\w"'\`(<{./-]{0,200}fail(?:ed|ure)?(?=[\\s:!]|$)`,
  '^-{2,3} FAIL:',
  `${SPOKEN}unable to\\b`,
  '\\berrors? occurred\\b',
  'treated as errors',
  '\\.\\.\\. (?:fail(?:ed)?|error)\\b',
];

const REASONS = [
  'command not found',
  ': not found\\b',
  `${SPOKEN}no such [a-z]`,
  '\\b(?:permission|access) denied\\b',
  'operation not permitted',
  'connection (?:refused|reset|timed out)',
  `${SPOKEN}timed out\\b`,
  'segmentation fault',
  'core dumped',
  'bus error',
  'abort trap',
  'illegal instruction',
  'trace/breakpoint trap',
  'out of memory',
  'cannot allocate memory',
  'no space left',
  'undefined (?:reference|symbols?|method|local variable|function|index|array key|name)\\b',
  '\\bundeclared\\b',
  'multiple definition of',
  'unresolved (?:reference|import|external|symbol|dependenc|name)',
  `${SPOKEN}(?:cannot|can't|could not|couldn't) (?:be )?(?:find|found|resolved?|open|read|write|load|access|locate|connect|compile|start|stop|create|remove|determine|parse|import|stat|execute|run|assign|apply|exec|use|stat|lock|redeclare|infer|borrow|move|set|get)\\b`,
  "^(?:[\\w./-]{1,80}: )?(?:cannot|can't|could not|couldn't)\\b",
  `${SPOKEN}(?:unknown|unrecognized|unexpected|unsupported|invalid) (?:option|argument|command|flag|switch|target|subcommand|token|end|eof|identifier|indent|character|syntax|value|reference|type|task|import|operator)`,
  `${SPOKEN}is not (?:defined|recognized|a function|a constructor|a command|iterable|assignable|a git|in std|installed)`,
  `${SPOKEN}does not exist\\b`,
  'unbound variable',
  'missing script',
  '\\bsyntax error\\b',
  `${SPOKEN}unhandled\\b`,
  `${SPOKEN}uncaught\\b`,
  '^\\s*caused by:',
  'panicked at',
  'traceback \\(most recent call last\\)',
  '\\bexit(?:ed|ing)?(?: with)?(?: status| code)+[:=]?\\s{1,4}[1-9]',
  '\\bnon-?zero (?:exit|code|status)',
  '^conflict \\(',
  '! \\[(?:remote )?rejected\\]',
  'build stopped',
  'went wrong',
  '^\\s*not ok \\d',
  'refusing to\\b',
  '^rspec \\./',
  '^\\s*\\+ expected - actual$',
  '^(?:[\\w./-]{1,80}: )?(?:line \\d{1,7}: )?\\d{0,7}\\s*(?:killed|aborted)\\b',
];

/** With their case. */
const CASED = [
  'DATA RACE',
  `(?<![\\w./=-])(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|ERR!|FAIL(?:ED|URES?)?)${LABELLED}`,
  '(?<!\\w)[A-Z]\\w{0,80}(?:Error|Exception|Failure|Fault)(?:\\s\\[\\w{1,60}\\])?:\\s+\\S',
  '(?:^|:\\d{1,7}: )(?:[\\w.$]{1,200}\\.)?[A-Z]\\w{0,80}(?:Error|Exception|Interrupt)\\s*$',
  '\\([A-Z]\\w{0,80}(?:Error|Exception)\\)',
  '^(?:error|fatal)\\s+[A-Z"\'`]',
  '^\\s*[\\w.:]{0,100}[A-Z]\\w{0,80}(?:Error|Exception):$',
  ':\\d{1,7}: Failure$',
  '\\*\\*\\*(?:Failed|Timeout|Exception|Not Run)',
  '^\\s*[✖✗✘✕×❌⨯●]\\s?[^\\s●]',
  '^E {3,}\\S',
  '(?<![\\w.\'"`-])(?:E(?:NOENT|ACCES|PERM|CONN[A-Z]{4,7}|ADDRINUSE|TIMEDOUT|NOSPC|LIFECYCLE)|ERR_[A-Z_]{3,60})\\b',
  '^(?:vet: )?[\\w@.+\\\\/-]{1,300}\\.[A-Za-z]{1,5}:\\d{1,7}:\\d{1,5}:\\s(?!\\s*(?:warning|note|info|remark|debug|hint|style|convention|refactor))\\S',
];

/** Error lines that sum up what stands above them. */
const SUMMARY = new RegExp(
  [
    '^\\s*(?:Tests?|Test Files|Test Suites|test result|Tests run|Errors):?\\s',
    '^[^\\w]*(?:Found )?\\d{1,9} (?:errors?|warnings?|problems?|failed|failing|examples?|tests?|passed)\\b',
    '^(?:make(?:\\[\\d{1,3}\\])?: \\*\\*\\*|ninja: build stopped|npm (?:error|ERR!)|error Command failed|collect2: )',
    '^\\s*(?:ERR_PNPM\\w*|ELIFECYCLE|FAIL(?:ED)?\\s*(?:\\(|$|\\t)|Failed!|BUILD FAIL|Build FAILED|FAILURE: Build failed)',
    '^error: (?:could not compile|test failed|aborting due|process did)',
    '^(?:#\\d{1,5} )?ERROR: (?:failed to solve|process ")',
    '^\\[(?:ERROR|INFO)\\] (?:Failed to execute goal|To see|Re-run|For more|\\[Help|BUILD FAIL|Tests run)',
    '^[#ℹ]\\s*fail\\s',
    '\\bexit(?:ed|ing)?(?: with)?(?: status| code)+[:=]?\\s{1,4}\\d{1,3}\\.?$',
  ].join('|'),
);

const IN_ANY_CASE = new RegExp([...COUNTS, ...LABELS, ...FAILED, ...REASONS].join('|'), 'i');
const IN_THIS_CASE = new RegExp(CASED.join('|'));
const CALLED_ERROR = new RegExp([...COUNTS, ...LABELS, ...FAILED].join('|'), 'i');

/**
 * Returns where a line, as `bodyOf` returns it, reports a failure; -1 if it does not. The line must be of bounded
 * length.
 */
export function errorIn(body: string): number {
  if (NO_ERROR.test(body)) return -1;
  const rest = body.replace(NONE, (none) => ' '.repeat(none.length));
  const at = firstOf(rest.search(IN_ANY_CASE), rest.search(IN_THIS_CASE));
  if (at === -1) return -1;
  const milder = firstOf(rest.search(MILDER_LABEL), rest.search(MILDER_WORD));
  return milder === -1 || milder > at || ALWAYS.test(rest) ? at : -1;
}

/**
 * Whether an error line gives a reason (`… does not exist`) without calling it an error: the program may only be
 * talking.
 */
export function isReasonAlone(body: string): boolean {
  return !CALLED_ERROR.test(body) && !IN_THIS_CASE.test(body);
}

/** Whether an error line only says that, or how often, something failed. */
export function isSummaryLine(body: string): boolean {
  return SUMMARY.test(body);
}

/** Returns the smaller of two places; -1 means no place. */
function firstOf(one: number, other: number): number {
  if (one === -1 || other === -1) return Math.max(one, other);
  return Math.min(one, other);
}
