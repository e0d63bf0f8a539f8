/**
 * What a shell reports about its script: the statuses of the parts of the last pipeline, because the shell's exit status is that
 * of its last part (decision 0086), and for a client's shell the directory in which it ended. Lines that run after the last
 * command report them. They change neither what the script does and prints, nor its status. `ready-pool.ts` decides which
 * scripts get these lines: those that end in a pipeline, and those of a client's shell.
 */

/** The descriptor on which a waiting shell reads its command, and on which a shell reports. */
export const SCRIPT_FD = 3;

/** Runs in the script's own shell after its last command: PIPESTATUS is known only there. */
const NOTE_STATUSES = `{ contextd_parts="$? \${PIPESTATUS[@]}"; } 2>/dev/null`;

/**
 * Evaluates a shell word, then prints its status and those of the parts. The script does not see the descriptor. Ends with the
 * status of the script, also if that ended before its last line. `2>/dev/null` hides the lines from `set -x`. `before`: commands that
 * run first, each with its `;`.
 */
export function evalAndReport(script: string, before = ''): string {
  const end = `contextd_end() { return "\${contextd_parts%% *}"; }; contextd_end`;
  const directory = `\${contextd_directory+/$(pwd -P)}`;
  const report = `contextd_parts=\${contextd_parts-$?}; printf %s "$contextd_parts${directory}" >&${SCRIPT_FD}; ${end}`;
  return `unset contextd_parts; ${before}{ eval ${script}; } ${SCRIPT_FD}<&-; { ${report}; } 2>/dev/null`;
}

/** The script with a last line for `evalAndReport`. Null if it does not end in a pipeline, or might notice the line. */
export function withStatuses(script: string): string | null {
  return endsInPipeline(script) && !WATCHES.test(script) ? `${script}\n${NOTE_STATUSES}` : null;
}

/** Makes `evalAndReport` report the directory in which the shell ends. `isMerged`: stderr goes into stdout. */
export function reportDirectory(isMerged: boolean): string {
  return `contextd_directory=; ${isMerged ? 'exec 2>&1; ' : ''}`;
}

/** A word of the shell without a newline, so that the script keeps its line numbers. */
export function quoteOnOneLine(text: string): string {
  return `$'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

/** What a shell reported. */
export interface ShellReport {
  /** The statuses of the parts. Empty if there are fewer than two. */
  pipeStatus: number[];
  directory?: string;
}

export function readReport(report: string): ShellReport {
  const slash = report.indexOf('/');
  const [, ...parts] = (slash < 0 ? report : report.slice(0, slash)).split(' ').map(Number);
  const areStatuses = parts.every((one) => Number.isInteger(one) && one >= 0 && one <= 255);
  return {
    pipeStatus: areStatuses && parts.length > 1 ? parts : [],
    ...(slash < 0 ? {} : { directory: report.slice(slash + 1) }),
  };
}

/** What lets a script see each command or line that its shell reads. */
const WATCHES = /\btrap\b|\bextdebug\b|BASH_XTRACEFD|\bset\s+-\w*v|\bverbose\b|contextd_/;

/** A script of plain commands consists of these, so that it is certainly complete: a line behind it is a line of its own. */
const TOKEN =
  /[ \t]+|\\\n|#[^\n]*|(?<operator>\|\||&&|\|&?|;|\n|&(?![>&]))|(?<redirection>\d*(?:<<<|>>|>\||<(?!<)&?|>&?|&>>?))|(?<word>(?:'[^']*'|"(?:\\.|\$\([^()'"`\\]*\)|\$(?!\()|[^"\\`$])*"|\\[^\n]|\$\([^()'"`\\]*\)|\$(?![('])|[^\s|&;<>()'"`\\$#]|(?<=\S)#)+)/sy;
/** Words that open or continue a compound command. */
const COMPOUND = new Set(
  '{ } if then elif else fi for select while until do done case esac function coproc'.split(' '),
);
const BEFORE_COMMAND = new Set(['!', 'time']);

/** False if unsure. */
function endsInPipeline(script: string): boolean {
  let [hasPipe, needsWord, isAtStart, isNewList] = [false, false, true, true];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < script.length) {
    const match = TOKEN.exec(script);
    if (match === null) return false;
    const { operator, word, redirection } = match.groups ?? {};
    if (word !== undefined) {
      if (isAtStart && COMPOUND.has(word)) return false;
      if (isNewList) hasPipe = false;
      [needsWord, isNewList] = [false, false];
      isAtStart = isAtStart && BEFORE_COMMAND.has(word);
    } else if (redirection !== undefined) needsWord = true;
    else if (operator === ';' || operator === '\n') {
      // A line may end behind an operator that joins it to the next one.
      if (needsWord && operator === ';') return false;
      if (!needsWord) [isAtStart, isNewList] = [true, true];
    } else if (operator !== undefined) {
      if (isAtStart || operator === '&') return false;
      [needsWord, isAtStart] = [true, true];
      hasPipe ||= operator === '|' || operator === '|&';
    }
  }
  return hasPipe && !needsWord;
}
