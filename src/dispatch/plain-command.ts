/** One command as a shell reads it without doing anything of its own: a program's bare name and its arguments. */
export type PlainCommand = { program: string; fault: null } | { program: null; fault: string };

const BARE_NAME = /^[A-Za-z0-9][\w.+-]*$/;
/** A stretch of a word that a shell takes as it stands: plain characters, or quotes in which nothing is expanded. */
const PIECE = /[\w./:@%+,=-]+|'[^'\0]*'|"[^"$`\\\0]*"/y;
const BLANKS = /[ \t]+/y;

/** What bash carries out itself, so that no program of that name would run; a keyword or a builtin of it. */
const SHELL_WORDS = new Set(
  `alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do
  done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in
  jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source
  suspend test then time times trap true type typeset ulimit umask unalias unset until wait while`.split(/\s+/),
);

/**
 * Reads a command that may be given a secret. Whatever a shell would act on is a fault: operators, expansions, globs,
 * redirections, assignments, escapes, several lines. Single quotes may hold anything, double quotes no `$`, `` ` `` or
 * `\`.
 */
export function readPlainCommand(command: string): PlainCommand {
  const words = splitWords(command);
  if (typeof words === 'string') return { program: null, fault: words };
  const [program = ''] = words;
  if (!BARE_NAME.test(program)) return { program: null, fault: 'it does not begin with the bare name of a program' };
  if (SHELL_WORDS.has(program)) return { program: null, fault: `${program} is carried out by the shell itself` };
  return { program, fault: null };
}

/** The words with their quotes, or what is wrong. */
function splitWords(command: string): string[] | string {
  const words: string[] = [];
  const text = command.replace(/^[ \t]+|[ \t]+$/g, '');
  let at = 0;
  while (at < text.length) {
    const start = at;
    for (let next = endOf(PIECE, text, at); next > at; next = endOf(PIECE, text, at)) at = next;
    if (at === start) return `a shell acts on what stands at character ${at + 1} of it`;
    words.push(text.slice(start, at));
    const blank = endOf(BLANKS, text, at);
    if (blank === at && at < text.length) return `a shell acts on what stands at character ${at + 1} of it`;
    at = blank;
  }
  return words;
}

/** Where a match that begins at `at` ends; `at` when there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
