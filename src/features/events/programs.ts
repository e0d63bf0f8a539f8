/**
 * What common programs do, as far as their names tell. No rule can replace this table: that `ls` changes nothing and that
 * `grep` answers with status 1 follows from no text of theirs. A program that is missing here counts as work, so at worst
 * a look is recorded as work.
 */
const PROGRAMS = {
  /** They repair nothing, and with status 1 most of them say that there is nothing to see. */
  look: namesIn(`ls cat head tail less more pwd echo printf wc stat file tree du df find grep egrep fgrep rg ag which whereis
    type command test [ true false : date whoami id env printenv ps pgrep diff cmp sleep cd realpath readlink basename dirname
    sort uniq cut awk sed jq nl od xxd strings man help export set source . exit wait tee`),
  /** Those of them that stand beside others and show nothing of the work. */
  silent: namesIn('cd echo printf true : export set source . exit wait sleep'),
  /** Subcommands of git that only look. */
  gitLook: namesIn('status diff log show blame branch ls-files'),
  /** They run the program named by their next word. */
  wrap: namesIn('sudo time env npx exec nice nohup command'),
} as const;

/** Status 1 of these is an answer, not a failure. */
const ANSWERS_WITH_1 = /^(?:e?grep|rg|git grep|git diff|diff|cmp|test|\[|which|command -v|pgrep)(?:\s|$)/;

function namesIn(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}

/** `subcommand`: the first word behind the program that is not an option. */
export function looksOnly(program: string, subcommand: string): boolean {
  return PROGRAMS.look.has(program) || (program === 'git' && PROGRAMS.gitLook.has(subcommand));
}

export function isSilentProgram(program: string): boolean {
  return PROGRAMS.silent.has(program);
}

export function isWrapper(word: string): boolean {
  return PROGRAMS.wrap.has(word);
}

/** True if status 1 of the command line is an answer. */
export function answersWith1(line: string): boolean {
  return ANSWERS_WITH_1.test(line);
}
