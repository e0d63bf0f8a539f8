/**
 * What a shell has as a builtin, a reserved word, a function or an alias of its own, as far as a tool could have the name: the
 * shell runs it instead of a program of this name on PATH. Some run other programs (`jobs -x`, `command`, `exec`, `noglob`).
 * By shell, with the source of each list; a test compares them with the shells of the machine.
 */
const BY_SHELL = {
  // `compgen -b -k` of bash 5.2
  bash: `
    alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs
    disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash
    help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return
    select set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset
    until wait while`,
  // its manual, "Builtins" and "Reserved words", and `type` of dash 0.5.12
  dash: `
    alias bg break case cd chdir command continue do done echo elif else esac eval exec exit export false fg fi
    for getopts hash if in jobs kill local printf pwd read readonly return set shift test then times trap true
    type ulimit umask unalias unset until wait while`,
  // `builtins`, `reswords` and `aliases` of zsh 5.9 with its modules loaded, but for zsh/example
  zsh: `
    alias autoload bg bindkey break builtin bye cap case cd chdir chgrp chmod chown clone command compadd
    comparguments compcall compctl compdescribe compfiles compgroups compquote compset comptags comptry
    compvalues continue coproc declare dirs disable disown do done echo echotc echoti elif else emulate enable
    end esac eval exec exit export false fc fg fi float for foreach function functions getcap getln
    getopts hash history if integer jobs kill let limit ln local log logout mkdir mv nocorrect noglob popd print
    printf private pushd pushln pwd r read readonly rehash repeat return rm rmdir sched select set setcap setopt
    shift source stat strftime suspend sync syserror sysopen sysread sysseek syswrite test then time times trap
    true ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt until vared wait
    whence where which while zcompile zcurses zdelattr zf_chgrp zf_chmod zf_chown zf_ln zf_mkdir zf_mv zf_rm
    zf_rmdir zf_sync zformat zgdbmpath zgetattr zle zlistattr zmodload zparseopts zprof zpty zregexparse zselect
    zsetattr zsocket zstat zstyle zsystem ztcp ztie zuntie`,
  // `builtin -n` of fish 3.6, and the functions that come with it
  fish: `
    abbr alias and argparse begin bg bind block break breakpoint builtin case cd cdh command commandline
    complete contains contains_seq continue count diff dirh dirs disown echo edit_command_buffer else emit end
    eval exec exit export false fg for funced funcsave function functions grep help history if isatty jobs la ll
    ls man math nextd not open or path popd prevd printf prompt_hostname prompt_login prompt_pwd psub pushd pwd
    random read realpath return seq set set_color setenv source status string suspend switch test time trap true
    type ulimit umask vared wait while`,
  // `builtin` and `alias` of ksh93u+m
  ksh: `
    alias autoload basename bg break builtin cat cd command compound continue cp cut dirname disown echo enum
    eval exec exit export false fc fg float functions getconf getopts hash hist integer jobs kill let ln mktemp
    mv nameref print printf pwd read readonly redirect return set shift sleep source stop suspend test times
    trap true type typeset ulimit umask unalias unset wait whence`,
  // the manual of mksh R59, and its aliases
  mksh: `
    alias autoload bg bind break builtin case cat cd command continue do done echo elif else esac eval exec exit
    export false fc fg fi for function functions getopts global hash history if in integer jobs kill let local
    login mknod nameref nohup print printf pwd r read readonly realpath rename return select set shift sleep
    source stop suspend test then time times trap true type typeset ulimit umask unalias unset until wait whence
    while`,
  // `builtins` of tcsh 6.24
  tcsh: `
    alias alloc bg bindkey break breaksw builtins case cd chdir complete continue default dirs echo echotc else
    end endif endsw eval exec exit fg filetest foreach glob goto hashstat history hup if jobs kill limit log
    login logout nice nohup notify onintr popd printenv pushd rehash repeat sched set setenv settc setty shift
    source stop suspend switch telltc termname time umask unalias uncomplete unhash unlimit unset unsetenv wait
    where which while`,
  // aliases in the .bashrc that Debian and Ubuntu give to new accounts
  skel: `
    alert dir egrep fgrep grep l la ll ls vdir`,
} as const;

const WORDS: ReadonlySet<string> = new Set(
  Object.values(BY_SHELL).flatMap((words) => words.split(/\s+/).filter((word) => word !== '')),
);

/** Returns true if a common shell does not look for a program of this name. fish keeps `fish_…` for itself. */
export function isShellWord(name: string): boolean {
  return WORDS.has(name) || name.startsWith('fish_');
}
